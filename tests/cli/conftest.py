"""Every command runs in a folder with a file for each application."""

import signal

import pytest

import condal
from commands import enter


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    return enter(tmp_path, monkeypatch)


@pytest.fixture
def unsolved(monkeypatch):
    """No solve may start."""
    monkeypatch.setattr(condal, "solve", lambda *_, **__: pytest.fail("the solve was started"))


@pytest.fixture
def interruptible():
    """SIGINT as a shell leaves it: one that starts the tests in the background has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def pointless(monkeypatch):
    """Every solve ends before it has a point."""
    true = condal.solve

    def stop(row):
        raise KeyboardInterrupt

    def solve(model, method, **options):
        return true(model, condal.CGAL(), **{**options, "callback": stop, "max_iters": 1})

    monkeypatch.setattr(condal, "solve", solve)
    monkeypatch.setattr("condal.problems.conic.model.solve", solve)
