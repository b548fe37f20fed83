"""Wrong user-supplied pieces: found by the public checker, or named by the solve."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

import condal
import condal_lab
from condal import Equal, Linear, PieceError, Problem, ProblemError, Simplex, Status
from condal.methods import InteriorPoint, PrimalDual, corrective

N, P = 6, 2
rng = np.random.default_rng(5)
ROWS = rng.standard_normal((P, N))
C = np.diag(np.arange(1.0, N + 1))
COST = np.arange(1.0, N + 1)


# Operators.


class Breaks(Exception):
    """An error raised by user code."""


def operator(matrix, fault, after):
    """An operator that fails after a number of products."""
    made, noise = [0], np.random.default_rng(0)

    def product(m):
        def times(v):
            made[0] += 1
            image = m @ v
            if made[0] <= after:
                return image
            if fault == "raises":
                raise Breaks("out of cheese")
            if fault == "another":
                return image * (1 + 0.3 * noise.standard_normal(image.shape))
            image = image.copy()
            image.flat[0] = np.nan if fault == "nan" else np.inf
            return image

        return times

    forward, back = product(matrix), product(matrix.T)
    return LinearOperator(
        matrix.shape, matvec=forward, matmat=forward, rmatvec=back, rmatmat=back, dtype=float
    )


def problem_of(where, fault, after):
    """Return a problem with the operator in f, A or B, and a known optimum."""
    if where == "f":
        cost = Linear(operator(C, fault, after))
        b = np.full(N, 1 / N)
        return Problem.of(cost, condal.Spectrahedron(N), condal.Diagonal(N), Equal(b))
    rows = operator(ROWS, fault, after)
    if where == "A":
        return Problem.of(Linear(COST), Simplex(N), rows, Equal(ROWS.mean(axis=1)))
    return Problem.of(Linear(COST), Simplex(N), B=rows, g=condal.L1(0.5))


METHODS = {
    "default": None,
    "cgal": condal.CGAL(1.0),
    "corrective": corrective(),
    "primal-dual": PrimalDual(),
    "upd": condal_lab.methods.UPD(1e-3),
}
LATE = {"f": 60, "A": 60, "B": 25}  # products: the solve has begun by then


def solved(problem, method):
    """Return the result, returned or attached to the error, and the message."""
    try:
        result = condal.solve(problem, METHODS[method], tol=1e-10, max_iters=400)
    except PieceError as error:
        return error.result, str(error), error.__cause__
    return result, result.reason, None


@pytest.mark.parametrize("where", ["f", "A", "B"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fault", ["nan", "inf"])
def test_an_operator_that_returns_nan_is_named(where, method, fault):
    result, text, cause = solved(problem_of(where, fault, LATE[where]), method)
    assert cause is None
    if result.status in (Status.SOLVED, Status.STALLED, Status.INACCURATE):
        return  # finished before the failure
    assert result.status is Status.NUMERICAL_ERROR
    assert f"{fault} at index 0" in text
    assert {"f": "objective f", "A": "map A", "B": "map B"}[where] in text
    assert not np.isnan(result.bound)
    assert result.x is None or np.isfinite(condal.dense(result.x)).all()


@pytest.mark.parametrize("where", ["f", "A", "B"])
@pytest.mark.parametrize("method", METHODS)
def test_an_operator_that_raises_is_named_and_what_was_reached_is_kept(where, method):
    result, text, cause = solved(problem_of(where, "raises", LATE[where]), method)
    if result.status in (Status.SOLVED, Status.STALLED, Status.INACCURATE):
        return
    assert isinstance(cause, Breaks)
    assert text.endswith("raised Breaks: out of cheese")
    assert result.status is Status.NUMERICAL_ERROR
    assert not np.isnan(result.bound)


def test_an_operator_goes_wrong_in_the_middle_of_a_solve():
    """The operators do fail, so the tests above test something."""
    for where in ("f", "A", "B"):
        faulty = [
            solved(problem_of(where, "nan", LATE[where]), method)[0].status for method in METHODS
        ]
        assert faulty.count(Status.NUMERICAL_ERROR) >= 3, where


def checked_until_it_changes(problem):
    for _ in range(20):
        condal.check_problem(problem)


@pytest.mark.parametrize("where", ["f", "A", "B"])
def test_an_operator_that_is_not_deterministic_is_found_by_the_public_checker(where):
    problem = problem_of(where, "another", LATE[where])
    name = {"f": "the map M of f", "A": "the map A", "B": "the map B"}[where]
    with pytest.raises(ProblemError, match=name):
        checked_until_it_changes(problem)


def test_a_cost_that_is_not_deterministic_is_refused_when_it_is_made():
    with pytest.raises(ProblemError, match="C must be symmetric; the largest"):
        problem_of("f", "another", 0)


@pytest.mark.filterwarnings("ignore:a proof of a bound is wrong")  # as it is
@pytest.mark.parametrize("where", ["f", "A", "B"])
@pytest.mark.parametrize("method", ["default", "cgal", "primal-dual"])
def test_an_operator_that_is_not_deterministic_ends_no_solve_in_a_crash(where, method):
    """Changing products prove nothing; the message says what it trusts."""
    problem = problem_of(where, "another", LATE[where])
    if where == "f" and method == "primal-dual":
        return  # a spectral domain, to which others belong
    result = condal.solve(problem, METHODS[method], tol=1e-10, max_iters=100)
    assert result.x is not None
    assert np.isfinite(condal.dense(result.x)).all()
    assert problem.X.distance(result.x) <= 1e-6
    if where == "f":
        assert "trusting the products of the operator" in result.certificate.how


def test_an_operator_that_is_sound_is_solved():
    for where, optimum in (("f", COST.mean()), ("A", None), ("B", None)):
        problem = problem_of(where, "nan", np.inf)
        result = condal.solve(problem, tol=1e-3, max_iters=3000)
        assert result.status is Status.SOLVED
        if optimum is not None:
            assert result.objective == pytest.approx(optimum, rel=2e-3)
    with pytest.raises(ProblemError, match="interior-point"):
        condal.solve(problem_of("A", "nan", np.inf), InteriorPoint())
