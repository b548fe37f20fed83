"""The same problem, seed and build, on one thread: every bit of the answer is the same."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest

import condal
from condal import domains, methods, problems, storage
from condal_lab.experiments.folder import ExperimentFolder
from condal_lab.experiments.instances import build
from condal_lab.experiments.run import ExperimentCase, run
from condal_lab.experiments.trial import TrialBudget
from condal_lab.sweeps.workers import Workers
from known import planted_sdp, torus
from locations import TESTS
from repeated import SOLVES, STORAGES, digest, digests, in_turn
from spaces import public_classes


def test_every_storage_is_tried():
    assert {cls.__name__ for cls in public_classes(storage, "move")} == set(STORAGES)


def test_a_digest_is_of_every_bit_and_of_no_clock():
    result = condal.solve(planted_sdp().problem, condal.CGAL(), max_iters=5)
    again = condal.solve(planted_sdp().problem, condal.CGAL(), max_iters=5)
    assert result.seconds != again.seconds
    assert digest(result) == digest(again)
    again.y[0] = np.nextafter(again.y[0], np.inf)
    assert digest(result) != digest(again)
    sketches = [storage.Sketch(12, 2, seed=seed) for seed in (0, 1)]
    by_seed = [
        condal.solve(planted_sdp().problem, condal.CGAL(), storage=kept, max_iters=5)
        for kept in sketches
    ]
    assert digest(by_seed[0]) != digest(by_seed[1])


def test_neither_the_order_nor_the_clock_nor_the_global_generators_matter(monkeypatch):
    """Caches are filled by other problems, every look at the clock is an hour after the last."""
    expected = in_turn()
    hours = count(1)
    for clock in ("perf_counter", "process_time", "monotonic", "time"):
        monkeypatch.setattr(time, clock, lambda: 3600.0 * next(hours))
    np.random.seed(20)  # noqa: NPY002 - the very thing that must not matter
    random.seed(20)
    found = digests(reversed(list(SOLVES)))
    assert found == expected
    assert np.random.random() == np.random.RandomState(20).random()  # noqa: NPY002 - nor be moved
    assert random.random() == random.Random(20).random()


def test_processes_of_other_hash_seeds():
    """Sets and dicts of words are in another order than here."""
    halves = list(SOLVES)[::2], list(SOLVES)[1::2]
    running = [
        subprocess.Popen(
            [sys.executable, str(TESTS / "repeated.py"), *names],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONHASHSEED": seed},
            text=True,
        )
        for seed, names in zip(("1", "4242"), halves, strict=True)
    ]
    found = [json.loads(process.communicate(timeout=300)[0]) for process in running]
    assert found[0] | found[1] == in_turn()


def at(a: Any, offset: int) -> Any:
    """A copy that begins so many bytes after a multiple of 64."""
    raw = np.zeros(a.nbytes + 128, dtype=np.uint8)
    made = np.ndarray(a.shape, a.dtype, raw, (-raw.ctypes.data) % 64 + offset)
    made[...] = a
    return made


def strided(a: Any) -> Any:
    """A copy with as much in between."""
    made = np.zeros(tuple(2 * side for side in a.shape))[(slice(None, None, 2),) * a.ndim]
    made[...] = a
    return made


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "8 bytes on": lambda a: at(a, 8),
    "40 bytes on": lambda a: at(a, 40),
    "not aligned": lambda a: at(a, 3),
    "strided": strided,
    "backwards": lambda a: a[(slice(None, None, -1),) * a.ndim].copy()[
        (slice(None, None, -1),) * a.ndim
    ],
    "by columns": np.asfortranarray,
    "lists": lambda a: a.tolist(),
}


def laid(layout: Callable[[Any], Any]) -> list[str]:
    """Solves of dense data, laid out so."""
    rng = np.random.default_rng(0)
    n, p = 37, 41
    C, M, b, c = (rng.standard_normal(shape) for shape in ((n, n), (p, n), p, n))
    C, counts, points = C + C.T, np.round(5 * np.abs(b)), rng.standard_normal((21, 5))
    simplex = condal.Simplex(n)
    unit = layout(np.ones(n))
    given = [
        {
            "f": condal.Linear(layout(C)),
            "X": condal.Spectrahedron(n, trace=float(n)),
            "A": condal.Diagonal(n),
            "K": condal.Equal(unit),
        },
        {"f": condal.LeastSquares(layout(M), layout(b)), "X": simplex},
        {"f": condal.Logistic(layout(M), layout(np.sign(b))), "X": condal.L1Ball(n, 2.0)},
        {"f": condal.Poisson(layout(np.abs(M)), layout(counts), background=0.5), "X": simplex},
        {
            "f": condal.Linear(layout(c)),
            "X": simplex,
            "A": condal.Matrix(layout(M)),
            "K": condal.NonPositive(p),
        },
        {
            "f": condal.LeastSquares(condal.Quadratics(layout(M)), layout(b * b)),
            "X": condal.Spectrahedron(n, trace=9.0, at_most=True),
        },
        {
            "f": condal.LeastSquares(np.eye(5), layout(b[:5].copy())),
            "X": condal.Hull(layout(points)),
        },
    ]
    found = [condal.Problem.of(**pieces) for pieces in given]
    return [
        digest(condal.solve(one, tol=1e-5, max_iters=5))
        for one in [*found, problems.k_means(layout(points), 4)]
    ]


def test_where_and_how_the_data_lie_in_memory_does_not_matter():
    expected = laid(lambda a: a.copy())
    for name, layout in LAYOUTS.items():
        assert laid(layout) == expected, name


def test_a_solve_does_not_depend_on_one_before_with_the_same_objects():
    """Neither methods, nor domains and maps, nor engines keep anything of a solve."""
    model, method = problems.max_cut(torus(5, 8)), methods.LowRankCGAL()
    found = {digest(condal.solve(model, method, tol=tol)) for tol in (1e-3, 1e-6, 1e-3, 1e-6)}
    assert len(found) == 2


def test_the_workers_of_an_experiment_find_what_one_process_finds(tmp_path):
    class Silent:
        def asked(self, what):
            pass

        def done(self, what, seconds, score):
            pass

        found = asked

    def studied(workers):
        case = ExperimentCase("gd97b-like", TrialBudget(15, 600.0))
        with Workers.of(workers) as pool:
            folder = ExperimentFolder(tmp_path / f"{workers}")
            (study,) = run([case], quick, ("cgal",), folder, workers=pool, watch=Silent())
        trials = study.tuned["cgal"].trials
        curves = {setting: digest(trials[setting].curve) for setting in trials}
        return study.reference.objective, study.reference.bound, curves

    assert studied(2) == studied(0)


def quick():
    return [build("gd97b", quick=True)]


@pytest.mark.parametrize("kind", ["Automatic", "Lanczos"])
def test_an_engine_does_not_remember(kind):
    """The matrix has an invariant space at each step."""
    C = np.diag(np.repeat([1.0, 2.0], 30))
    flat = condal.Problem.of(
        f=condal.Linear(C), X=condal.Spectrahedron(60, engine=getattr(condal.eigen, kind)())
    )

    def solved():
        return digest(condal.solve(flat, condal.CGAL(), tol=1e-9, max_iters=8))

    first = solved()
    SOLVES[f"engine {kind}"]()
    assert solved() == first
    assert isinstance(flat.X, domains.Spectrahedron)
