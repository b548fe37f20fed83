"""Sweeps over vectors on spheres: both forms, the way back of x and y, descent, known optima."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal.driver.scaling import normalise
from condal.linalg.gradients import add
from condal.linalg.symmetric import Symmetric
from condal.methods import LowRankNewton, SphereSweeps
from condal.methods.choice import choices
from condal.methods.spheres.forms import FixedDiagonal, ZeroEntries, form_of
from condal.methods.spheres.program import VectorProgram, WholePairs, first_rank
from condal.methods.spheres.sweeps import PairSweeps

rng = np.random.default_rng(22)


def weighted(n=30, m=70, seed=3):
    """Theta of a random graph with weights c_i^2."""
    draws = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    chosen = draws.permutation(i.size)[:m]
    c = draws.uniform(0.3, 2.0, n) * draws.choice([-1, 1], n)
    return condal.Problem.of(
        f=condal.Linear(Symmetric(n, pairs=((c, c),))),
        X=condal.Spectrahedron(n, trace=2.5),
        A=condal.Entries(n, i[chosen], j[chosen]),
        K=condal.Equal(np.zeros(m)),
        maximise=True,
    )


def three_cut(n=60, m=240, seed=1):
    graph = nx.gnm_random_graph(n, m, seed=seed)
    return condal.problems.max_k_cut(graph, 3, pairs="edges")


def program(n=25, m=60, centre=0.5, rng=rng):
    i, j = np.triu_indices(n, 1)
    chosen = rng.permutation(i.size)[:m]
    lower = rng.uniform(-0.3, 0.0, m)
    bounds = (np.zeros(m), np.zeros(m)) if centre else (lower, lower + rng.uniform(0, 1, m))
    return VectorProgram(
        n,
        WholePairs(n, i[chosen], j[chosen]),
        np.zeros(m) if centre else rng.standard_normal(m),
        *bounds,
        -rng.uniform(0.5, 1.5, n) if centre else np.zeros(n),
        np.full(n, 0.5) if centre else rng.uniform(0.5, 2.0, n),
        centre,
    )


def augmented(data, R, z, rho):
    """The augmented Lagrangian, up to a constant."""
    a, b = data.pairs.a, data.pairs.b
    p = np.einsum("ij,ij->i", R[a], R[b])
    r = np.clip(p + z / rho, data.lower, data.upper)
    pairs = 2 * data.cost * p + 2 * z * (p - r) + rho * (p - r) ** 2
    return data.linear @ R[:, 0] + pairs.sum()


@pytest.mark.parametrize("centre", [0.5, 0.0])
def test_sweeps_stay_on_the_spheres_and_never_increase_the_augmented_lagrangian(centre):
    data = program(centre=centre)
    sweeps, z = PairSweeps.of(data), rng.standard_normal(60)
    R = sweeps.sorted_rows(data.random(7, 0))
    value = augmented(data, sweeps.unsorted_rows(R), z, 3.0)
    for _ in range(30):
        sweeps.relax(R, z, 3.0, sweeps=1, omega=1.9, curvature=1.0)
        back = sweeps.unsorted_rows(R)
        np.testing.assert_allclose(
            np.linalg.norm(back - centre * np.eye(7)[0], axis=1), data.radius
        )
        lowered = augmented(data, back, z, 3.0)
        assert lowered <= value + 1e-12 * abs(value)
        value = lowered
    a, b = data.pairs.a, data.pairs.b
    np.testing.assert_allclose(sweeps.products(R), np.einsum("ij,ij->i", back[a], back[b]))


@pytest.mark.parametrize("centre", [0.5, 0.0])
def test_at_a_minimum_the_multipliers_of_the_spheres_balance_the_gradient(centre):
    draws = np.random.default_rng(22)
    data = program(centre=centre, rng=draws)
    sweeps, z, rho = PairSweeps.of(data), 0.1 * draws.standard_normal(60), 0.5
    R = sweeps.sorted_rows(data.random(9, 0))
    sweeps.relax(R, z, rho, sweeps=1000, omega=1.5, curvature=1.0)
    back, p = sweeps.unsorted_rows(R), sweeps.products(R)
    w = data.priced(p, z, rho)
    mu = data.multipliers(back, p, w)
    a, b, total = data.pairs.a, data.pairs.b, data.cost + w
    Z = sp.coo_array((total, (a, b)), shape=(data.n, data.n)).toarray()
    gradient = (Z + Z.T) @ back
    gradient[:, 0] += 0.5 * data.linear
    away = back.copy()
    away[:, 0] -= centre
    np.testing.assert_allclose(gradient, -mu[:, None] * away, atol=1e-6)


def test_a_dual_of_the_vectors_proves_the_same_bound_for_the_original_program():
    """[s, -q'; -q, Diag(mu) + Z] psd gives s I + Y - c c' psd, for any such mu and Z."""
    problem = weighted()
    form = form_of(problem)
    assert isinstance(form, ZeroEntries)
    n, a, b = 30, form.program.pairs.a, form.program.pairs.b
    squares = -form.program.linear
    for _ in range(5):
        w = rng.standard_normal(a.size)
        Z = sp.coo_array((w, (a, b)), shape=(n, n)).toarray()
        Z = Z + Z.T
        mu = rng.uniform(0.2, 3.0, n)
        mu += max(0.0, 1e-3 - np.linalg.eigvalsh(np.diag(mu) + Z)[0])
        q = 0.5 * (mu + squares)
        s = q @ np.linalg.solve(np.diag(mu) + Z, q)  # in units of the mean of c^2
        R = np.full((n, 1), s / squares.sum())
        y = form.dual(R, w, mu)
        f = problem.f
        V = add(f.M.adjoint(f.gradient(np.zeros(1))), problem.A.adjoint(y))
        mean = float(form.c @ form.c) / n
        assert np.linalg.eigvalsh(V.to_dense())[0] >= -form.gain * mean * s * (1 + 1e-9)


def test_a_feasible_point_of_the_vectors_has_at_least_their_objective():
    """Vectors of a stable set along e: all of them are e, the others 0."""
    problem = weighted()
    form = form_of(problem)
    chosen, a, b = np.zeros(30, dtype=bool), form.program.pairs.a, form.program.pairs.b
    for i in range(30):
        near = np.concatenate([b[a == i], a[b == i]])
        chosen[i] = not chosen[near].any()
    R = np.zeros((30, 3))
    R[chosen, 0] = 1.0
    x = form.point(R)
    np.testing.assert_array_equal(problem.A(x), 0.0)
    assert x.trace == pytest.approx(problem.X.trace)
    size = problem.X.trace * float(form.c[chosen] @ form.c[chosen])
    assert problem.sense * problem.f.value(problem.f.M(x)) >= size * (1 - 1e-12)


@pytest.mark.parametrize(
    ("graph", "theta"),
    [
        (nx.cycle_graph(5), np.sqrt(5)),
        (nx.petersen_graph(), 4.0),
        (nx.star_graph(9), 9.0),
        (nx.complete_graph(4), 1.0),
    ],
)
def test_known_values_of_theta(graph, theta):
    result = condal.solve(condal.problems.theta(graph), SphereSweeps(), tol=1e-5)
    assert result.status is condal.Status.SOLVED
    assert result.bound >= theta - 1e-9
    assert result.objective == pytest.approx(theta, rel=2e-5)


@pytest.mark.parametrize("problem", [weighted(), three_cut().problem], ids=["weighted", "3-cut"])
def test_it_agrees_with_the_interior_point_method(problem):
    result = condal.solve(problem, SphereSweeps(), tol=1e-3)
    assert result.status is condal.Status.SOLVED
    exact = condal.solve(problem, "interior-point", tol=1e-7)
    assert result.objective == pytest.approx(exact.objective, rel=2e-3)
    assert result.bound >= exact.objective - 1e-6


def test_a_warm_start_begins_near_the_solution():
    problem, _ = normalise(three_cut().problem)
    theta, _ = normalise(weighted())
    for normalised in (problem, theta):
        exact = condal.solve(normalised, "interior-point", tol=1e-8)
        form = form_of(normalised)
        R = form.vectors(exact.x)
        image = normalised.A(form.point(R.copy()))
        np.testing.assert_allclose(image, normalised.A(exact.x), atol=1e-3)
        z = form.pair_multipliers(exact.x, exact.y)
        a, b = form.program.pairs.a, form.program.pairs.b
        mu = form.program.multipliers(R, np.einsum("ij,ij->i", R[a], R[b]), z)
        y, f = form.dual(R, z, mu), normalised.f
        V = add(f.M.adjoint(f.gradient(np.zeros(1))), normalised.A.adjoint(y))
        least = normalised.X.trace * np.linalg.eigvalsh(V.to_dense())[0]
        bound = f.value(np.zeros(1)) + least - normalised.h.conjugate(y)
        assert bound == pytest.approx(normalised.sense * exact.objective, rel=2e-2)


def test_the_two_forms_are_recognised_and_no_others():
    assert isinstance(form_of(three_cut().problem), FixedDiagonal)
    assert isinstance(form_of(condal.problems.theta(nx.path_graph(4)).problem), ZeroEntries)
    assert form_of(condal.problems.theta(nx.path_graph(4), theta_plus=True).problem) is None
    at_most = replace(weighted(), X=condal.Spectrahedron(30, 2.5, at_most=True))
    assert form_of(at_most) is None
    assert form_of(replace(weighted(), h=condal.Equal(np.ones(70)))) is None


def test_large_graphs_go_to_sweeps_at_loose_tolerances():
    graph = sp.random(4000, 4000, 6e-4, random_state=0)
    problem = condal.problems.theta(graph + graph.T).problem
    first = next(iter(choices(problem, tol=1e-3)))
    assert first.method == SphereSweeps(aim=1e-3)
    assert isinstance(next(iter(choices(problem, tol=1e-5))).method, LowRankNewton)


def test_the_default_method_proves_theta_of_a_large_graph():
    graph = sp.random(4000, 4000, 5e-4, random_state=0)
    model = condal.problems.theta(graph + graph.T)
    result = condal.solve(model, tol=1e-2)
    assert result.status is condal.Status.SOLVED
    assert result.method == "spheres"
    assert max(result.gap, result.infeasibility, result.certificate.price) <= 1e-2
    stable = model.round(result, trials=1)
    assert model.is_stable(stable.vertices)
    assert 0.9 * result.objective <= stable.size <= result.bound


def test_the_rank_grows_with_n_and_with_the_accuracy():
    assert first_rank(10**5, None, 1e-3) > first_rank(10**4, None, 1e-3)
    assert first_rank(10**5, None, 1e-3) > first_rank(10**5, None, 1e-2)
    assert first_rank(4, None, None) == 5
    assert first_rank(10**5, 7, 1e-3) == 7
