"""Phase retrieval at the command line of ranks: solved, stopped, and resumed on another number."""

import json
from pathlib import Path

import numpy as np
import pytest
import ranks

pytestmark = ranks.needed


@pytest.fixture
def u(tmp_path, monkeypatch):
    """A signal, whose intensities are in measured.npz."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    u = rng.standard_normal((8, 8, 2)) @ [1, 1j]
    masks = rng.standard_normal((7, 8, 8, 2)) @ [1, 1j]
    np.savez("measured.npz", b=np.abs(np.fft.fft2(masks * u, norm="ortho")) ** 2, masks=masks)
    return u.ravel()


def status(count: int, *words: str) -> str:
    """The status of a command on ranks, which writes signal.csv."""
    ended = ranks.run(count, "-m", "condal", *words, "--json", "answer.json", "--out", "signal.csv")
    assert "condal: error: " not in ended.stderr, ended.stderr
    return json.loads(Path("answer.json").read_text())["status"]


def error(u):
    v = np.loadtxt("signal.csv", delimiter=",") @ [1, 1j]
    product = np.vdot(v, u)
    return np.linalg.norm(u - v * product / abs(product)) / np.linalg.norm(u)


def test_it_is_stopped_and_resumed_on_another_number_of_ranks(u):
    solve = ("solve", "measured.npz", "--as", "phase-retrieval", "--distributed")
    assert status(2, *solve, "--max-iters", "2", "--checkpoint", "run") == "max_iters"
    assert status(3, "resume", "run", "measured.npz") == "solved"
    assert error(u) < 1e-2
