"""The commands that docs/distributed.md shows run as they stand."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import ranks

from condal.formats import convert_graph
from pages import ROOT, steps

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
    assert commands("condal") == [["condal", "convert", "BIG.mtx", "BIG.shards"]]
    convert_graph("BIG.mtx", "BIG.shards")
    masks, u = rng.standard_normal((5, 6, 6)), rng.standard_normal((6, 6))
    np.savez("measured.npz", b=np.abs(np.fft.fft2(masks * u, norm="ortho")) ** 2, masks=masks)
    shown = commands("mpirun")
    assert [words[4] for words in shown] == ["solve", "resume"] * 2
    for words in shown:
        assert words[:2] == ["mpirun", "-n"]
        ended = ranks.run(int(words[2]), "-m", *words[3:])
        assert ended.returncode == 0, ended.stderr
        assert "SOLVED" in ended.stdout or "solved" in ended.stdout
    # On a cluster they are the same, but for what starts them.
    assert [words[:3] for words in commands("srun")] == [["srun", "-K", "-n"]] * 2
    same = [words[4:] for words in commands("srun")]
    assert same == [words[3:] for words in commands("mpirun")][:2]


def test_the_packages_of_the_page_are_those_that_the_tests_install():
    page, makefile = ((ROOT / name).read_text() for name in (PAGE, "Makefile"))
    line = next(one for one in makefile.splitlines() if one.startswith("DEBIAN_MPI := "))
    assert f"apt-get install {line.removeprefix('DEBIAN_MPI := ')}\n" in page
