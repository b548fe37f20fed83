"""Domains of vectors: exact bounds in rational numbers, projections, larger instances, faults."""

from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog

from condal.domains import (
    Birkhoff,
    Box,
    FlowPolytope,
    GroupL1Ball,
    Hull,
    KSparse,
    L1Ball,
    L2Ball,
    LinfBall,
    Permutahedron,
    Polytope,
    Simplex,
    Simplices,
)
from condal.errors import ProblemError
from condal.linalg.gradients import dot
from condal.storage import Dense, Factored, require_fit
from laws.domains import DOMAINS, grid_edges
from spaces import Vectors

FLAT = [case for case in DOMAINS if isinstance(case.space, Vectors)]
ROUND = [case for case in FLAT if hasattr(case.X, "project")]
flat = pytest.mark.parametrize("case", FLAT, ids=[case.name for case in FLAT])
projected = pytest.mark.parametrize("case", ROUND, ids=[case.name for case in ROUND])


def proved(X, v):
    return X.bound(v, slack=0.0, failure=0.0, seed=0).value


# Bounds, against the minimum in rational numbers: not one rounding may be forgotten.

NUMBERS = st.floats(-1e9, 1e9)
SIZES = st.floats(1e-3, 1e3)
DIAMOND = ([0, 0, 1, 2, 1], [1, 2, 3, 3, 2])


def product_of(v, x):
    return sum((Fraction(a) * Fraction(b) for a, b in zip(v.tolist(), x, strict=True)), Fraction(0))


def least(v, vertices):
    return min(product_of(v, x) for x in vertices)


def is_below(X, v, exact):
    value = proved(X, v)
    assert Fraction(value) <= exact
    assert value == pytest.approx(
        float(exact), rel=1e-12, abs=1e-300 + 1e-13 * X.max_norm * np.abs(v).max()
    )


@given(arrays(np.float64, 4, elements=NUMBERS), arrays(np.float64, 4, elements=NUMBERS), SIZES)
def test_sums_of_products_are_bounded_without_rounding(v, a, radius):
    low, high = np.minimum(a, a[::-1]), np.maximum(a, a[::-1])
    is_below(Box(low, high), v, least(v, product(*zip(low.tolist(), high.tolist(), strict=True))))
    is_below(LinfBall(4, radius), v, least(v, product([-radius, radius], repeat=4)))
    units = (radius * np.eye(4)).tolist()
    is_below(Simplex(4, radius), v, least(v, units))
    is_below(L1Ball(4, radius), v, least(v, [*units, *(-radius * np.eye(4)).tolist()]))
    is_below(Permutahedron(a), v, least(v, permutations(a.tolist())))
    rows = np.vstack([a, a[::-1], np.roll(a, 1)])
    is_below(Hull(rows), v, least(v, rows.tolist()))
    pairs = [
        [signs[places.index(i)] if i in places else 0.0 for i in range(4)]
        for places in combinations(range(4), 2)
        for signs in product([-radius, radius], repeat=2)
    ]
    is_below(KSparse(4, 2, radius), v, least(v, pairs))


@given(arrays(np.float64, 3, elements=NUMBERS), SIZES)
def test_norms_are_bounded_without_rounding(v, radius):
    for X, places in (
        (L2Ball(3, radius), [[0, 1, 2]]),
        (GroupL1Ball([7, 2, 7], radius), [[0, 2], [1]]),
    ):
        value = Fraction(proved(X, v))
        square = max(sum(Fraction(v[i]) ** 2 for i in place) for place in places)
        assert value <= 0
        assert (value / Fraction(radius)) ** 2 >= square
        assert float(value) == pytest.approx(dot(v, X.lmo(v)), rel=1e-13, abs=1e-300)


@given(arrays(np.float64, 9, elements=NUMBERS))
def test_assignments_are_bounded_without_rounding(v):
    vertices = [np.eye(3)[list(order)].ravel().tolist() for order in permutations(range(3))]
    is_below(Birkhoff(3), v, least(v, vertices))


@given(arrays(np.float64, 5, elements=NUMBERS))
def test_paths_are_bounded_without_rounding(v):
    paths = [[1.0, 0, 1, 0, 0], [0, 1.0, 0, 1, 0], [1.0, 0, 0, 1, 1]]
    is_below(FlowPolytope(*DIAMOND, source=0, sink=3), v, least(v, paths))


def test_numbers_that_vanish_in_rounding_are_not_forgotten():
    tiny = np.array([5e-324])
    for X in (Box([-1e-3], [1e-3]), L1Ball(1, 1e-3), L2Ball(1, 1e-3), Hull([[-1e-3], [1e-3]])):
        assert Fraction(proved(X, tiny)) <= -Fraction(1e-3) * Fraction(5e-324)
    chain = FlowPolytope([0, 1, 2], [1, 2, 3], source=0, sink=3)
    assert proved(chain, np.array([-1.0, 1e16, -1e16])) <= -1.0


TRIANGLE = Polytope([[1.0, 1.0]], [3.0], low=[0.0, -1.0])


@settings(max_examples=40)
@given(arrays(np.float64, 2, elements=NUMBERS))
def test_linear_programs_are_bounded_without_rounding(v):
    value = proved(TRIANGLE, v)
    exact = least(v, [(0.0, -1.0), (4.0, -1.0), (0.0, 3.0)])
    assert Fraction(value) <= exact
    assert value == pytest.approx(float(exact), abs=1e-8 * (1e-300 + np.abs(v).max()))


def test_bounds_hold_whatever_the_scale():
    rng = np.random.default_rng(0)
    for case in FLAT:
        v = case.space.gradient(rng)
        for scale in (1e-200, 1e-60, 1e60, 1e150):
            value = proved(case.X, scale * v) / scale
            assert value <= case.minimum(v) + 1e-13 * np.abs(v).sum() * case.X.max_norm
            assert value >= case.minimum(v) - 1e-8 * np.abs(v).sum() * case.X.max_norm
            assert dot(v, case.X.lmo(scale * v)) <= value + 1e-8 * np.abs(v).sum() * case.X.max_norm


# Projections.


@pytest.mark.parametrize("side", [12, 40])
@pytest.mark.parametrize("scale", [1e-3, 0.3, 5.0, 1e4])
def test_doubly_stochastic_matrices_are_projected_onto_whatever_the_scale(side, scale):
    X, rng = Birkhoff(side), np.random.default_rng(side)
    for v in (scale * rng.standard_normal(X.n), scale * rng.integers(0, 2, X.n)):
        p = X.project(v)
        assert X.distance(p) <= 1e-13
        assert (v - p) @ (X.lmo(p - v) - p) <= 1e-11 * side * (1 + scale)


@projected
def test_only_finite_vectors_of_the_right_length_have_projections(case):
    v = np.zeros(case.X.n)
    v[-1] = np.nan
    with pytest.raises(FloatingPointError, match="the vector to project holds NaN or infinity"):
        case.X.project(v)
    with pytest.raises(ProblemError, match=r"must be a vector of length \d+, as those of .* \(99,"):
        case.X.project(np.zeros(99))


# Oracles: ties, and larger instances against other solvers.


@flat
def test_ties_are_safe(case):
    for v in (np.zeros(case.X.n), np.ones(case.X.n), -np.ones(case.X.n)):
        s = case.X.lmo(v)
        assert case.X.distance(s) <= 1e-13 * case.X.max_norm
        assert dot(v, s) == pytest.approx(case.minimum(v), abs=1e-12 * case.X.max_norm * case.X.n)


def programmed(v, X):
    """min <v, x> over a polytope that is given as inequalities."""
    if isinstance(X, Birkhoff):
        ones, eye = np.ones((1, X.side)), sp.identity(X.side)
        E = sp.vstack([sp.kron(eye, ones), sp.kron(ones, eye)])
        found = linprog(v, A_eq=E, b_eq=np.ones(2 * X.side), bounds=(0, None))
    elif isinstance(X, KSparse):
        total = np.ones((1, 2 * X.n))
        sides = np.concatenate([v, -v])
        found = linprog(sides, A_ub=total, b_ub=[X.k * X.radius], bounds=(0, X.radius))
    else:
        edges = np.arange(X.n)
        count = 1 + max(X.tails.max(), X.heads.max())
        E = sp.coo_array((np.ones(X.n), (X.tails, edges)), shape=(count, X.n))
        E = sp.csr_array(E - sp.coo_array((np.ones(X.n), (X.heads, edges)), shape=(count, X.n)))
        supply = (np.arange(count) == X.source) * 1.0 - (np.arange(count) == X.sink)
        found = linprog(v, A_eq=E, b_eq=supply, bounds=(0, None))
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize(
    "X",
    [
        Birkhoff(15),
        KSparse(40, 11, 0.5),
        FlowPolytope(*zip(*grid_edges(12, 17), strict=True), source=0, sink=203),
    ],
    ids=str,
)
def test_larger_oracles_and_bounds_agree_with_a_linear_program(X):
    rng = np.random.default_rng(4)
    for _ in range(3):
        v = rng.standard_normal(X.n)
        best = programmed(v, X)
        assert dot(v, X.lmo(v)) == pytest.approx(best, rel=1e-9)
        assert best - 1e-8 <= proved(X, v) <= best + 1e-9


def test_a_polytope_of_many_rows_agrees_with_its_dual():
    rng = np.random.default_rng(6)
    G = sp.csr_array(sp.random(60, 25, 0.3, random_state=7))
    X = Polytope(G, G @ np.ones(25) + rng.random(60), low=-2.0, high=3.0)
    for _ in range(3):
        v = rng.standard_normal(25)
        s = X.lmo(v)
        assert X.distance(s) <= 1e-9
        assert dot(v, s) - 1e-8 <= proved(X, v) <= dot(v, s) + 1e-9


def test_a_small_polytope_is_not_taken_for_rounding():
    X = Polytope(1e-12 * np.ones((1, 2)), [1e-24], low=0.0, high=1e-12)
    s = X.lmo(np.array([-1.0, -2.0]))
    np.testing.assert_allclose(s, [0.0, 1e-12], atol=1e-20)
    assert X.distance(np.array([1e-12, 1e-12])) == pytest.approx(1e-12, rel=0.5)


def test_bounds_that_are_found_are_proved():
    X = Polytope([[1.0, 1.0], [-1.0, 1.0], [0.0, -1.0]], [1.0, 1.0, 0.0])
    assert X.diameter == pytest.approx(np.sqrt(5), rel=1e-9)  # of the box [-1, 1] x [0, 1]
    assert X.max_norm == pytest.approx(np.sqrt(2), rel=1e-9)
    assert X.diameter >= np.sqrt(5)


def test_the_diameter_of_many_vertices_is_bounded_by_their_mean(monkeypatch):
    V = np.random.default_rng(8).standard_normal((50, 3))
    exact = Hull(V).diameter
    monkeypatch.setattr("condal.domains.polytopes.MAX_VERTICES_PAIRED", 10)
    assert exact <= Hull(V).diameter <= 2 * exact
    monkeypatch.setattr("condal.domains.polytopes.BLOCK_ROWS", 7)
    monkeypatch.setattr("condal.domains.polytopes.MAX_VERTICES_PAIRED", 100)
    assert Hull(V).diameter == pytest.approx(exact, rel=1e-15)


def test_a_hull_falls_back_on_its_vertices(monkeypatch):
    def fails(*_):
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr("scipy.optimize.nnls", fails)
    X = Hull([[0.0, 0.0], [2.0, 0.0]])
    assert X.distance(np.array([0.5, 0.0])) == 0.5
    assert X.distance(np.array([2.0, 0.0])) == 0.0


# Faults.


@flat
def test_points_of_other_spaces_are_refused(case):
    with pytest.raises(
        ProblemError, match=r"x must be a vector of length \d+, as those of \w+ are"
    ):
        case.X.distance(np.zeros(99))
    with pytest.raises(ProblemError, match="does not fit the domain"):
        require_fit(Factored(case.X.n), case.X)
    require_fit(Dense(), case.X)


@pytest.mark.parametrize(
    "X", [Birkhoff(2), TRIANGLE, FlowPolytope(*DIAMOND, source=0, sink=3)], ids=str
)
def test_an_oracle_that_calls_another_program_names_what_is_not_finite(X):
    v = np.zeros(X.n)
    v[0] = np.inf
    for call in (X.lmo, lambda v: proved(X, v)):
        with pytest.raises(FloatingPointError, match="the gradient holds NaN or infinity"):
            call(v)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: L2Ball(3, centre=[1.0]), "centre must have n = 3 entries; got 1"),
        (lambda: Box([0.0], [np.inf]), "high has the value inf at index 0"),
        (lambda: Box([0.0], [1.0, 2.0]), "low has length 1, high has 2"),
        (lambda: Box([], []), "low has length 0, high has 0"),
        (lambda: GroupL1Ball([0.5, 1.0]), "groups must be a whole number for each entry"),
        (lambda: GroupL1Ball([]), r"groups must be .* of shape \(0,\)"),
        (lambda: KSparse(3, 4), "k must be at most n = 3; got 4"),
        (lambda: Permutahedron([]), "vector must have at least one entry"),
        (lambda: Permutahedron([[1.0]]), r"vector must have 1 dimension; got shape \(1, 1\)"),
        (lambda: Simplices([]), "sizes must be whole numbers, at least 1"),
        (lambda: Hull(np.zeros((0, 3))), r"vertices must be rows .* got shape \(0, 3\)"),
        (lambda: Hull([1.0, 2.0]), r"vertices must have 2 dimensions; got shape \(2,\)"),
        (lambda: Polytope(), "must have one number of entries; got none"),
        (lambda: Polytope(np.eye(2), [1, 1], low=[0.0] * 3), "got G for 2, low for 3"),
        (lambda: Polytope(np.eye(2)), "G and h go together: give both, or neither"),
        (lambda: Polytope(E=np.eye(2), e=[1.0]), "E has 2 rows and e has 1 entries"),
        (
            lambda: Polytope([[1.0, 1.0]], [-1.0], low=0.0),
            r"the Polytope is empty: .* has no point, as HiGHS proves; relax a bound",
        ),
        (
            lambda: Polytope([[1.0, 1.0]], [1.0], low=[0.0, -np.inf]),
            r"must be bounded: x\[1\] can fall without end, .* give low\[1\]",
        ),
        (
            lambda: Polytope([[-1.0]], [1.0]),
            r"must be bounded: x\[0\] can grow without end, .* give high\[0\]",
        ),
        (
            lambda: FlowPolytope([0, 1, 2], [1, 2, 1], source=0, sink=2),
            "the graph has a cycle, which leads to vertex 1: a flow could circulate in it",
        ),
        (lambda: FlowPolytope([0], [0], source=0, sink=1), "the graph has a cycle"),
        (
            lambda: FlowPolytope([0, 2], [1, 1], source=0, sink=2),
            "no path leads from source 0 to sink 2",
        ),
        (lambda: FlowPolytope([0], [1], source=0, sink=0), "no path leads from source 0 to sink 0"),
        (lambda: FlowPolytope([0], [1], source=0, sink=9), "no path leads from source 0 to sink 9"),
        (
            lambda: FlowPolytope([0], [1, 2], source=0, sink=1),
            "tails has 1 entries and heads has 2",
        ),
        (lambda: FlowPolytope([0], [1], source=-1, sink=1), "source must be a whole number"),
    ],
)
def test_what_makes_no_domain_is_refused(make, text):
    with pytest.raises(ProblemError, match=text):
        make()


def test_the_callers_arrays_are_their_own():
    low, high = np.zeros(2), np.ones(2)
    X = Box(low, high)
    low[:] = 7.0
    np.testing.assert_array_equal(X.lmo(np.ones(2)), [0.0, 0.0])
    V = np.eye(2)
    Y = Hull(V)
    Y.lmo(np.array([-1.0, 0.0]))[:] = 9.0
    V[:] = 9.0
    np.testing.assert_array_equal(Y.lmo(np.array([-1.0, 0.0])), [1.0, 0.0])
    centre = np.zeros(2)
    ball = L2Ball(2, centre=centre)
    ball.lmo(np.zeros(2))[:] = 5.0
    np.testing.assert_array_equal(ball.lmo(np.zeros(2)), [0.0, 0.0])


def test_simplex_and_l1_ball_are_told_by_name_and_size():
    texts = [repr(X) for X in (Simplex(3), L1Ball(2, 5.0), KSparse(4, 2), Birkhoff(3), LinfBall(2))]
    assert texts == [
        "Simplex(n=3, radius=1.0)",
        "L1Ball(n=2, radius=5.0)",
        "KSparse(n=4, k=2, radius=1.0)",
        "Birkhoff(3)",
        "LinfBall(2, 1)",
    ]
