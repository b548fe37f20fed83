"""Domains X: oracles against members and closed forms, proved bounds, diameters, distances."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import nnls

from condal import eigen
from condal.domains import (
    Birkhoff,
    Hull,
    NuclearBall,
    Product,
    Simplex,
    Spectrahedron,
)
from condal.errors import ProblemError
from condal.linalg.gradients import dot, functional
from condal.linalg.points import LowRank, dense
from condal.linalg.rounding import Proof
from condal.linalg.symmetric import Symmetric
from condal.types import Domain, projects
from laws.domains import DOMAINS, of_region
from laws.spectra import is_below_spectrum
from spaces import Matrices, combination, length, random_lowrank, random_symmetric
from truth.regions import Spectral

cases = pytest.mark.parametrize("case", DOMAINS, ids=[case.name for case in DOMAINS])


def gradients(case, seed):
    """Random gradients, and the same scaled, turned round, and with ties."""
    rng = np.random.default_rng(seed)
    for scale in (1.0, -1.0, 1e-9, 1e9):
        yield scaled(case.space.gradient(rng), scale)
    yield scaled(case.space.gradient(rng), 0.0)


def scaled(v, c):
    if isinstance(v, tuple):
        return tuple(scaled(part, c) for part in v)
    return v.scaled(c) if isinstance(v, Symmetric) else c * v


def size_of(case, v):
    """About |v| max|x|: what rounding is measured by."""
    if isinstance(v, tuple):
        parts = case.X.parts
        return sum(_size(part, w) for part, w in zip(parts, v, strict=True))
    return _size(case.X, v)


def _size(X, v):
    if isinstance(v, tuple):
        return sum(_size(part, w) for part, w in zip(X.parts, v, strict=True))
    full = v.to_dense() if isinstance(v, Symmetric) else v
    return X.max_norm * float(np.linalg.norm(full))


@cases
def test_it_is_a_domain(case):
    assert isinstance(case.X, Domain)


@cases
def test_the_oracle_finds_the_minimum(case):
    for v in gradients(case, 0):
        s = case.X.lmo(v)
        assert dot(v, s) <= case.minimum(v) + 1e-10 * size_of(case, v)
        assert dot(v, s) >= case.minimum(v) - 1e-13 * size_of(case, v)


@cases
def test_a_tolerance_is_kept(case):
    for v in gradients(case, 2):
        for part in (1e-8, 1e-6):
            tol = part * size_of(case, v)
            s = case.X.lmo(v, tol)
            assert dot(v, s) <= case.minimum(v) + tol + 1e-12 * size_of(case, v)


@cases
def test_a_guess_changes_nothing_but_the_work(case):
    rng = np.random.default_rng(3)
    for v in gradients(case, 3):
        for guess in [*case.members(rng)[:3], case.X.lmo(v), case.X.lmo(scaled(v, -1.0))]:
            s = case.X.lmo(v, guess=guess)
            assert dot(v, s) <= case.minimum(v) + 1e-10 * size_of(case, v)


@cases
def test_the_oracle_answers_with_members(case):
    for v in gradients(case, 4):
        s = case.X.lmo(v)
        assert case.X.distance(s) <= 1e-13 * case.X.max_norm
        assert length(s) <= case.X.max_norm * (1 + 1e-13)


@cases
def test_the_oracle_leaves_its_arguments_alone_and_repeats_itself(case):
    rng = np.random.default_rng(5)
    v, guess = case.space.gradient(rng), case.members(rng)[0]
    before = _flat(v), length(guess)
    first, second = case.X.lmo(v, 0.0, guess), case.X.lmo(v, 0.0, guess)
    assert length(combination(1.0, first, -1.0, second)) == 0.0
    np.testing.assert_array_equal(_flat(v), before[0])
    assert length(guess) == before[1]


def _flat(v):
    if isinstance(v, tuple):
        return np.concatenate([_flat(part) for part in v])
    return v.to_dense().ravel() if isinstance(v, Symmetric) else v.copy()


@cases
def test_members_are_at_distance_zero_and_within_size(case):
    for x in case.members(np.random.default_rng(6)):
        assert case.X.distance(x) <= 1e-13 * case.X.max_norm
        assert length(x) <= case.X.max_norm * (1 + 1e-13)
    if case.attained:
        assert (
            max(length(x) for x in case.members(np.random.default_rng(6))) >= 0.99 * case.X.max_norm
        )


@cases
def test_diameter_is_the_largest_distance(case):
    members = case.members(np.random.default_rng(7))
    apart = [length(combination(1.0, x, -1.0, y)) for x, y in combinations(members, 2)]
    assert max(apart) <= case.X.diameter * (1 + 1e-13) + 1e-13
    # A product's list of members does not hold every pair of corners.
    if case.attained and len(apart) and not isinstance(case.X, Product):
        assert max(apart) >= 0.99 * case.X.diameter


@cases
@pytest.mark.parametrize("slack", [1e-2, 1e-6])
def test_bounds_are_below_the_minimum_and_near_it(case, slack):
    for seed, v in enumerate(gradients(case, 8)):
        size = size_of(case, v)
        proof = case.X.bound(v, slack=slack * size, failure=1e-6, seed=seed)
        assert proof.value <= case.minimum(v) + 1e-14 * size
        assert proof.value >= case.minimum(v) - 1.2 * slack * size - 1e-11 * size
        assert proof.failure == 0.0
        assert proof.how


@cases
def test_gradients_of_other_spaces_are_refused(case):
    wrong = [np.zeros(99), Symmetric(99), (np.zeros(2),), (Symmetric(1), np.zeros(99))]
    for v in wrong:
        with pytest.raises(ProblemError, match=r"the map A.* must act on "):
            case.X.check(v, "the map A")
    case.X.check(case.space.gradient(np.random.default_rng(0)), "the map A")


# Distances: an upper bound on the true one, which the projection gives.


def nearest(X, x):
    """The projection onto a polytope: over the hull of more and more of its vertices."""
    atoms, p = [], X.lmo(np.zeros(x.size))
    for _ in range(50):
        atoms.append(X.lmo(p - x))
        away = np.array(atoms).T - x[:, None]
        unit = np.abs(away).max() or 1.0
        # The point of least norm in a hull, by way of the cone over it.
        w, _ = nnls(np.vstack([away / unit, np.ones(len(atoms))]), np.append(0.0 * x, 1.0))
        p = x + away @ (w / w.sum())
        if (p - x) @ (p - X.lmo(p - x)) <= 1e-13 * (1 + length(p - x)) * X.max_norm:
            return p
    raise AssertionError("no projection found")


def true_distance(X, x):
    """By the projection, which `test_the_angle_at_a_projection_is_obtuse` proves to be one."""
    if isinstance(X, Product):
        return float(np.linalg.norm([true_distance(p, q) for p, q in zip(X.parts, x, strict=True)]))
    if isinstance(X, Birkhoff) or not projects(X):
        return float(np.linalg.norm(x - nearest(X, x)))
    return length(combination(1.0, x, -1.0, X.project(x)))


@cases
@pytest.mark.parametrize("far", [1e-3, 1.0, 30.0])
def test_distance_is_an_upper_bound(case, far):
    rng = np.random.default_rng(9)
    for x, d in zip(case.members(rng), case.space.points(rng), strict=False):
        y = combination(1.0, x, far * case.X.max_norm, d)
        true = true_distance(case.X, y)
        assert true * (1 - 1e-10) - 1e-13 <= case.X.distance(y) <= 30 * true + 1e-12


# Matrices.


@pytest.mark.parametrize("engine", [eigen.Automatic(), eigen.Lanczos()])
@pytest.mark.parametrize("at_most", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 50])
@pytest.mark.parametrize("smallest", [-2.0, 0.0, 2.0])
def test_the_trace_is_used_only_where_it_pays(smallest, n, at_most, engine):
    case = of_region(Spectral(n, 3.0, at_most, engine=engine))
    V = Symmetric(n, diagonal=smallest + np.arange(n, dtype=float))
    s = case.X.lmo(V)
    used = 0.0 if at_most and smallest >= 0 else 3.0
    if not (at_most and smallest == 0.0):  # else every trace is as good
        assert s.trace == pytest.approx(used, rel=1e-13)
    assert case.X.distance(s) <= 1e-12
    assert dot(V, s) == pytest.approx(smallest * used, abs=1e-12 * n)
    proof = case.X.bound(V, slack=1e-6, failure=1e-6, seed=0)
    assert case.minimum(V) - 2e-6 <= proof.value <= case.minimum(V)


@pytest.mark.parametrize("seed", range(60))
def test_spectral_bounds_are_proved_in_rational_arithmetic(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    V = Matrices(n).gradient(rng).scaled(10.0 ** rng.integers(-12, 13))
    proof = Spectrahedron(n).bound(V, slack=0.0, failure=1e-6, seed=0)
    assert is_below_spectrum(proof.value, V)


def test_distance_of_low_rank_points_agrees_with_their_arrays():
    rng = np.random.default_rng(0)
    X = Spectrahedron(5, 2.0)
    for rank in (0, 1, 3):
        x = random_lowrank(5, rank, rng)
        assert X.distance(x) == pytest.approx(X.distance(dense(x)), rel=1e-12)


# Products.


def test_a_product_shares_tolerance_slack_and_failure():
    asked = []

    class Asked(Simplex):
        def lmo(self, v, tol=0.0, guess=None):
            asked.append(("lmo", tol, guess))
            return super().lmo(v, tol, guess)

        def bound(self, v, *, slack, failure, seed):
            asked.append(("bound", slack, failure, seed))
            return super().bound(v, slack=slack, failure=failure, seed=seed)

    X = Product(Asked(2), Asked(3))
    v = (np.ones(2), np.ones(3))
    X.lmo(v, 0.5, ("first", "second"))
    X.lmo(v)
    X.bound(v, slack=0.2, failure=0.1, seed=5)
    assert asked[:2] == [("lmo", 0.25, "first"), ("lmo", 0.25, "second")]
    assert asked[2:4] == [("lmo", 0.0, None), ("lmo", 0.0, None)]
    assert [row[:3] for row in asked[4:]] == 2 * [("bound", 0.1, 0.05)]
    assert asked[4][3] != asked[5][3]  # each block has a random start of its own


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_of_a_product_is_below_the_exact_sum_of_the_bounds(seed):
    class Bounded(Simplex):
        def bound(self, v, *, slack, failure, seed, enough=np.inf):
            return Proof(float(v[0]), "it is given")

    rng = np.random.default_rng(seed)
    for m in 20 * (2, 3, 30):
        values = rng.standard_normal(m) * 10.0 ** rng.uniform(-3, 3, m)
        values[m // 2] -= values.sum()  # what is left is small, its rounding is not
        parts = Product(*(Bounded(1) for _ in values))
        v = tuple(np.array([value]) for value in values)
        found = parts.bound(v, slack=0.0, failure=0.0, seed=0).value
        exact = sum(Fraction(value) for value in values)
        assert exact - Fraction(1e-13 * float(np.abs(values).sum())) <= Fraction(found) <= exact


# Refused.


def test_the_size_of_a_product_does_not_overflow():
    X = Product(Simplex(2, 3e200), Simplex(2, 4e200))
    assert X.max_norm == pytest.approx(5e200)
    assert X.diameter == pytest.approx(5e200 * 2**0.5)


def test_an_empty_product_is_refused():
    with pytest.raises(ProblemError, match="Product needs at least one domain"):
        Product()


@pytest.mark.parametrize(
    ("X", "v", "text"),
    [
        (
            Simplex(3),
            np.zeros(2),
            r"act on vectors of length 3, as the domain does; got shape \(2,\)",
        ),
        (
            Simplex(3),
            Symmetric(3),
            "must act on vectors of length 3, as the domain does; got matrices",
        ),
        (Spectrahedron(3), np.zeros(3), "symmetric 3 x 3 matrices, .* got a map of vectors"),
        (Spectrahedron(3), Symmetric(4), "symmetric 3 x 3 matrices, .* got one of side 4"),
        (
            Product(Simplex(2)),
            np.zeros(2),
            r"a product of 1 blocks: give a tuple for Linear, or Across",
        ),
        (
            Product(Simplex(2), Simplex(3)),
            (np.zeros(2), np.zeros(2)),
            "f, block 1, must act on vectors",
        ),
    ],
)
def test_check_says_what_was_got(X, v, text):
    with pytest.raises(ProblemError, match=text):
        X.check(v, "f")


projections = pytest.mark.parametrize("at_most", [False, True])


@projections
def test_a_guess_of_a_projection_changes_nothing_but_the_work(at_most):
    X, v = Spectrahedron(90, 3.0, at_most), random_symmetric(90, np.random.default_rng(90))
    exact = dense(X.project(v))
    for guess in (X.project(v), LowRank(np.eye(90)[:, :1], np.array([3.0]))):
        np.testing.assert_allclose(dense(X.project(v, guess)), exact, atol=1e-11)


@projections
def test_a_projection_within_a_tolerance_is_still_a_member(at_most):
    X, rng = Spectrahedron(50, 2.0, at_most), np.random.default_rng(1)
    v = random_symmetric(50, rng)
    exact, tol = dense(X.project(v)), 1e-5 * float(np.linalg.norm(v))
    p = X.project(v, tol=tol)
    assert 0 < np.linalg.norm(dense(p) - exact) <= tol  # in single precision, then
    assert X.distance(p) <= 1e-13
    assert np.array_equal(dense(X.project(v, tol=0.01 * tol)), exact)


def test_what_is_not_finite_has_no_projection():
    with pytest.raises(FloatingPointError, match="holds NaN or infinity"):
        Spectrahedron(2).project(np.array([[1.0, np.nan], [np.nan, 1.0]]))


PROJECTED = [case for case in DOMAINS if projects(case.X)]


@pytest.mark.parametrize("case", PROJECTED, ids=[case.name for case in PROJECTED])
def test_the_angle_at_a_projection_is_obtuse(case):
    """<v - p, x - p> <= 0 for the worst x of X, whatever X is made of; members stay."""
    rng = np.random.default_rng(11)
    for scale in (0.0, 1e-6, 0.3, 30.0, 1e6, 1e12):
        v = combination(
            scale * case.X.max_norm, case.space.points(rng)[0], 0.0, case.members(rng)[0]
        )
        p = case.X.project(v)
        assert case.X.distance(p) <= 1e-13 * case.X.max_norm * (1 + scale)
        away = combination(1.0, p, -1.0, v)
        s = case.X.lmo(functional(away))
        angle = dot(functional(away), p) - dot(functional(away), s)
        assert angle <= 1e-11 * (1 + scale) ** 2 * case.X.max_norm**2
    for x in case.members(rng):
        p = case.X.project(combination(1.0, x, 0.0, x))
        assert length(combination(1.0, p, -1.0, x)) <= 1e-12 * case.X.max_norm


def test_a_product_projects_if_all_of_its_parts_do():
    assert projects(Product(Simplex(2), Product(Spectrahedron(2), NuclearBall(2, 3))))
    X = Product(Simplex(2), Hull(np.eye(2)))
    assert not projects(X)
    with pytest.raises(ProblemError, match="a part of this Product has no projection"):
        X.project((np.zeros(2), np.zeros(2)))
