"""condal certify of files that other solvers wrote: proved or refuted, and what is missing."""

import lzma
import shutil
import subprocess
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import condal
from commands import PROGRAM, refused, run
from known import DATA, needs_data

ROOT = 2**0.5
CSDP = f"{ROOT / 2 + 1e-9} {ROOT / 4 + 1e-9}\n2 1 1 1 1\n2 1 1 2 1.4142\n2 1 2 2 2\n2 2 1 1 1e-9\n"
SDPA_RESULT = (
    f"SDPA start\nxVec = \n{{{ROOT / 2 + 1e-9},{ROOT / 4 + 1e-9}}}\nxMat = \nyMat = \n"
    "{\n{ {1,1.4142},{1.4142,2} }\n{0}\n}\n    main loop time = 0.0\n"
)
SDPLR = (
    f"dual variable 2\n{-ROOT / 2}\n{-ROOT / 4}\nprimal variable 1 s 2 2 1\n1\n{ROOT}\n"
    "primal variable 2 d 1 1 1\n0\nspecial majiter 3\n"
)


@pytest.fixture(autouse=True)
def _program(folder):
    Path("small.dat-s").write_text(PROGRAM)


def checked(*arguments, code=0):
    ended = run("certify", *arguments)
    assert ended.exit_code == code, ended.output
    assert all(len(row) <= 80 for row in ended.stdout.splitlines())
    return " ".join(ended.stdout.split())


@pytest.mark.parametrize(
    ("contents", "writer"), [(CSDP, "CSDP or DSDP"), (SDPA_RESULT, "SDPA"), (SDPLR, "SDPLR")]
)
def test_solutions_of_every_program_are_proved(contents, writer):
    Path("answer").write_text(contents)
    text = checked("small.dat-s", "answer", "--tol", "1e-4")
    assert text.startswith(f"sdp of small.dat-s, answered by answer ({writer})")
    assert "Proved, without assumptions: the maximum is at most 1.4142" in text
    assert "within tol" in text
    assert checked("sdp.txt", "answer", "--as", "sdp", "--quiet") == ""  # by another name


def test_a_solution_that_is_off_is_not_proved():
    Path("answer").write_text(CSDP.replace("1.4142", "1.2"))
    text = checked("small.dat-s", "answer", code=1)
    assert "tol 0.001 NOT PROVED: a gap of 0.179 is not within tol 0.001" in text
    assert "Not proved to within tol 0.001: a gap of 0.179 is too large. Proved, without" in text
    Path("answer").write_text(CSDP.replace("2 1 2 2 2", "2 1 2 2 2.2"))
    text = checked("small.dat-s", "answer", "--tol", "0.05", code=1)
    assert "NOT PROVED: an infeasibility of 0.0894 is not within tol 0.05" in text


def test_what_is_missing_is_named():
    np.savez("answer.npz", X1=np.eye(2), X2=np.ones(1))
    text = checked("small.dat-s", "answer.npz", code=1)
    assert "no bound is proved; missing: a dual y" in text.replace("No", "no")
    free = "1\n1\n2\n1\n0 1 1 2 0.5\n0 1 2 2 -1\n1 1 1 1 1\n"  # no row bounds the trace
    Path("free.dat-s").write_text(free)
    np.savez("answer.npz", X=np.array([[1.0, 0.5], [0.5, 0.25]]), z=np.array([0.25 - 1e-5]))
    text = checked("free.dat-s", "answer.npz", "--assume-trace", "3")
    assert "Proved, for points within the given trace bound 3: the maximum is at most 0.25" in text


def test_a_proof_that_takes_too_long_is_not_given():
    Path("answer").write_text(CSDP)
    text = checked("small.dat-s", "answer", "--max-seconds", "1e-9", code=1)
    assert text.endswith("Not proved: the time was up before the proof; raise --max-seconds.")
    assert "Proved, without" in checked("small.dat-s", "answer", "--max-seconds", "600")
    text = refused("certify", "small.dat-s", "answer", "--max-seconds", "0")
    assert "max_seconds must be positive" in text


def test_an_archive_of_x_and_y_is_proved():
    z = np.array([ROOT / 2, ROOT / 4]) + 1e-9
    x = np.array([1.0, 1.414, 1.414, 2.0, 0.0])
    np.savez("answer.npz", x=x, y=z)
    assert "without assumptions" in checked("small.dat-s", "answer.npz")
    np.savez("answer.npz", x=x[:3], y=z)
    text = refused("certify", "small.dat-s", "answer.npz")
    assert "has x of shape (3,); wanted 5 numbers, or the blocks X1, X2, ..." in text


def test_an_archive_answers_any_application():
    result = condal.solve(condal.problems.max_cut(nx.cycle_graph(5)), tol=1e-6)
    np.savez("answer.npz", U=result.x.U, weights=result.x.weights, y=result.y)
    text = checked("max-cut.txt", "answer.npz", "--as", "max-cut", "--tol", "1e-5")
    assert text.startswith("max-cut of max-cut.txt, answered by answer.npz (.npz)")
    assert "bound 4.5225" in text
    assert "Proved, without assumptions: the maximum is at most 4.5225" in text
    assert "as claimed" not in text
    np.savez("answer.npz", x=np.eye(5), y=result.y)
    text = checked("max-cut.txt", "answer.npz", "--as", "max-cut", code=1)
    assert "tol 0.001 NOT PROVED: a gap of" in text
    for arrays, lacks in (({"y": result.y}, "a point x"), ({"x": np.eye(5)}, "a dual y")):
        np.savez("answer.npz", **arrays)
        text = refused("certify", "max-cut.txt", "answer.npz", "--as", "max-cut")
        assert f"a proof needs {lacks}" in text
    np.savez("answer.npz", x=np.eye(4), y=result.y)
    text = checked("max-cut.txt", "answer.npz", "--as", "max-cut", code=1)
    assert "x and y are not of this problem" in text


def test_an_answer_needs_the_name_of_its_application():
    Path("answer").write_text(CSDP)
    text = refused("certify", "max-cut.txt", "answer")
    assert "answer: is not a folder of a saved result; for the answer of another" in text
    text = refused("certify", "small.dat-s", "missing")
    assert "missing: there is no such file or folder" in text


# Programs, what CSDP 6.2.0 writes of each, and what that proves.
PROGRAMS = {
    "small": (PROGRAM, "the maximum is at most 1.4142135"),
    "infeasible": ("2\n1\n2\n1 0\n0 1 1 1 1\n1 1 1 1 1\n2 1 1 1 1\n2 1 2 2 1\n", "no point is"),
    "unbounded": ("1\n1\n2\n0\n0 1 1 1 1\n0 1 2 2 1\n1 1 1 2 1\n", "the objective is unbounded"),
}
WRITTEN_BY_CSDP = {
    "small": (
        "0.7071068920105816 0.35355333513854564\n"
        "1 1 1 1 0.7071068920390671\n"
        "1 1 1 2 -0.5\n"
        "1 1 2 2 0.3535533351670311\n"
        "1 2 1 1 0.3535533351670311\n"
        "2 1 1 1 0.999999999999999\n"
        "2 1 1 2 1.4142135580474098\n"
        "2 1 2 2 1.9999999938825075\n"
        "2 2 1 1 6.11749260444455e-09\n"
    ),
    "infeasible": (
        "-1.0 1.0000000957280821\n"
        "1 1 1 1 9.165873885772799e-08\n"
        "1 1 2 2 1.000000095728085\n"
        "2 1 1 1 1.9050032924731741\n"
        "2 1 2 2 0.00026679699238893635\n"
    ),
    "unbounded": (
        "0.0\n1 1 1 1 17.071067811865472\n1 1 2 2 17.071067811865472\n2 1 1 1 0.5\n2 1 2 2 0.5\n"
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_csdp_writes_is_proved(name):
    contents, proved = PROGRAMS[name]
    Path("program.dat-s").write_text(contents)
    Path("program.sol").write_text(WRITTEN_BY_CSDP[name])
    text = checked("program.dat-s", "program.sol", "--tol", "1e-6")
    assert f"Proved, without assumptions: {proved}" in text


needs_csdp = pytest.mark.skipif(shutil.which("csdp") is None, reason="CSDP is not installed")


# Optima of SDPLIB by SDPA-GMP; CSDP's solution of hinf1 is better than the optimum by 1.5e-5.
SDPLIB = {
    "theta1": (23.0, 0),
    "mcp100": (226.157351, 0),
    "hinf1": (2.03263, 1),
    "infd1": (None, 0),
    "infp1": (None, 0),
}


@needs_csdp
@needs_data
@pytest.mark.parametrize("name", SDPLIB)
def test_what_csdp_writes_of_sdplib_is_judged(name):
    optimum, code = SDPLIB[name]
    packed = (DATA / "sdplib" / f"{name}.dat-s.xz").read_bytes()
    Path("program.dat-s").write_bytes(lzma.decompress(packed))
    subprocess.run(["csdp", "program.dat-s", "program.sol"], capture_output=True, timeout=60)
    text = checked("program.dat-s", "program.sol", "--tol", "1e-6", code=code)
    assert "Proved, without assumptions: " in text
    if optimum is not None:
        bound = float(text.split("is at most ")[1].split(" ")[0].rstrip("."))
        assert bound >= optimum - 1e-6
        assert bound == pytest.approx(optimum, rel=1e-4)
