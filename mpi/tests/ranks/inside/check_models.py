"""For each model and method, ranks prove what one process proves, however rows are split."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sharded import certified, own_rows, random_weights, together
from sparse_programs import boxed, whole_boxed

import condal
import condal_mpi
from condal.problems import max_cut, theta


@dataclass(frozen=True)
class Case:
    """A model on the ranks of a team, and in one process.

    `tol` is what a solve proves. `near` is how near the bound, and for CGAL the objective, then are
    to the optimum; `first` are the options of a solve that ends before rounding has grown, or None
    where rounding does not grow; and `rounding` is what it does to objectives, in the history and
    at the end.
    """

    build: Callable[[Any], Any]
    whole: Callable[[], Any]
    method: str | None
    found_by: str
    tol: float
    near: float
    first: dict[str, Any] | None
    rounding: tuple[float, float] = (1e-6, 1e-6)
    options: dict[str, Any] = field(default_factory=dict)
    feasible: bool = False


def graph() -> Any:
    rng = np.random.default_rng(2)
    half = sp.random(60, 60, 0.15, random_state=np.random.RandomState(1), data_rvs=rng.random)
    return sp.csr_array(half + half.T)


def unweighted() -> Any:
    rng = np.random.default_rng(5)
    i, j = rng.integers(0, 40, (2, 80))
    half = sp.csr_array((np.ones(i.size), (i, j)), shape=(40, 40))
    W = sp.csr_array(half + half.T)
    W.data[:] = 1.0
    return W


def of_graph(weights: Callable[[], Any], build: Any, whole: Any) -> tuple[Any, Any]:
    return lambda team: build(own_rows(team, weights()), team), lambda: whole(weights())


CUT = of_graph(graph, condal_mpi.max_cut, max_cut)
LARGER_CUT = of_graph(lambda: random_weights(200, seed=2), condal_mpi.max_cut, max_cut)
THETA = of_graph(unweighted, condal_mpi.theta, theta)
PROGRAM = boxed, whole_boxed
SKETCHED = {"R": 8, "max_iters": 8}
CASES = {
    "max-cut by CGAL": Case(
        *CUT, "cgal", "cgal", 3e-2, 5e-2, SKETCHED, options={"tol": 3e-2, "R": 20}, feasible=True
    ),
    "max-cut": Case(
        *LARGER_CUT, None, "lowrank", 1e-3, 1e-3, None, rounding=(1e-8, 1e-9), feasible=True
    ),
    "theta by CGAL": Case(*THETA, "cgal-ls", "cgal-ls", 1e-2, 2e-2, SKETCHED),
    "theta": Case(*THETA, None, "spheres", 1e-3, 2e-3, None),
    "program": Case(
        *PROGRAM, None, "cgal-ls", 1e-2, 2e-2, SKETCHED, options={"tol": 1e-2, "R": 20}
    ),
    "program by low rank": Case(*PROGRAM, "lowrank", "lowrank", 1e-3, 2e-3, {"max_iters": 4}),
}


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES)
def case(request):
    return request.param


@pytest.fixture(scope="module")
def result(team, case):
    return condal_mpi.solve(case.build(team), case.method, **case.options)


def test_solved_means_proved_by_one_process_too(team, case, result):
    assert (result.status, result.method) == (condal.Status.SOLVED, case.found_by)
    whole = case.whole()
    again = certified(team, whole, result)
    assert again.objective == pytest.approx(result.objective, rel=1e-9)
    assert again.infeasibility == pytest.approx(result.infeasibility, rel=1e-6, abs=1e-12)
    assert again.bound == pytest.approx(result.bound, rel=case.tol)
    assert max(again.gap, again.infeasibility, again.price) <= case.tol
    best = condal.solve(whole, tol=1e-5 if case.feasible else 1e-7)
    below, above = best.objective, result.bound
    if isinstance(whole, condal.Problem):  # it is minimised, and the best x is not quite feasible
        below, above = result.bound, best.objective * (1 - 1e-7)
    assert below <= above
    assert result.bound == pytest.approx(best.bound, rel=case.near)
    by_cgal = case.found_by.startswith("cgal")
    assert result.objective == pytest.approx(best.objective, rel=case.near if by_cgal else case.tol)
    if case.feasible:
        assert again.infeasibility <= 1e-12
        assert result.objective <= best.bound


def test_every_rank_has_the_same_result(team, result):
    numbers = result.objective, result.bound, result.oracle_calls, result.matvecs
    team.require_same((*numbers, str(result.status), result.certificate.how), "the result")
    team.require_same([row.objective for row in result.history], "the history")


def test_the_iterations_are_those_of_one_rank(team, alone, case, result):
    """The first ones are, but for rounding, which grows from one to the next in CGAL."""
    options = case.first or case.options
    several = (
        condal_mpi.solve(case.build(team), case.method, **case.first) if case.first else result
    )
    single = condal_mpi.solve(case.build(alone), case.method, **options)
    each, last = case.rounding
    for one, other in zip(several.history, single.history, strict=True):
        assert one.objective == pytest.approx(other.objective, rel=each)
        if case.first is not None:
            assert one.infeasibility == pytest.approx(other.infeasibility, rel=1e-6, abs=1e-9)
    assert several.objective == pytest.approx(single.objective, rel=last)
    if case.first is None:
        assert several.bound == pytest.approx(single.bound, rel=1e-4)  # rounding moves proofs
    else:
        y = together(team, several.y)
        np.testing.assert_allclose(y, single.y.local, rtol=1e-4, atol=1e-4 * np.abs(y).max())
