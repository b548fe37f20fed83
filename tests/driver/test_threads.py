"""Solves in threads: they are, bit for bit, the same solves in turn."""

import importlib
import io
import pkgutil
import re
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import condal
from condal.driver.guards import guarded
from condal.linalg.eigen import start_vector
from condal.linalg.triangles import svec_indices
from known import Hidden, torus
from locations import SOURCE
from repeated import CASES, MODELS, SOLVES, answered, by_method, digest, in_turn

PATIENCE = 60.0  # seconds after which a thread is said to hang


@pytest.fixture(autouse=True)
def _eager():
    """Threads that take turns fifty times as often as they do."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


def at_once(works: list[Callable[[], Any]], count: int = 8) -> list[Any]:
    """What the works give, `count` of them at a time."""
    with ThreadPoolExecutor(count) as pool:
        return [done.result() for done in [pool.submit(work) for work in works]]


def begun_together(works: list[Callable[[], Any]]) -> list[Any]:
    """What the works give, all begun at one moment."""
    gate = threading.Barrier(len(works))

    def begin(work):
        gate.wait(PATIENCE)
        return work()

    return at_once([lambda work=work: begin(work) for work in works], len(works))


def test_eight_solves_at_a_time_are_those_in_turn():
    found = at_once([lambda name=name: digest(SOLVES[name]()) for name in SOLVES])
    assert dict(zip(SOLVES, found, strict=True)) == in_turn()


@pytest.mark.parametrize("first", ["model max_cut", "method interior-point", "storage Sketch"])
def test_two_solves_at_a_time_are_those_in_turn(first):
    names = (first, "model theta")
    found = begun_together([lambda name=name: digest(SOLVES[name]()) for name in names])
    assert found == [in_turn()[name] for name in names]


@pytest.mark.parametrize("known", list(dict.fromkeys(case.known for case in CASES.values())))
def test_one_problem_is_solved_by_all_methods_at_once(known):
    """Nothing is computed of the problem before: the threads fill its caches together."""
    problem = known().problem
    names = [name for name, case in CASES.items() if case.known is known]
    found = begun_together([lambda name=name: digest(by_method(name, problem)) for name in names])
    assert found == [in_turn()[f"method {name}"] for name in names]


def test_one_model_is_solved_by_two_threads_at_once():
    models = {name: make() for name, make in MODELS.items()}
    works = [
        lambda model=model: digest(answered(model)) for model in models.values() for _ in range(2)
    ]
    expected = [in_turn()[f"model {name}"] for name in models for _ in range(2)]
    assert at_once(works, 4) == expected


def test_one_problem_of_the_users_own_pieces_is_solved_by_eight_threads_at_once():
    model = condal.problems.max_cut(torus(4, 5))
    problem = model.problem
    own = condal.Problem.of(
        f=problem.f, X=problem.X, A=Hidden(problem.A), K=problem.h, maximise=True
    )

    def solved():
        return digest(condal.solve(own, condal.CGAL(), tol=1e-9, max_iters=50))

    assert len({solved(), *begun_together([solved] * 8)}) == 1


def test_a_piece_may_keep_what_it_computes_while_another_thread_looks_at_it():
    """Python refuses to go on through a dict that has grown meanwhile."""

    class Slow(Hidden):
        asked = None

        def adjoint(self, y):
            if self.asked is not None:
                thread, self.asked = threading.Thread(target=self.asked), None
                thread.start()
                thread.join(PATIENCE)
            return self.A.adjoint(y)

    A = Slow(condal.Matrix(np.eye(3)))
    f = condal.LeastSquares(A, np.arange(3.0))
    problem = condal.Problem.of(f=f, X=condal.Simplex(3))
    A.asked = lambda: f.L
    assert "L" not in vars(f)
    assert guarded(problem).f is not f
    assert "L" in vars(f)


def test_threads_do_not_wait_for_each_other_for_ever():
    """A set of the user's that is made of condal's, alone in one problem, beside another in one."""
    meet = threading.Barrier(2)

    class Own:
        """K, with a word of its own."""

        def __init__(self, K):
            self.K = K

        @property
        def pieces(self):
            meet.wait(PATIENCE)
            return self.K.pieces

        def scaled(self, rows, c):
            return self.K.scaled(rows, c)

        def __getattr__(self, name):
            return getattr(self.K, name)

    def both():
        return condal.Separable(condal.Equal(np.ones(2)), condal.NonNegative(1))

    A, X, f = condal.Matrix(np.eye(3)), condal.Simplex(3), condal.Linear(np.arange(3.0))
    alone = guarded(condal.Problem.of(f=f, X=X, A=A, K=Own(both())))
    beside = guarded(condal.Problem.of(f=f, X=X, A=A, K=Own(both()), g=condal.L1(size=3)))
    found = {}

    def ask(name, problem):
        found[name] = len(problem.h.pieces)

    threads = [
        threading.Thread(target=ask, args=pair, daemon=True)
        for pair in (("alone", alone), ("beside", beside))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE / 4)
    assert found == {"alone": 2, "beside": 3}


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [io.StringIO, Terminal], ids=["file", "terminal"])
def test_progress_is_shown_of_solves_in_threads(stream, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    shown = [stream() for _ in range(4)]
    model = condal.problems.max_cut(torus(4, 5))

    def solved(callback=None):
        return digest(condal.solve(model, condal.CGAL(), tol=1e-2, callback=callback))

    works = [lambda to=to: solved(condal.Progress(to)) for to in shown]
    assert set(begun_together(works)) == {solved()}
    for text in shown:
        assert "objective" in text.getvalue()
    assert threading.active_count() == len(threading.enumerate())


def test_figures_are_drawn_in_threads_as_in_turn():
    """matplotlib has one set of settings for all."""
    import matplotlib as mpl

    from condal.report.figures import inline

    result = condal.solve(condal.problems.max_cut(torus(3, 4)), tol=1e-2)
    settings = dict(mpl.rcParams)

    def drawn():
        return inline(result.plot(), name="it", alternative="a solve")

    in_turn = drawn()
    assert at_once([drawn] * 4, 4) == [in_turn] * 4
    assert dict(mpl.rcParams) == settings


def modules():
    for found in pkgutil.walk_packages(condal.__path__, "condal."):
        try:
            yield importlib.import_module(found.name)
        except ImportError:  # an extra that is not installed
            continue


def test_arrays_that_all_solves_share_cannot_be_written_to():
    shared = [*svec_indices(5), start_vector(7)]
    for module in modules():
        shared += [value for value in vars(module).values() if isinstance(value, np.ndarray)]
    assert len(shared) > 4
    assert not [array for array in shared if array.flags.writeable]


def test_every_cache_that_outlives_a_solve_is_known():
    """The arrays of `svec_indices`, `start_vector`, `_triangle` and `_order` are read-only, and
    `_pool` holds threads that wait for no other."""
    cached = re.compile(r"@(?:functools\.)?(?:lru_)?cache\b[^\n]*\n(?:@[^\n]*\n)*def (\w+)")
    found = {
        f"{path.relative_to(SOURCE).as_posix()}:{name}"
        for path in SOURCE.rglob("*.py")
        for name in cached.findall(path.read_text())
    }
    assert found == {
        "certificates/cones.py:_triangle",
        "cvxpy/interior.py:_order",
        "linalg/eigen.py:start_vector",
        "linalg/triangles.py:svec_indices",
        "runtime/extras.py:part",
        "linalg/blocked.py:_pool",
    }


def test_a_solve_changes_no_setting_of_the_process(monkeypatch):
    """Another thread may depend on it."""
    import os
    import random
    import signal
    import warnings

    def settings():
        state = np.random.get_state()  # noqa: NPY002 - the very thing that must not move
        return (
            dict(os.environ),
            np.geterr(),
            list(warnings.filters),
            random.getstate(),
            (state[0], state[1].tobytes(), *state[2:]),
            sys.getrecursionlimit(),
            [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)],
            threading.active_count(),
        )

    before = settings()
    for name in ("model max_cut", "model k_means", "conic level_program", "engine Lanczos"):
        SOLVES[name]()
    assert settings() == before
