"""The commands that docs/distributed.md shows run as they stand."""

import shlex
from pathlib import Path

import numpy as np
import pytest
import ranks

from condal.formats import read_graph
from condal_mpi import convert_graph
from pages import ROOT, fences, steps

pytestmark = ranks.needed

PAGE = "docs/distributed.md"


def commands(program: str) -> list[list[str]]:
    lines = [line for step in steps(PAGE) if step.language == "sh" for line in step.commands]
    return [words for words in map(shlex.split, lines) if words[0] == program]


def test_the_commands_of_the_page_solve_and_go_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    pairs = {(max(i, j), min(i, j)) for i, j in rng.integers(1, 61, (150, 2)).tolist() if i != j}
    banner = f"%%MatrixMarket matrix coordinate pattern symmetric\n60 60 {len(pairs)}\n"
    Path("BIG.mtx").write_text(banner + "".join(f"{i} {j}\n" for i, j in sorted(pairs)))
    first, ordered = commands("condal")
    assert first == ["condal", "convert", "BIG.mtx", "BIG.shards"]
    convert_graph("BIG.mtx", "BIG.shards")
    assert ordered == ["condal", "convert", "BIG.shards", "BIG.rcm", "--order", "rcm"]
    convert_graph("BIG.shards", "BIG.rcm", order="rcm")
    masks, u = rng.standard_normal((5, 6, 6)), rng.standard_normal((6, 6))
    np.savez("measured.npz", b=np.abs(np.fft.fft2(masks * u, norm="ortho")) ** 2, masks=masks)
    *shown, partitioned = commands("mpirun")
    assert [words[4] for words in shown] == ["solve", "resume"] * 2
    for words in shown:
        assert words[:2] == ["mpirun", "-n"]
        ended = ranks.run(int(words[2]), "-m", *words[3:])
        assert ended.returncode == 0, ended.stderr
        assert "SOLVED" in ended.stdout or "solved" in ended.stdout
    assert partitioned[4:] == ["convert", "BIG.shards", "BIG.parts", "--order", "partition"]
    ended = ranks.run(int(partitioned[2]), "-m", *partitioned[3:])
    assert ended.returncode == 0, ended.stderr
    W = read_graph("BIG.mtx")
    assert all((read_graph(name) != W).nnz == 0 for name in ("BIG.parts", "BIG.rcm"))
    # On a cluster they are the same, but for what starts them.
    assert [words[:3] for words in commands("srun")] == [["srun", "-K", "-n"]] * 2
    same = [words[4:] for words in commands("srun")]
    assert same == [words[3:] for words in shown][:2]


@pytest.mark.parametrize("count", [1, 3])
def test_the_script_of_sparse_constraints_solves_its_program(count, tmp_path, monkeypatch):
    """The signs + + - - + + - - ... keep all constraints, and their objective is -40."""
    monkeypatch.chdir(tmp_path)
    (script,) = (fence.text for fence in fences(PAGE) if "sparse_program" in fence.text)
    Path("ring.py").write_text(script)
    ended = ranks.run(count, "ring.py")
    assert ended.returncode == 0, ended.stderr
    status, objective, bound = ended.stdout.split()
    assert status == "SOLVED"
    assert -40.0 * (1 + 2e-2) <= float(bound) <= -40.0
    assert float(objective) == pytest.approx(-40.0, rel=2e-2)
    assert Path("run", "manifest").exists()


def test_the_packages_of_the_page_are_those_that_the_tests_install():
    page, makefile = ((ROOT / name).read_text() for name in (PAGE, "Makefile"))
    line = next(one for one in makefile.splitlines() if one.startswith("DEBIAN_MPI := "))
    assert f"apt-get install {line.removeprefix('DEBIAN_MPI := ')}\n" in page
