"""Problems of awkward structure: solved by default, and no method makes a false claim."""

import numpy as np
import pytest
from structures import STRUCTURES

import condal
from condal import Status
from condal.methods import InteriorPoint, LowRankCGAL, LowRankNewton, PrimalDual, Splitting
from condal.methods.rules import Decr
from laws.spectra import STORAGES
from method_cases import CASES

structures = pytest.mark.parametrize("name", STRUCTURES)
ROUNDING = 1e-13

METHODS = dict.fromkeys([*(case.method for case in CASES.values()), condal.CGAL(sigma=Decr())])
KEPT = STORAGES | {"Sketch of rank 1": lambda n: condal.storage.Sketch(n, 1)}


def least(X, v):
    """Return min over X of <v, .>, using only NumPy."""
    if isinstance(X, condal.Product):
        return sum(least(part, w) for part, w in zip(X.parts, v, strict=True))
    if isinstance(X, condal.Spectrahedron):
        smallest = float(np.linalg.eigvalsh(v.to_dense())[0])
        return X.trace * (min(smallest, 0.0) if X.at_most else smallest)
    if isinstance(X, condal.Simplex):
        return X.radius * float(v.min())
    if isinstance(X, condal.LinfBall):
        return -X.radius * float(np.abs(v).sum())
    assert isinstance(X, condal.domains.Box)
    return float(np.minimum(X.low * v, X.high * v).sum())


def check_proof(problem, result, apart):
    """Check the proof of infeasibility: its hyperplane separates A(X) from K."""
    d = result.separator
    between = least(problem.X, problem.A.adjoint(d)) - problem.h.support(d)
    proved = result.infeasible.value
    assert between > 0
    assert 0 < proved <= between / np.linalg.norm(d) * (1 + 1e-9)
    assert proved <= apart * (1 + 1e-9)
    assert problem.h.distance(problem.A(result.x)) >= proved * (1 - 1e-9)


def check_claims(structure, problem, result, tol):
    """Check that no claim is false."""
    assert not np.isnan(result.bound)
    if structure.optimum is None:
        assert result.status is not Status.SOLVED
        if result.status is Status.INFEASIBLE:
            check_proof(problem, result, structure.apart)
        return
    assert result.status is not Status.INFEASIBLE
    assert result.infeasible is None
    unit = max(1.0, abs(structure.optimum))
    assert problem.sense * (result.bound - structure.optimum) <= ROUNDING * unit
    if result.status is Status.SOLVED:
        assert problem.sense * (result.objective - structure.optimum) <= 1.01 * tol * unit
        assert result.gap <= tol
        assert result.infeasibility <= tol
        assert problem.infeasibility(result.x) <= tol
        assert result.objective == pytest.approx(problem.objective(result.x), abs=1e-12 * unit)
        again = condal.certify(problem, result.x, result.y)
        assert again.distance_to_X <= 1e-6 * problem.X.max_norm


@pytest.mark.parametrize(
    ("method", "tol"),
    [
        (None, 1e-3),
        (None, 1e-6),
        (InteriorPoint(), 1e-6),
        (LowRankNewton(), 1e-6),
        (LowRankCGAL(), 1e-6),
        (PrimalDual(), 1e-6),
        (Splitting(), 1e-4),
    ],
)
@pytest.mark.parametrize("name", [name for name in STRUCTURES if STRUCTURES[name].regular])
def test_it_is_solved_right(name, method, tol):
    structure = STRUCTURES[name]
    problem = structure.make()
    try:
        result = condal.solve(problem, method, tol=tol, max_iters=3000)
    except condal.ProblemError:
        assert method is not None  # which is for other problems
        return
    assert result.status is (Status.INFEASIBLE if structure.optimum is None else Status.SOLVED)
    check_claims(structure, problem, result, tol)
    if structure.optimum is not None:
        assert result.objective == pytest.approx(structure.optimum, rel=20 * tol, abs=20 * tol)


@structures
def test_no_method_claims_what_is_false(name):
    structure, asked = STRUCTURES[name], 0
    for method in METHODS:
        problem = structure.make()
        try:
            result = condal.solve(problem, method, max_iters=20)
        except condal.ProblemError as error:
            refused = str(error)
            assert refused.endswith("use condal.CGAL()"), method
            continue
        asked += 1
        check_claims(structure, problem, result, 1e-3)
        assert result.status is not Status.NUMERICAL_ERROR, (method, result.reason)
    assert asked >= 10


@pytest.mark.parametrize("kind", KEPT)
def test_no_storage_makes_a_claim_false(kind):
    for name, structure in STRUCTURES.items():
        problem = structure.make()
        if not isinstance(problem.X, condal.Spectrahedron):
            continue
        storage = KEPT[kind](problem.X.n)
        result = condal.solve(problem, storage=storage, max_iters=30)
        check_claims(structure, problem, result, 1e-3)
        assert result.status is not Status.NUMERICAL_ERROR, name


@pytest.mark.parametrize("name", [name for name in STRUCTURES if not STRUCTURES[name].regular])
def test_what_has_no_slater_point_is_solved_as_well_as_can_be(name):
    """At infeasibility t the objective may be below the optimum by sqrt(t): the multiplier is
    unbounded, and so is the work for a smaller tol."""
    structure = STRUCTURES[name]
    for tol, near in ((1e-3, 0.1), (1e-6, 3e-3)):
        problem = structure.make()
        result = condal.solve(problem, tol=tol, max_iters=200)
        check_claims(structure, problem, result, tol)
        assert result.status in (Status.SOLVED, *(() if tol == 1e-3 else (Status.MAX_ITERS,)))
        assert result.objective == pytest.approx(structure.optimum, abs=near)


@pytest.mark.parametrize("method", [None, InteriorPoint(), PrimalDual()])
def test_what_is_infeasible_within_the_tolerance_is_solved(method):
    X, A = condal.domains.Box([1.0, 2.0], [1.0, 2.0]), condal.Matrix(np.ones((1, 2)))
    problem = condal.Problem.of(condal.Linear([3.0, 4.0]), X, A, condal.Equal([3.0 + 1e-9]))
    result = condal.solve(problem, method, tol=1e-6)
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(11.0, rel=2e-6)
