"""Products of matrices, and of matrices and vectors: their layout in one factor, and solutions."""

import numpy as np
import pytest

import condal
from condal.driver.scaling import normalise
from condal.linalg.gradients import dot
from condal.linalg.points import LowRank, dense
from condal.methods.choice import choices
from condal.methods.lowrank.columns import LowestEigenspace
from condal.methods.lowrank.factored import FactoredLagrangian, surface_of
from condal.methods.lowrank.surfaces import Blocks, Layout, Sphere, UnitRows
from condal.types import spectral_parts
from laws.factors import derivatives_obey_their_law, surface_obeys_its_law
from spaces import random_hermitian, random_symmetric

rng = np.random.default_rng(3)


class Block:
    """A domain, and how to draw its data and a member."""

    def __init__(self, n, trace, at_most=False):
        self.n, self.trace, self.at_most = n, trace, at_most

    def data(self, rng):
        return random_symmetric(self.n, rng)

    def inside(self):
        return np.eye(self.n) * ((0.6 if self.at_most else 1.0) * self.trace / self.n)

    @property
    def X(self):
        return condal.Spectrahedron(self.n, self.trace, self.at_most)

    def map(self, matrices):
        return condal.Inner(matrices)


class Complex(Block):
    def data(self, rng):
        return random_hermitian(self.n, rng)

    @property
    def X(self):
        return condal.Hermitian(self.n, self.trace, self.at_most)


class Vector(Block):
    def data(self, rng):
        return rng.standard_normal(self.n)

    def inside(self):
        return np.full(self.n, self.trace / self.n)

    @property
    def X(self):
        return condal.Simplex(self.n, self.trace)

    def map(self, vectors):
        return condal.Matrix(np.array(vectors))


KINDS = {
    "two": (Block(5, 2.0), Block(4, 1.0)),
    "two, at most": (Block(5, 2.0, True), Block(4, 1.0, True)),
    "mixed traces": (Block(4, 2.0), Block(3, 3.0, True), Block(5, 1.0)),
    "complex and real": (Complex(4, 2.0), Block(4, 1.0, True)),
    "with a simplex": (Block(5, 2.0), Vector(6, 1.0), Complex(3, 1.0, True)),
}


def coupled(blocks, p=4, seed=0):
    """min sum <C_b, x_b>, sum <A_ib, x_b> = b_i, feasible by making."""
    rng = np.random.default_rng(seed)
    C = tuple(block.data(rng) for block in blocks)
    A = [tuple(block.data(rng) for block in blocks) for _ in range(p)]
    inside = [block.inside() for block in blocks]
    b = np.array([sum(np.vdot(a, x).real for a, x in zip(row, inside, strict=True)) for row in A])
    maps = [block.map([row[i] for row in A]) for i, block in enumerate(blocks)]
    return condal.Problem.of(
        f=condal.Linear(C),
        X=condal.Product(*(block.X for block in blocks)),
        A=condal.Across(*maps),
        K=condal.Equal(b),
    )


def test_a_repair_of_the_user_s_sees_the_blocks_as_they_are_shown():
    """The first block of a product is Hermitian, the second a rectangle."""
    H, C = random_hermitian(2, rng), rng.standard_normal((2, 3))
    seen = []

    def repair(x):
        seen.append([np.asarray(part).shape for part in x])
        return x

    problem = condal.Problem.of(
        f=condal.Linear((H, condal.lifted(C))),
        X=condal.Product(condal.Hermitian(2), condal.NuclearBall(2, 3)),
        A=condal.Across(condal.Inner([np.eye(2) + 0j]), condal.Inner([condal.lifted(C)])),
        K=condal.Box([0.5], [0.9]),
        repair=repair,
    )
    result = condal.solve(problem, tol=1e-4)
    assert result.status is condal.Status.SOLVED
    assert seen[-1] == [(2, 2), (2, 3)]
    least = max(-0.5, -float(np.linalg.svd(C, compute_uv=False)[0]))  # <C, x_2> = b - 1 >= -0.5
    assert result.objective == pytest.approx(np.linalg.eigvalsh(H)[0] + least, abs=1e-3)


# Layouts: x = R_b R_b' for each block.


def layout_of(kind):
    problem, _ = normalise(coupled(KINDS[kind]))
    return problem, Layout.of(problem)


LAYOUTS = [kind for kind in KINDS if kind != "with a simplex"]
layouts = pytest.mark.parametrize("kind", LAYOUTS)


@layouts
def test_blocks_lie_one_below_the_other_with_a_row_of_slack_where_the_trace_is_a_bound(kind):
    _, layout = layout_of(kind)
    sides = [2 * b.n if isinstance(b, Complex) else b.n for b in KINDS[kind]]
    extra = [int(b.at_most) for b in KINDS[kind]]
    assert layout.height == sum(sides) + sum(extra)
    places = np.concatenate([np.arange(layout.height)[block.every] for block in layout.blocks])
    np.testing.assert_array_equal(places, np.arange(layout.height))
    assert not layout.alone
    assert not layout.plain


@layouts
def test_products_and_diagonals_are_those_of_the_blocks(kind):
    problem, layout = layout_of(kind)
    R = rng.standard_normal((layout.height, 3))
    V = problem.A.adjoint(rng.standard_normal(problem.A.size))
    x = layout.point(R)
    VR = layout.product(V, R)
    assert float(np.vdot(R, VR)) == pytest.approx(dot(V, x))  # the slack has no gradient
    diagonal = layout.diagonal(V)
    for block, v in zip(layout.blocks, V, strict=True):
        np.testing.assert_allclose(VR[block.rows], v.to_dense() @ R[block.rows], atol=1e-12)
        np.testing.assert_allclose(diagonal[block.rows], np.diag(v.to_dense()), atol=1e-12)
        if block.slack:
            assert diagonal[block.every.stop - 1] == 0.0


@layouts
def test_the_change_along_a_direction_is_that_of_the_point(kind):
    _, layout = layout_of(kind)
    R, D = rng.standard_normal((2, layout.height, 3))
    t = 1e-6
    ahead, behind = layout.point(R + t * D), layout.point(R - t * D)
    for a, b, wanted in zip(ahead, behind, layout.along(R, D), strict=True):
        np.testing.assert_allclose((dense(a) - dense(b)) / (2 * t), dense(wanted), atol=1e-8)


@layouts
def test_factors_give_their_points_back_on_the_surface(kind):
    problem, layout = layout_of(kind)
    surface = surface_of(problem)[0]
    R = surface.on(rng.standard_normal((layout.height, 3)))
    x = layout.point(R)
    for given in (x, tuple(dense(part) for part in x)):
        found = layout.factor(given)
        for a, b in zip(layout.point(found), x, strict=True):
            np.testing.assert_allclose(dense(a), dense(b), atol=1e-12)
        np.testing.assert_allclose(surface.on(found), found, atol=1e-12)
    nothing = tuple(LowRank(np.zeros((len(part.U), 0)), np.zeros(0)) for part in x)
    assert layout.factor(nothing) is None


@layouts
def test_columns_of_a_block_are_zero_elsewhere(kind):
    _, layout = layout_of(kind)
    for block in layout.blocks:
        vectors = rng.standard_normal((block.X.n, 2))
        columns = layout.columns(block, vectors)
        np.testing.assert_array_equal(columns[block.rows], vectors)
        assert np.count_nonzero(columns) == vectors.size


def test_one_matrix_is_laid_out_as_it_is():
    problem = condal.Problem.of(f=condal.Linear(np.eye(3)), X=condal.Spectrahedron(3))
    layout = Layout.of(problem)
    assert layout.plain
    R = rng.standard_normal((3, 2))
    assert layout.height == 3
    np.testing.assert_allclose(dense(layout.point(R)), R @ R.T)
    np.testing.assert_allclose(layout.product(problem.f.M.adjoint(np.ones(1)), R), R)
    bounded = condal.Problem.of(f=condal.Linear(np.eye(3)), X=condal.Spectrahedron(3, 2.0, True))
    layout = Layout.of(bounded)
    assert layout.alone
    assert not layout.plain
    found = layout.factor(0.5 * np.eye(3))
    assert found[3, 0] ** 2 == pytest.approx(0.5)  # what the point leaves of the trace


# The surface of blocks, and the function on it.

SURFACE = Blocks(
    (slice(0, 4), slice(4, 10), slice(10, 13)),
    (Sphere(2.0), UnitRows(np.array([1.0, 0.5, 2.0])), UnitRows(np.array([1.0, 2.0, 3.0]))),
)


def test_a_surface_of_blocks_keeps_what_each_of_them_does():
    R = surface_obeys_its_law(SURFACE, 13)
    assert np.linalg.norm(R[:4]) ** 2 == pytest.approx(2.0)
    np.testing.assert_allclose((R[4:10].reshape(3, 6) ** 2).sum(axis=1), [1.0, 0.5, 2.0])
    np.testing.assert_allclose((R[10:] ** 2).sum(axis=1), [1.0, 2.0, 3.0])


def function(problem, lam=2.0):
    normalised, _ = normalise(problem)
    geometry, rows, layout = surface_of(normalised)
    y = 0.1 * np.random.default_rng(1).standard_normal(normalised.A.size)
    y = normalised.h.dual_point(y)
    return FactoredLagrangian(normalised, geometry, rows is not None, layout, y, lam)


def hermitian_diagonal():
    return condal.Problem.of(
        f=condal.Linear(random_hermitian(4, np.random.default_rng(0))),
        X=condal.Hermitian(4, 4.0),
        A=condal.Diagonal(4, hermitian=True),
        K=condal.Equal(np.ones(4)),
    )


def curved_blocks():
    E = condal.Across(condal.Entries(3), condal.Entries(3))
    X = condal.Product(condal.Spectrahedron(3, 2.0), condal.Spectrahedron(3, 1.0, at_most=True))
    return condal.Problem.of(f=condal.LeastSquares(E, np.arange(9.0)), X=X)


@pytest.mark.parametrize(
    "problem",
    [*(coupled(KINDS[kind]) for kind in LAYOUTS), hermitian_diagonal(), curved_blocks()],
    ids=[*LAYOUTS, "hermitian diagonal", "curved"],
)
def test_derivatives_are_those_of_the_value(problem):
    derivatives_obey_their_law(function(problem))


@layouts
def test_the_bottom_is_below_the_optimum_and_its_vectors_lead_down(kind):
    problem = coupled(KINDS[kind])
    optimum = condal.solve(problem, "interior-point", tol=1e-7).objective
    result = condal.solve(problem, "lowrank", tol=1e-4)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=1e-3)
    normalised, scaling = normalise(problem)
    F = function(problem)
    R = F.geometry.on(np.random.default_rng(4).standard_normal((F.layout.height, 3)))
    place = F.at(R)
    bottom = LowestEigenspace.of(normalised, place, place.w, 1e-3)
    assert bottom.lower <= optimum * scaling.c + 1e-9
    assert bottom.promised > 0
    assert len(bottom.vectors) == F.layout.height
    grown = np.hstack([R, 0.0 * bottom.vectors])
    more = np.hstack([0.0 * R, bottom.vectors])
    values = [F.at(F.geometry.on(grown + t * more)).value for t in (0.0, 0.05)]
    assert values[1] < values[0]


# Which method is chosen.


def names(kind, **options):
    return [c.method.name for c in choices(coupled(KINDS[kind]), **{"tol": 1e-3, **options})]


def test_blocks_of_matrices_are_projected_onto_and_a_simplex_among_them_is_too():
    newton = "interior-point"  # first of all, where f is linear
    assert names("two") == [newton, "primal-dual", "lowrank", "cgal-ls"]
    assert names("complex and real") == [newton, "primal-dual", "lowrank", "cgal-ls"]
    assert names("with a simplex") == [newton, "primal-dual", "cgal-fc", "cgal-ls"]
    assert names("two", free_storage=False) == ["cgal-ls"]
    assert next(choices(curved_blocks(), tol=1e-3)).method.name == "primal-dual"
    assert spectral_parts(coupled(KINDS["with a simplex"]).X) is None
    assert len(spectral_parts(coupled(KINDS["mixed traces"]).X)) == 3
