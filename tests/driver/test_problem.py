"""The template from its parts: what is stacked and joined, what is refused, known optima."""

from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import pytest

import condal
from condal.errors import ProblemError
from condal.maps import Identity
from condal.methods import corrective, fwal
from condal.methods.rules import Const, Decr, Exact, Never, Smoothed
from condal.methods.state import Warm
from condal.problem import Problem
from condal.storage import Dense
from known import planted_simplex

N = 6


@dataclass(frozen=True)
class Unsized:
    """A g that learns its length when the problem is made."""

    t: float

    def sized(self, size):
        return condal.L1(t=self.t, size=size)

    prox = None


def least_squares(n=N, seed=0):
    rng = np.random.default_rng(seed)
    return condal.LeastSquares(rng.standard_normal((4, n)), rng.standard_normal(4))


def parts(n=N, seed=1):
    """f, X, A, K, B and g that fit."""
    rng = np.random.default_rng(seed)
    return {
        "f": least_squares(n),
        "X": condal.Simplex(n),
        "A": condal.Matrix(rng.standard_normal((2, n))),
        "K": condal.Box([-0.2, -0.2], [0.2, 0.2]),
        "B": condal.Matrix(rng.standard_normal((5, n))),
        "g": condal.L1(t=0.3, size=5),
    }


def test_images_of_a_and_b_stand_one_under_the_other():
    given = parts()
    problem = Problem.of(**given)
    x = np.full(N, 1 / N)
    np.testing.assert_array_equal(problem.A(x)[:2], given["A"](x))
    np.testing.assert_array_equal(problem.A(x)[2:], given["B"](x))
    f, g = given["f"], given["g"]
    assert problem.objective(x) == f.value(f.M(x)) + g.value(given["B"](x))
    assert (
        problem.infeasibility(x) == given["K"].distance(given["A"](x)) / problem.infeasibility_unit
    )


def test_a_constraint_or_a_function_alone_is_not_wrapped():
    given = parts()
    alone = Problem.of(given["f"], given["X"], B=given["B"], g=given["g"])
    assert (alone.A, alone.h) == (given["B"], given["g"])
    bound = Problem.of(given["f"], given["X"], given["A"], given["K"])
    assert (bound.A, bound.h) == (given["A"], given["K"])


def test_a_function_without_a_size_gets_that_of_its_map():
    given = parts()
    problem = Problem.of(**{**given, "g": Unsized(0.3)})
    assert problem.h.size == 7
    assert Problem.of(given["f"], given["X"], g=Unsized(0.3)).h.size == N


def test_without_b_the_function_is_one_of_x():
    problem = Problem.of(least_squares(), condal.Simplex(N), g=condal.L1(t=0.1, size=N))
    assert isinstance(problem.A, Identity)
    x = np.linspace(0.0, 1.0, N)
    np.testing.assert_array_equal(problem.A(x), x)


def test_without_f_the_objective_is_g_alone():
    given = parts()
    x = np.full(N, 1 / N)
    g = Problem.of(X=given["X"], B=given["B"], g=given["g"])
    assert g.objective(x) == given["g"].value(given["B"](x))
    matrix = Problem.of(X=condal.Spectrahedron(3), A=condal.Diagonal(3), K=condal.Equal([0.2] * 3))
    assert matrix.objective(np.eye(3)) == 0.0
    pair = condal.Product(condal.Simplex(2), condal.Spectrahedron(2))
    both = condal.Across(condal.Matrix(np.eye(2)), condal.Diagonal(2))
    product = Problem.of(X=pair, A=both, K=condal.Equal([1.0, 1.0]))
    assert product.objective((np.ones(2), np.eye(2))) == 0.0


def test_a_problem_of_feasibility_is_solved():
    result = condal.solve(
        Problem.of(X=condal.Spectrahedron(3), A=condal.Diagonal(3), K=condal.Equal([0.2, 0.3, 0.5]))
    )
    assert result.status is condal.Status.SOLVED
    assert result.infeasibility <= 1e-3


# The dual of g, held at 0.


def states(method, problem, count):
    return list(islice(method.iterates(problem, Dense()), count))


@pytest.mark.parametrize("lam0", [0.5, None])
@pytest.mark.parametrize("rule", [Const(), Decr()])
def test_holding_the_dual_of_g_is_homotopy_smoothing_bit_for_bit(lam0, rule):
    given = parts()
    problem = Problem.of(given["f"], given["X"], B=given["B"], g=given["g"])
    held = states(condal.CGAL(lam0, sigma=Smoothed(rule), tol=Exact()), problem, 60)
    smoothed = states(condal.CGAL(lam0, sigma=Never(), tol=Exact()), problem, 60)
    for ours, theirs in zip(held, smoothed, strict=True):
        for name in ("Mx", "Ax", "y", "w", "s", "value", "gap", "lower", "lam", "eta"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


def test_holding_the_dual_of_g_changes_nothing_without_g():
    problem = planted_simplex().problem
    held = states(condal.CGAL(0.5, sigma=Smoothed(Decr()), tol=Exact()), problem, 40)
    plain = states(condal.CGAL(0.5, sigma=Decr(), tol=Exact()), problem, 40)
    for ours, theirs in zip(held, plain, strict=True):
        np.testing.assert_array_equal(ours.y, theirs.y)
        np.testing.assert_array_equal(ours.Ax, theirs.Ax)


def test_the_dual_of_the_constraint_still_moves():
    problem = Problem.of(**{**parts(), "K": condal.Equal([0.1, -0.1])})
    state = states(condal.CGAL(0.5, sigma=Smoothed()), problem, 50)[-1]
    assert not state.y[2:].any()
    assert state.y[:2].all()
    assert np.abs(state.w[2:]).max() > 0.1  # while the multiplier of g is what it must be


def test_a_warm_start_forgets_the_dual_of_g():
    problem = Problem.of(**{**parts(), "K": condal.Equal([0.1, -0.1])})
    first = condal.solve(problem, corrective(), tol=1e-2)
    assert first.y[2:].any()
    method = condal.CGAL(0.5, sigma=Smoothed())
    warm = Warm(first.x, first.y, 5)
    y = method.start(problem, warm).y
    np.testing.assert_array_equal(y, [*first.y[:2], 0, 0, 0, 0, 0])


def test_smoothing_has_any_centre():
    """The oracle sees z + lam (Bx - prox_{g/lam}(Bx + z/lam)) for the same z in every iteration."""
    given = {**parts(), "K": condal.Equal([0.1, -0.1])}
    problem, z = Problem.of(**given), np.array([0.2, -0.1, 0.0, 0.3, 0.1])
    rule, warm = Smoothed(centred=False), Warm(None, np.array([0.0, 0.0, *z]), 0)
    method = condal.CGAL.paper(0.5, sigma=rule)
    first = method.start(problem, warm)
    assert not np.array_equal(first.y[2:], method.start(problem).y[2:])
    Bx = first.Ax[2:]
    for state in islice(method.iterates(problem, Dense(), first), 40):
        r = given["g"].prox(Bx + z / state.lam, 1 / state.lam)
        np.testing.assert_allclose(state.w[2:], z + state.lam * (Bx - r), atol=1e-12)
        np.testing.assert_array_equal(state.y[2:], z)
        Bx = state.Ax[2:]
    moved = condal.solve(problem, replace(method, tol=Exact()), tol=2e-2, warm_start=(None, warm.y))
    assert moved.status is condal.Status.SOLVED


def test_smoothed_wants_a_rule():
    with pytest.raises(ProblemError, match=r"Smoothed takes a dual rule, such as Decr\(\); got"):
        Smoothed(Decr)
    assert condal.CGAL(sigma=Smoothed()).name == "cgal-smoothed"
    assert replace(fwal(), sigma=Smoothed(fwal().sigma)).name == "cgal-smoothed"


# Refusals.


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (
            {"f": condal.Linear(np.ones(5))},
            r"f and X do not fit: .*vectors of length 6.*\(f acts on shape \(5,\)\)",
        ),
        (
            {"f": condal.Linear(np.eye(6))},
            r"f and X do not fit: .*vectors of length 6.*\(f acts on shape \(6, 6\)\)",
        ),
        (
            {"A": condal.Matrix(np.ones((2, 5)))},
            r"A and X do not fit: .*vectors of length 6.*\(A acts on shape \(5,\)\)",
        ),
        (
            {"A": condal.Across(condal.Matrix([1, 2]), condal.Diagonal(1))},
            r"\(A acts on \(shape \(2,\), shape \(1, 1\)\)\)",
        ),
        (
            {"B": condal.Matrix(np.ones((5, 7)))},
            r"B and X do not fit: the map B must act on vectors of length 6.*shape \(7,\)",
        ),
        (
            {"K": condal.Equal([1.0])},
            "A and K do not fit: A makes images of length 2, but K is a set of vectors of length 1",
        ),
        (
            {"g": condal.L1(t=1.0, size=3)},
            "B and g do not fit: B makes images of length 5.* 3",
        ),
        ({"K": None}, "A and K go together"),
        ({"A": None}, "A and K go together"),
        ({"g": None}, r"B and g go together: give both for g\(Bx\), or g alone"),
        ({"g": 0.3}, r"wanted the function g, such as condal.L1\(0.3\); got float"),
        ({"B": np.eye(6)}, "wanted the map B, such as condal.Matrix.*; got ndarray"),
        ({"g": condal.L1}, r"wanted the function g, such as condal.L1\(0.3\); got L1"),
        ({"A": np.eye(3)}, "wanted the map A, such as condal.Diagonal.*got ndarray"),
        ({"K": [1, 1, 1]}, "wanted the set K, such as condal.Equal.*got list"),
        ({"f": np.eye(3)}, "wanted the objective f, such as condal.Linear.*got ndarray"),
        ({"X": 3}, "wanted the domain X, such as condal.Spectrahedron.*got int"),
        ({"A": condal.Equal([1.0]), "K": condal.Diagonal(1)}, "wanted the map A.*got Equal"),
        ({"X": None}, "a problem needs its domain X"),
        ({"maximise": True}, "only a"),
    ],
)
def test_parts_that_do_not_fit_are_refused_by_name(wrong, text):
    with pytest.raises(ProblemError, match=text):
        Problem.of(**{**parts(), **wrong})


def test_matrices_need_a_map_before_g():
    with pytest.raises(ProblemError, match=r"B can be left out only .* pass B=condal.Entries\(n\)"):
        Problem.of(condal.Linear(np.eye(2)), condal.Spectrahedron(2), g=condal.L1(t=1.0, size=4))


def test_an_objective_left_out_needs_a_map():
    with pytest.raises(ProblemError, match=r"f can be left out only where A or B says .* Simplex"):
        Problem.of(X=condal.Simplex(3), g=condal.L1(t=1.0, size=3))


def test_a_problem_made_by_hand_is_checked():
    with pytest.raises(ProblemError, match=r"A and h do not fit: .* length 2, .* length 1"):
        Problem(least_squares(), condal.Simplex(N), parts()["A"], condal.Equal([1.0]))


@pytest.mark.parametrize("rank", [0, -1, 2.5, "two"])
def test_a_rank_is_a_whole_number(rank):
    with pytest.raises(ProblemError, match="rank must be a whole number, at least 1; got"):
        condal.Problem.of(condal.Linear(np.eye(3)), condal.Spectrahedron(3), rank=rank)
    assert condal.Problem.of(condal.Linear(np.eye(3)), condal.Spectrahedron(3), rank=2).rank == 2
