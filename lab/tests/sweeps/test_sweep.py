"""A sweep gives what solves one after the other give, goes on where it was, and tells of faults."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import families
import numpy as np
import pytest

import condal
import condal_lab
from condal.errors import CondalError, FormatError, ProblemError
from condal.io.container.lock import locked
from condal_lab.sweeps import Lines
from condal_lab.sweeps.folder import MANIFEST, TABLE
from condal_lab.sweeps.processes import Processes
from condal_lab.sweeps.workers import Here, Workers, WorkersError

PYTHONPATH = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
SEEDS = {"seed": [0, 1, 2]}
PATH = {"radius": [0.5, 1.0, 2.0, 2.5], "seed": [0, 1]}


def lines(folder):
    return (Path(folder) / TABLE).read_text().splitlines()


def same(first, second):
    """Whether two results are the same to the last bit."""
    points = (np.asarray(condal.dense(one.x)) for one in (first, second))
    tables = [one.history.table[:, :-1] for one in (first, second)]  # but for the seconds
    return (
        np.array_equal(*points)
        and np.array_equal(first.y, second.y)
        and first.certificate == second.certificate
        and np.array_equal(*tables, equal_nan=True)
    )


def alone(seed, radius, start=None):
    problem, options = families.regressions(seed, radius)
    return condal.solve(problem, **options, warm_start=start)


def path_of(seed):
    """The results of a path, each started from the one before."""
    results = [None]
    for radius in PATH["radius"]:
        results.append(alone(seed, radius, results[-1]))
    return results[1:]


@pytest.fixture(scope="module")
def paths():
    return {seed: path_of(seed) for seed in PATH["seed"]}


@pytest.mark.parametrize("workers", [0, 2])
def test_a_sweep_gives_the_bits_of_solves_one_after_the_other(tmp_path, paths, workers):
    grid = {"seed": [0, 1], "radius": [0.5, 2.0]}
    table = condal_lab.sweep(families.regressions, grid, out=tmp_path, workers=workers)
    assert [row.parameters for row in table] == [
        {"seed": seed, "radius": radius} for seed in (0, 1) for radius in (0.5, 2.0)
    ]
    for row in table:
        assert row.solved
        assert row.start is None
        assert same(row.result, alone(**row.parameters))
        assert row.objective == row.result.objective
    chained = condal_lab.sweep(
        families.regressions, PATH, out=tmp_path, along="radius", workers=workers
    )
    for row in chained:
        at = PATH["radius"].index(row.parameters["radius"])
        assert same(row.result, paths[row.parameters["seed"]][at])
        assert (row.start is None) == (at == 0)
    first = [row for row in chained if row.parameters["seed"] == 0]
    assert [row.start for row in first[1:]] == [row.folder.name for row in first[:-1]]
    assert multiprocessing.active_children() == []


def test_what_is_done_is_not_computed_again(tmp_path, monkeypatch):
    first = condal_lab.sweep(families.cuts, SEEDS, out=tmp_path, workers=0)
    written = lines(tmp_path)
    monkeypatch.setattr(families.never, "__qualname__", "cuts")
    again = condal_lab.sweep(families.never, SEEDS, out=tmp_path, workers=0)
    assert again.rows == first.rows
    assert lines(tmp_path) == written
    assert same(again[2].result, first[2].result)


def test_other_options_make_another_point(tmp_path):
    condal_lab.sweep(families.regressions, [{"seed": 0, "radius": 1.0}], out=tmp_path, workers=0)
    for more in ({"tol": 1e-1}, {"seed": 3}, {"max_iters": 50}, {"max_seconds": 60.0}):
        condal_lab.sweep(
            families.regressions, [{"seed": 0, "radius": 1.0}], out=tmp_path, workers=0, **more
        )
    assert len({json.loads(line)["digest"] for line in lines(tmp_path)}) == 5


def test_a_fault_is_told_and_the_others_go_on(tmp_path, capsys):
    grid = [{"seed": seed, "folder": str(tmp_path)} for seed in range(4)]
    table = condal_lab.sweep(families.faulty, grid, out=tmp_path / "out", workers=2, watch=Lines())
    assert [row.status for row in table] == ["solved", "failed", "solved", "failed"]
    assert table[1].error == "RuntimeError: no luck at all"
    assert 'raise RuntimeError("no luck\\nat all")' in table[1].traceback
    assert table[3].error == (
        "2 worker processes died at it, perhaps for lack of memory"
    )  # that of seed 2 died once, and was tried again
    assert [row.parameters["seed"] for row in table.failed] == [1, 3]
    with pytest.raises(CondalError, match=r"the point has no result: RuntimeError: no luck"):
        _ = table[1].result
    said = capsys.readouterr().err
    assert "            RuntimeError: no luck at all\n" in said
    assert all(len(line) <= 80 for line in said.splitlines())
    (tmp_path / "mended-1").touch()
    given = {"out": tmp_path / "out", "workers": 0, "watch": Lines()}
    again = condal_lab.sweep(families.faulty, grid[:3], **given)
    assert [row.status for row in again] == ["solved", "solved", "solved"]
    assert "  2 results were there already" in capsys.readouterr().err
    assert multiprocessing.active_children() == []


def test_a_chain_goes_on_from_the_last_result_before_a_fault(tmp_path, paths):
    radii = [0.5, -1.0, 1.0]
    table = condal_lab.sweep(
        families.regressions,
        {"seed": [0], "radius": radii},
        out=tmp_path,
        along="radius",
        workers=0,
    )
    assert [row.status for row in table] == ["solved", "failed", "solved"]
    assert "radius" in table[1].error
    assert table[2].start == table[0].folder.name
    assert same(table[2].result, paths[0][1])


SWEEPING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import condal, condal_lab, families
if __name__ == "__main__":
    grid = {"radius": [0.5, 1.0, 2.0, 2.5], "seed": [0, 1], "folder": [sys.argv[1]]}
    condal_lab.sweep(families.slow, grid, out=sys.argv[1] + "/out", along="radius", workers=2)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_sweep_that_is_ended_in_the_middle_goes_on(tmp_path, paths, number):
    script, out = tmp_path / "sweeping.py", tmp_path / "out"
    script.write_text(SWEEPING)
    where = {**os.environ, "PYTHONPATH": PYTHONPATH}
    with subprocess.Popen(
        [sys.executable, script, tmp_path], env=where, stderr=subprocess.PIPE, text=True
    ) as process:
        while not (out / TABLE).exists() or len(lines(out)) < 3:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        said = process.communicate(timeout=60)[1]
    assert process.returncode != 0
    assert ("KeyboardInterrupt" in said) == (number == signal.SIGINT)
    done = {json.loads(line)["name"] for line in lines(out)}
    assert 3 <= len(done) < 8
    time.sleep(0.5)  # a worker that were left behind would ask for more
    before = (tmp_path / "asked").read_text().splitlines()
    grid = {**PATH, "folder": [str(tmp_path)]}
    table = condal_lab.sweep(families.slow, grid, out=out, along="radius", workers=0)
    asked = (tmp_path / "asked").read_text().splitlines()[len(before) :]
    assert len(asked) == 8 - len(done)
    for row in table:
        at = PATH["radius"].index(row.parameters["radius"])
        assert same(row.result, paths[row.parameters["seed"]][at])
    assert [file.name for file in out.iterdir() if file.name.startswith(".")] == []
    assert len(list((out / "points").iterdir())) == 8


def test_a_line_that_was_cut_off_is_computed_again(tmp_path):
    first = condal_lab.sweep(families.cuts, SEEDS, out=tmp_path, workers=0)
    path, left = tmp_path / TABLE, tmp_path / "points" / ".condal-0.tmp"
    path.write_bytes(path.read_bytes()[:-10])
    left.mkdir()
    again = condal_lab.sweep(families.cuts, SEEDS, out=tmp_path, workers=0)
    assert [row.objective for row in again] == [row.objective for row in first]
    assert len(lines(tmp_path)) == 3
    assert not left.exists()
    (again[0].folder / "result.json").unlink()
    for other in again[0].folder.iterdir():
        other.unlink()
    again[0].folder.rmdir()
    assert condal_lab.sweep(families.cuts, SEEDS, out=tmp_path, workers=0)[0].solved
    path.write_text("{}\n" + path.read_text())
    with pytest.raises(CondalError, match=r"table\.jsonl, line 1: cannot be read.*delete the line"):
        condal_lab.sweep(families.cuts, SEEDS, out=tmp_path, workers=0)


def test_a_folder_has_one_family_one_version_and_one_sweep_at_a_time(tmp_path):
    condal_lab.sweep(families.cuts, {"seed": [0]}, out=tmp_path, workers=0)
    with pytest.raises(
        CondalError,
        match=r"results of families\.cuts, and this is families\.never; give another",
    ):
        condal_lab.sweep(families.never, {"seed": [0]}, out=tmp_path, workers=0)
    with locked(tmp_path / TABLE), pytest.raises(FormatError, match="is being written by another"):
        condal_lab.sweep(families.cuts, {"seed": [1]}, out=tmp_path, workers=0)
    manifest = tmp_path / MANIFEST
    manifest.write_text(manifest.read_text().replace(condal.__version__, "0.0.9"))
    with pytest.raises(CondalError, match=r"written by condal 0\.0\.9, and this is condal"):
        condal_lab.sweep(families.cuts, {"seed": [0]}, out=tmp_path, workers=0)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(CondalError, match=f"no {MANIFEST}: it is not a condal sweep folder"):
        condal_lab.sweep(families.cuts, {"seed": [0]}, out=tmp_path / "mine", workers=0)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("family", "points", "more", "said"),
    [
        (families.cuts, [], {}, "there are no points; wanted a dict of lists"),
        (families.cuts, {"seed": []}, {}, "there are no points"),
        (families.cuts, {"seed": 3}, {}, "'seed' must have a list of values; got 3"),
        (families.cuts, {"seed": "abc"}, {}, "'seed' must have a list of values; got 'abc'"),
        (families.cuts, 7, {}, "wanted a dict of lists of values.*; got 7"),
        (families.cuts, [3], {}, "a list of dicts of values.*; got 3 in it"),
        (families.cuts, {"seed": [1, 1]}, {}, "a point is given twice: seed=1"),
        (families.cuts, {"seed": [np.eye(2)]}, {}, "parameters must be values of JSON"),
        (families.cuts, SEEDS, {"along": "tol"}, "along must be one of the parameters, seed; got"),
        (families.cuts, SEEDS, {"workers": -1}, "workers takes a number of processes.*got -1"),
        (families.cuts, SEEDS, {"workers": "two"}, "tcp://host:8786; got 'two'"),
        (families.cuts, SEEDS, {"workers": True}, "workers takes .*got True"),
        (families.cuts, SEEDS, {"tol": -1.0}, "tol must be a positive number"),
        (families.cuts, SEEDS, {"seed": -1}, "seed must be"),
        (3, SEEDS, {}, "family takes a function that makes a problem; got 3"),
        (lambda seed: families.cuts(seed), SEEDS, {}, "by its name, and .*lambda.* has none: pass"),
        (partial(families.cuts, tol=0.1), SEEDS, {}, "by its name.* has none: pass name="),
    ],
)
def test_what_makes_no_sweep_is_refused(tmp_path, family, points, more, said):
    given = {"workers": 0, **more}
    with pytest.raises(ProblemError, match=said):
        condal_lab.sweep(family, points, out=tmp_path / "out", **given)
    assert not (tmp_path / "out").exists()


def test_a_family_that_cannot_be_sent_is_refused(tmp_path):
    def here(seed):
        return families.cuts(seed)

    with pytest.raises(WorkersError, match=r"cannot be sent to a worker .*a module.*workers=0"):
        condal_lab.sweep(here, SEEDS, out=tmp_path, workers=1)
    assert condal_lab.sweep(here, {"seed": [0]}, out=tmp_path, workers=0)[0].solved
    named = partial(families.cuts, tol=0.1)
    assert condal_lab.sweep(named, {"seed": [0]}, out=tmp_path / "2", workers=0, name="mine")[
        0
    ].solved


def test_a_script_without_a_guard_is_told_of_it(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(
        "import condal, condal_lab, families\n"
        "condal_lab.sweep(families.cuts, {'seed': [0]}, out='out', workers=1)\n"
    )
    ended = subprocess.run(
        [sys.executable, script],
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    last = ended.stderr.strip().splitlines()[-1]
    assert "a worker process ended before it began" in last
    assert 'if __name__ == "__main__":' in last


@pytest.mark.parametrize("workers", [0, 2])
def test_a_family_may_stop_its_solves_itself(tmp_path, workers):
    table = condal_lab.sweep(families.stopped, SEEDS, out=tmp_path, workers=workers)
    assert table["status"] == ["interrupted"] * 3
    assert table["iterations"] == [3] * 3
    written = lines(tmp_path)
    condal_lab.sweep(families.stopped, SEEDS, out=tmp_path, workers=0)
    assert lines(tmp_path) == written  # that was asked for, and is done


def test_a_result_of_which_a_part_is_left_is_computed_again(tmp_path):
    first = condal_lab.sweep(families.cuts, SEEDS, out=tmp_path, workers=0)
    (first[1].folder / "result.json").unlink()
    again = condal_lab.sweep(families.cuts, SEEDS, out=tmp_path, workers=0)
    assert len(lines(tmp_path)) == 4
    assert same(again[1].result, alone_cut(1))


def alone_cut(seed):
    problem, options = families.cuts(seed)
    return condal.solve(problem, **options)


def test_what_cannot_be_written_down_is_refused_before_it_is_solved(tmp_path):
    table = condal_lab.sweep(families.unspelt, SEEDS, out=tmp_path, workers=0)
    assert all("the option method" in row.error for row in table)


def test_a_sweep_that_was_killed_in_its_first_write_can_begin(tmp_path):
    (tmp_path / ".condal-abc.tmp").write_text("{")
    assert condal_lab.sweep(families.cuts, SEEDS, out=tmp_path, workers=0)[0].solved


class Slow(Here):
    """One worker, and how much waits for it at most."""

    most = 0

    def submit(self, work, *arguments):
        future = super().submit(work, *arguments)
        self.most = max(self.most, len(self._waiting))
        return future


def test_few_results_to_start_from_are_held_at_once(tmp_path, monkeypatch):
    slow = Slow()
    monkeypatch.setattr(Workers, "of", lambda given: slow)
    grid = {"seed": list(range(12)), "radius": [0.5, 1.0]}
    table = condal_lab.sweep(families.regressions, grid, out=tmp_path, along="radius")
    assert all(row.solved for row in table)
    assert slow.most <= 2


def test_a_worker_that_dies_of_nothing_to_do_is_no_fault_of_the_next_work():
    with Processes(1) as workers:
        assert _done(workers, os.getpid) != os.getpid()
        for _ in range(3):
            (worker,) = workers._workers
            worker.process.kill()
            worker.process.join()
            assert _done(workers, abs, -2) == 2


def _done(workers, *work):
    future = workers.submit(*work)
    assert workers.next_done() is future
    return future.result()
