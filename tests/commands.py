"""A file for each application of the command line, and helpers to run its commands."""

import io
import re
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from condal.cli.app import cli
from condal.runtime.limits import SignalHandler

PENTAGON = "5 5\n1 2\n2 3\n3 4\n4 5\n5 1\n"
TRIANGLES = "6 7\n1 2\n2 3\n1 3\n4 5\n5 6\n4 6\n3 4\n"  # two, joined by an edge
SIGNS = "4 6\n1 2 1\n1 3 -1\n1 4 -1\n2 3 -1\n2 4 -1\n3 4 1\n"  # of + + - -
POINTS = "x,y\n0,0\n0,1\n1,0\n9,9\n9,8\n8,9\n"
PLACES = "3\n0 1 2\n1 0 3\n2 3 0\n\n0 5 2\n5 0 3\n2 3 0\n"
PROGRAM = "2\n2\n2 -1\n1 2\n0 1 1 2 0.5\n1 1 1 1 1\n2 1 2 2 1\n2 2 1 1 1\n"  # optimum sqrt(2)
SIGNAL = np.array([1.0, 1j, -0.5, 0.5 - 2j])


def intensities(**more):
    """Return a file of intensities of complex measurements of a signal of four numbers."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((24, 4)) + 1j * rng.standard_normal((24, 4))
    stream = io.BytesIO()
    np.savez(stream, b=np.abs(a @ SIGNAL) ** 2, a=a, **more)
    return stream.getvalue()


def ratings():
    """Return a file of most entries of a rank-one matrix plus a constant."""
    rng = np.random.default_rng(2)
    x = 3 + np.multiply.outer(rng.standard_normal(8), rng.standard_normal(6))
    places = [(i, j) for i in range(8) for j in range(6) if (i + 2 * j) % 5]
    lines = [f"{10 * i + 7},{j + 1},{x[i, j]:.6f},0" for i, j in places]
    return "\n".join(["user,film,rating,time", *lines]).encode()


COUNTS = '{"X": {"0": 51, "1": 49}, "Y": {"0": 48, "1": 52}, "Z": {"0": 97, "1": 3}}'

RING = "".join(  # a square, whose corners turn by a right angle
    f"EDGE_SE2 {k} {(k + 1) % 4} 1 0 {1.5707963 + 0.1 * k} 1 0 0 1 0 5\n" for k in range(4)
)


def eigenvector_pair():
    """Return a file of Phi = diag(1, 2) and Psi = diag(1, 1/2): with alpha = 4 the optimum is 4."""
    stream = io.BytesIO()
    np.savez(stream, Phi=np.diag([1.0, 2.0]), Psi=np.diag([1.0, 0.5]))
    return stream.getvalue()


COMMON = {  # the keys of --json, to which an application adds its own
    "problem": str,
    "method": str,
    "why": str,
    "status": str,
    "objective": float,
    "bound": float,
    "gap": float,
    "infeasibility": float,
    "price": float,
    "bracket": bool,
    "certified": bool,
    "failure": float,
    "reconstruction": type(None),
    "iterations": int,
    "oracle_calls": int,
    "matvecs": int,
    "seconds": float,
}
FILES = {
    "max-cut": PENTAGON,
    "theta": PENTAGON,
    "communities": TRIANGLES,
    "bisection": TRIANGLES,
    "sync": SIGNS,
    "k-means": POINTS,
    "qap": PLACES,
    "matrix-completion": ratings,
    "phase-retrieval": intensities,
    "state-tomography": COUNTS,
    "pose-graph": RING,
    "generalised-eigenvector": eigenvector_pair,
    "sdp": PROGRAM,
}
NEEDED = {
    "k-means": ("--clusters", "2"),
    "matrix-completion": ("--radius", "20"),
    "generalised-eigenvector": ("--alpha", "4"),
}


def enter(folder, monkeypatch):
    """Write all files to the folder and change to it."""
    monkeypatch.chdir(folder)
    for name, contents in FILES.items():
        Path(f"{name}.txt").write_bytes(contents() if callable(contents) else contents.encode())
    return folder


def run(*arguments):
    """Run a command, as in a process of its own, and return its result."""
    SignalHandler.terminating = False
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def solved(name, *options, code=0):
    """Solve the file of an application; with the code None the command may end as it likes."""
    words = (f"{name}.txt", "--as", name, *NEEDED.get(name, ()), *options)
    ended = run("solve", *words)
    assert code in (ended.exit_code, None), ended.output
    return ended


def refused(*arguments):
    """Return the error of a command that must be refused: one line, and no file left behind."""
    before = sorted(Path().rglob("*"))
    ended = run(*arguments)
    assert (ended.exit_code, ended.stdout) == (2, ""), ended.output
    assert re.fullmatch(r"condal: error: [^\n]+\n", ended.stderr)
    assert sorted(Path().rglob("*")) == before
    return ended.stderr


# If a shell starts the tests in the background, SIGINT is ignored in all their children.
AS_A_SHELL_STARTS_IT = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from condal.__main__ import main; main()"
)
