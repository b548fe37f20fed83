"""The low-rank method: its surfaces, its derivatives, its trust region, and what it proves."""

from dataclasses import replace

import numpy as np
import pytest

import condal
from condal.driver.scaling import normalise
from condal.driver.warm_start import warm_from
from condal.linalg.eigen import lowest
from condal.linalg.lifting import symmetric
from condal.linalg.points import symmetric_product
from condal.methods import LowRankCGAL
from condal.methods.lowrank.factored import (
    FactoredLagrangian,
    first_radius,
    least_scale_of,
    step,
    surface_of,
)
from condal.methods.lowrank.surfaces import Sphere, UnitRows
from condal.methods.state import Warm
from known import DATA, PLANTED, needs_data, random_graph, torus
from laws.factors import derivatives_obey_their_law, surface_obeys_its_law

rng = np.random.default_rng(7)
SURFACES = {
    "sphere": Sphere(3.0),
    "rows": UnitRows(rng.uniform(0.5, 2.0, 6)),
    "rows of two": UnitRows(rng.uniform(0.5, 2.0, 3)),
}
surfaces = pytest.mark.parametrize("surface", SURFACES.values(), ids=SURFACES)


@surfaces
def test_surfaces_keep_what_they_say(surface):
    R = surface_obeys_its_law(surface, 6)
    if isinstance(surface, Sphere):
        assert np.linalg.norm(R) ** 2 == pytest.approx(3.0)
    else:
        rows = R.reshape(surface.squares.size, -1)
        np.testing.assert_allclose((rows**2).sum(axis=1), surface.squares)


def test_a_row_of_zeros_is_put_on_the_surface():
    np.testing.assert_allclose(
        UnitRows(np.array([1.0, 4.0])).on(np.array([[0.0, 0.0], [3.0, 4.0]])),
        [[1.0, 0.0], [1.2, 1.6]],
    )


def test_the_symmetric_product_is_one():
    U, V = rng.standard_normal((2, 5, 3))
    np.testing.assert_allclose(np.asarray(symmetric_product(U, V)), U @ V.T + V @ U.T, atol=1e-13)


FUNCTIONS = {name: make for name, make in PLANTED.items() if name.startswith("sdp")}


def function(problem, lam=2.0):
    normalised, _ = normalise(problem)
    geometry, rows, slack = surface_of(normalised)
    y = 0.1 * np.random.default_rng(1).standard_normal(normalised.A.size)
    y = normalised.h.dual_point(y)
    return FactoredLagrangian(normalised, geometry, rows is not None, slack, y, lam)


def least_squares():
    E = condal.Entries(6)
    x = np.diag([2.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    return condal.Problem.of(f=condal.LeastSquares(E, E(x)), X=condal.Spectrahedron(6, trace=3.0))


@pytest.mark.parametrize(
    "problem",
    [
        *(make().problem for make in FUNCTIONS.values()),
        condal.problems.max_cut(torus(3, 4)).problem,
        least_squares(),
    ],
    ids=[*FUNCTIONS, "max-cut", "least squares"],
)
def test_derivatives_are_those_of_the_value(problem):
    derivatives_obey_their_law(function(problem))


def test_the_trust_region_never_goes_up_and_reaches_a_minimum():
    F = function(condal.problems.max_cut(torus(4, 4)).problem)
    place = F.at(F.geometry.on(np.random.default_rng(0).standard_normal((16, 6))))
    radius = first_radius(place)
    for _ in range(60):
        before = place.value
        moved = step(F, place, radius, 0.0)
        place, radius = moved.point, moved.radius
        assert place.value <= before + 1e-14 * abs(before)
        if moved.stuck:
            break
    assert np.linalg.norm(place.gradient) <= 1e-7


@pytest.mark.parametrize("n", [5, 60, 400])
def test_the_lowest_pairs_are_eigenpairs(n):
    A = np.random.default_rng(n).standard_normal((n, n))
    V = symmetric(A + A.T)
    values, vectors = lowest(V, 4, 1e-9)
    exact = np.linalg.eigvalsh(A + A.T)
    assert values[0] == pytest.approx(exact[0], abs=1e-7)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(vectors.shape[1]), atol=1e-8)
    assert np.all(values >= exact[: values.size] - 1e-9)


def test_repeated_eigenvalues_do_not_repeat_vectors():
    values, vectors = lowest(symmetric(np.diag(np.repeat([0.0, 1.0], 200))), 4, 1e-9)
    assert values[0] == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(vectors.shape[1]), atol=1e-8)


def test_what_is_known_already_does_not_hide_what_is_beside_it():
    """Forty zeros, whose vectors are known, and a little below them a single eigenvalue."""
    n = 400
    Q = np.linalg.qr(np.random.default_rng(3).standard_normal((n, n)))[0]
    spectrum = np.concatenate([np.zeros(40), [-1e-3], np.linspace(0.05, 2.0, n - 41)])
    V = (Q * spectrum) @ Q.T
    values, vectors = lowest(symmetric(0.5 * (V + V.T)), 2, 1e-6, beside=Q[:, :40] * 3.0)
    assert values[0] == pytest.approx(-1e-3, abs=1e-6)
    assert abs(vectors[:, 0] @ Q[:, 40]) == pytest.approx(1.0, abs=1e-2)


def test_vectors_of_a_run_that_does_not_fit_are_those_of_the_part_that_does(monkeypatch):
    monkeypatch.setattr("condal.linalg.eigen.MAX_LOWEST_BYTES", 8 * 300 * 30)
    V = symmetric(np.diag(np.linspace(0.0, 1.0, 300) ** 2))
    values, vectors = lowest(V, 3, 1e-10)
    assert values[0] == pytest.approx(0.0, abs=1e-5)  # of the whole run
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(vectors.shape[1]), atol=1e-8)
    quotients = np.diagonal(vectors.T @ (V @ vectors))
    assert 1e-5 < quotients[0] < 0.01


def test_rank_is_grown_out_of_a_saddle():
    """Begun with one column, a cut: only the oracle's eigenvectors lead on."""
    model = condal.problems.max_cut(random_graph(60, 5))
    result = condal.solve(model, LowRankCGAL(rank=1), tol=1e-6, max_iters=400)
    assert result.status is condal.Status.SOLVED
    assert result.x.rank > 1


def test_rank_is_cut_to_that_of_the_solution():
    known = PLANTED["sdp-equal"]()
    result = condal.solve(known.problem, LowRankCGAL(rank=8), tol=1e-7, max_iters=600)
    assert result.x.rank <= 4
    assert result.objective == pytest.approx(known.optimum, rel=1e-5)


@needs_data
@pytest.mark.parametrize(("name", "optimum"), [("G1", 12083.197655), ("G40", 2864.789553)])
def test_the_gset_to_one_in_a_million(name, optimum):
    model = condal.problems.max_cut(condal.read_graph(DATA / "gset" / f"{name}.txt.xz"))
    result = condal.solve(model, LowRankCGAL(), tol=1e-6)
    assert result.status is condal.Status.SOLVED
    assert result.objective <= optimum * (1 + 1e-9)
    assert result.bound >= optimum * (1 - 1e-9)
    assert result.bound - result.objective <= 1e-6 * optimum


def diagonal_problem(C, b, trace=None, *, at_most=False):
    return condal.Problem.of(
        f=condal.Linear(C),
        X=condal.Spectrahedron(len(b), trace=float(trace or np.sum(b)), at_most=at_most),
        A=condal.Diagonal(len(b)),
        K=condal.Equal(b),
    )


def star(leaves, centres):
    W = np.zeros((leaves + centres,) * 2)
    W[:centres, centres:] = 1.0
    return W + W.T


@pytest.mark.parametrize(
    ("W", "optimum"),
    [
        (star(100, 100), 10_000.0),  # all edges of a bipartite graph can be cut
        (star(300, 3), 900.0),
        (np.pad([[0.0, 1.0], [1.0, 0.0]], (0, 298)), 1.0),
        (1.0 - np.eye(160), 160.0**2 / 4),
    ],
)
def test_spectra_that_trip_lanczos(W, optimum):
    """A few eigenvalues of high multiplicity: the Krylov space is invariant after a few steps."""
    result = condal.solve(condal.problems.max_cut(W), tol=1e-6)
    assert result.method == "lowrank"
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_problems_without_a_repair_are_solved_too(seed):
    """A bound that the oracle makes too good must not hide the good ones."""
    C = condal.problems.max_cut(random_graph(200, 20, seed)).problem.f.M.adjoint(np.ones(1))
    result = condal.solve(diagonal_problem(C, np.ones(200)), tol=1e-6, max_iters=300)
    assert result.method == "lowrank"
    assert result.status is condal.Status.SOLVED


def test_new_columns_are_given_time_to_leave_a_saddle():
    """This graph has a saddle of tiny curvature, beside which gradients say nothing."""
    rng = np.random.default_rng(1)
    upper = np.triu(rng.random((600, 600)) < 0.03, k=1).astype(float)
    for rank in (3, 6, None):
        model = condal.problems.max_cut(upper + upper.T)
        result = condal.solve(model, LowRankCGAL(rank=rank), tol=1e-6, max_iters=400)
        assert result.status is condal.Status.SOLVED
        assert result.x.rank <= 36  # sqrt(2 n) + 2


def test_residuals_are_relative_to_what_a_curved_objective_can_lose():
    """A loose bound on the trace overestimates the range of f, and makes it small when scaled."""
    u, a = rng.standard_normal(40), rng.standard_normal((240, 40))
    for trace in (100.0, 1e4):
        model = condal.problems.phase_retrieval((a @ u) ** 2, a, trace=trace)
        normalised, _ = normalise(model.problem)
        at_zero = normalised.f.value(np.zeros(normalised.f.M.size))
        assert least_scale_of(normalised) <= at_zero
        result = condal.solve(model, LowRankCGAL(), tol=1e-3)
        assert result.status is condal.Status.SOLVED
        assert result.x.rank == 1
        assert model.signal(result).error(u) < 1e-2
    linear, _ = normalise(PLANTED["sdp-equal"]().problem)
    assert least_scale_of(linear) == 1e-3


def test_a_limit_before_the_first_round_ends_has_a_bound():
    model = condal.problems.max_cut(random_graph(300, 6))
    early = condal.solve(model, max_iters=6, tol=1e-6)
    assert early.status is condal.Status.MAX_ITERS
    assert early.gap <= 0.5


def test_a_factor_of_other_data_gets_small_columns_beside_it():
    """A solution of rank 1 may be a saddle point of other data, and its own columns stay there."""
    problem, method = normalise(condal.problems.max_cut(torus(6, 8)).problem)[0], LowRankCGAL()
    warm = Warm(condal.LowRank(np.ones((48, 1)), np.ones(1)), np.zeros(48), 2)
    kept, widened = (method.start(problem, replace(warm, moved=m)).carry.R for m in (False, True))
    np.testing.assert_allclose(np.abs(kept), np.ones((48, 1)))
    assert widened.shape == method.start(problem).carry.R.shape
    cosines = np.abs(widened[:, 0])  # of the rows, with those of x
    assert 0.7 < cosines.min() < 1.0


def test_a_point_of_other_data_is_known_as_one():
    W = random_graph(60, 4, 1)
    problem, other = (condal.problems.max_cut(c * W).problem for c in (1.0, 1.1))
    result = condal.solve(problem, tol=1e-3)
    same, moved = (warm_from(result, p, normalise(p)[1]) for p in (problem, other))
    assert (same.moved, moved.moved) == (False, True)
