"""condal solve --checkpoint, condal resume and --max-memory, as they are typed."""

import json
import re
import signal
from pathlib import Path

import numpy as np
import pytest

import condal
from commands import FILES, PENTAGON, refused, run, solved
from condal.io.checkpoint.file import read, write
from condal.io.formats import write_rudy
from condal.problems import max_cut
from known import random_graph


@pytest.fixture(autouse=True)
def _files(folder):
    write_rudy("graph.txt", random_graph(50, 5))
    Path("pentagon.txt").write_text(PENTAGON)


def record(path):
    found = json.loads(Path(path).read_text())
    return {key: value for key, value in found.items() if key != "seconds"}


SOLVE = "solve graph.txt --as max-cut --checkpoint"
METHOD = ("--method", "cgal", "--tol", "1e-2")  # in some 80 iterations


def test_a_solve_that_is_stopped_is_resumed_to_the_same_answer():
    whole = run("solve", "graph.txt", "--as", "max-cut", *METHOD, "--json", "a.json")
    assert whole.exit_code == 0
    part = run(
        *("solve", "graph.txt", "--as", "max-cut", *METHOD, "--max-iters", "9"),
        *("--checkpoint", "run.checkpoint"),
    )
    assert part.exit_code == 1
    assert "To resume:\n\n  condal resume run.checkpoint graph.txt\n" in part.stdout
    again = run("resume", "run.checkpoint", "graph.txt", "--json", "b.json", "--out", "b.txt")
    assert again.exit_code == 0
    assert "To resume" not in again.stdout
    assert record("a.json") == record("b.json")
    assert len(Path("b.txt").read_text().split()) == 50


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_solve_and_leaves_its_checkpoint(number, monkeypatch):
    """In the midst of an iteration: the one before it is kept."""
    true, calls = condal.Spectrahedron.lmo, []

    def lmo(*arguments, **options):
        calls.append(1)
        if len(calls) == 9:
            signal.raise_signal(number)
        return true(*arguments, **options)

    monkeypatch.setattr(condal.Spectrahedron, "lmo", lmo)
    words = ("solve", "graph.txt", "--as", "max-cut", *METHOD)
    part = run(*words, "--checkpoint", "c", "--json", "a.json")
    assert part.exit_code == 1
    assert "interrupted; the values below are proved for the point reached" in part.stdout
    assert "Ctrl-C again aborts" in part.stderr
    assert record("a.json")["status"] == "interrupted"
    assert "condal resume c graph.txt" in part.stdout
    assert run("resume", "c", "graph.txt", "--json", "b.json").exit_code == 0
    run(*words, "--json", "whole.json")
    assert record("b.json") == record("whole.json")


def test_coded_diffraction_is_resumed_with_the_scale_of_its_pixels():
    """A trace that is given leaves out the scale: it must not stand for the one that was chosen."""
    rng = np.random.default_rng(1)
    u, masks = rng.standard_normal((4, 4)), rng.standard_normal((9, 4, 4))
    np.savez("masks.npz", b=np.abs(np.fft.fft2(masks * u, norm="ortho")) ** 2, masks=masks)
    words = ("masks.npz", "--as", "phase-retrieval")
    run("solve", *words, "--max-iters", "1", "--checkpoint", "c")
    assert run("resume", "c", "masks.npz", "--json", "b.json", "--save", "kept").exit_code == 0
    run("solve", *words, "--json", "whole.json")
    assert record("b.json") == record("whole.json")
    assert run("certify", "masks.npz", "kept").exit_code == 0


def test_a_saved_result_of_a_resumed_solve_is_certified():
    run("solve", "graph.txt", "--as", "max-cut", "--max-iters", "1", "--checkpoint", "c")
    assert run("resume", "c", "graph.txt", "--tol", "1e-4", "--save", "kept").exit_code == 0
    assert run("certify", "graph.txt", "kept").exit_code == 0
    settings = json.loads(Path("kept/result.json").read_text())["settings"]
    assert settings["tol"] == 1e-4


def test_a_resumed_solve_aims_at_its_new_tol_and_keeps_it():
    words = ("solve", "graph.txt", "--as", "max-cut", "--tol", "1e-2")
    run(*words, "--max-iters", "1", "--checkpoint", "c")
    run("resume", "c", "graph.txt", "--tol", "1e-5", "--max-iters", "1")
    assert read("c").value["tried"][0].method == condal.methods.LowRankCGAL(aim=1e-5)
    assert run("resume", "c", "graph.txt", "--save", "kept").exit_code == 0
    saved = condal.load("kept")
    assert saved.result.gap <= 1e-5
    assert saved.result.tol == saved.settings["tol"] == 1e-5


@pytest.mark.parametrize("name", FILES)
def test_every_application_is_resumed_with_its_own_options(name):
    solved(name, "--tol", "1e-5", "--json", "whole.json")
    solved(name, "--tol", "1e-5", "--max-iters", "2", "--checkpoint", "c", code=None)
    assert Path("c").exists()
    assert run("resume", "c", f"{name}.txt", "--json", "parts.json").exit_code == 0
    assert record("parts.json") == record("whole.json")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("resume c pentagon.txt", "resume with the data of the checkpoint, or solve again"),
        ("resume c pentagon.txt", r"it is for .*n = 50.* and this is .*n = 5,"),
        ("resume graph.txt graph.txt", "not a condal checkpoint"),
        ("resume graph.txt c", "the checkpoint comes first: condal resume FILE PROBLEM"),
        ("resume none graph.txt", "there is no such file"),
        ("resume folder graph.txt", "folder: is a folder without a manifest, not a checkpoint"),
        ("resume c graph.txt --json c", "is the checkpoint; give"),
        ("resume c graph.txt --out c", "is the checkpoint; give"),
        (f"{SOLVE} c", "exists already and is not overwritten: resume it with"),
        (f"{SOLVE} d --json d", "is the --checkpoint file; give"),
        (f"{SOLVE} d --out d", "is the --checkpoint file; give"),
        (f"{SOLVE} graph.txt", "is the file itself; give --checkpoint another path"),
    ],
)
def test_what_is_refused(arguments, text):
    run(*SOLVE.split(), "c", "--max-iters", "1")
    Path("folder").mkdir()
    assert re.search(text, refused(*arguments.split()))


def test_one_that_python_wrote_is_sent_to_python():
    model = max_cut(random_graph(50, 5))
    condal.solve(model, condal.CGAL(), max_iters=2, checkpoint="c")
    text = refused("resume", "c", "graph.txt")
    assert "resume it in Python, with condal.resume" in text


def test_a_damaged_one_does_not_take_the_place_of_the_one_before():
    words = ("--as", "max-cut", "--method", "cgal", "--tol", "1e-9")
    run("solve", "graph.txt", *words, "--max-iters", "3", "--checkpoint", "c")
    run("resume", "c", "graph.txt", "--max-iters", "2")
    assert Path("c.previous").exists()
    Path("c").write_bytes(Path("c").read_bytes()[:-1])
    ended = run("resume", "c", "graph.txt", "--max-iters", "2")
    assert "the checkpoint before it, was read instead" in ended.stderr
    Path("c").unlink()
    assert run("resume", "c", "graph.txt", "--max-iters", "2").exit_code == 1
    assert Path("c.damaged").exists()


def test_an_application_that_no_condal_knows_is_refused():
    run(*SOLVE.split(), "c", "--max-iters", "1")
    contents = read("c")
    contents.about["options"]["solve"]["application"] = "knapsack"
    write("c", contents.about, contents.value)
    text = refused("resume", "c", "graph.txt")
    assert "belongs to an application 'knapsack' that this condal does not know" in text


def test_memory_that_is_too_little_is_refused():
    text = refused("solve", "graph.txt", "--as", "max-cut", "--max-memory", "1kB")
    assert re.search(r"this needs [0-9.,]+ MB of memory with", text)
    assert "max_memory is 0.00 MB: raise max_memory" in text
    assert run("solve", "graph.txt", "--as", "max-cut", "--max-memory", "1 GB").exit_code == 0
    text = refused("solve", "graph.txt", "--as", "max-cut", "--max-memory", "much")
    assert "--max-memory must be a number of bytes, or a text such as '4 GB'" in text
