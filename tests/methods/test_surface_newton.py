"""Laws of Newton's method on the surface A(R R') = b, and known optima."""

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal import Status
from condal.driver.scaling import normalise
from condal.linalg.gradients import SquareRows
from condal.linalg.sparse import diagonal_matrix
from condal.methods import LowRankNewton
from condal.methods.faces import Face
from condal.methods.surface import gram as gram_module
from condal.methods.surface import newton
from condal.methods.surface.equations import cost_of, equations
from condal.methods.surface.manifold import Relaxation, Surface
from condal.methods.surface.newton import SurfacePoint, newton_step
from condal.methods.surface.oracle import regularised
from condal.methods.surface.rows import SurfaceRows
from condal.problems.conic.files import read_sdpa
from condal.problems.conic.modelling import conic_model
from known import PLANTED, needs_data, random_graph
from locations import DATA
from sparse_matrices import identity, random_sparse


def partition(W) -> condal.Problem:
    """Graph partition: min <L, x>, diag x = 1, 1'x1 = 0."""
    n = W.shape[0]
    laplacian = diagonal_matrix(np.asarray(W.sum(axis=1)).ravel()) - W
    A = condal.Stack(condal.Diagonal(n), condal.Inner([np.ones((n, n))]))
    return condal.Problem.of(
        f=condal.Linear(sp.csr_array(laplacian)),
        X=condal.Spectrahedron(n, n),
        A=A,
        K=condal.Equal(np.append(np.ones(n), 0.0)),
    )


def problem_of(kind: str) -> condal.Problem:
    """A normalised problem: theta, dense rows, a wide row, bounds, 1'x1 = 0, or a bounded trace."""
    rng = np.random.default_rng(0)
    if kind == "theta":
        problem = condal.problems.theta(random_graph(30, 4.0, seed=1)).problem
    elif kind == "bounds":
        problem = condal.problems.max_k_cut(random_graph(25, 4.0, seed=1), 3).problem
    elif kind == "partition":
        problem = partition(random_graph(30, 4.0, seed=1))
    elif kind == "halves":
        problem = condal.problems.bisection(random_graph(40, 4.0, seed=1)).problem
    elif kind == "balanced":
        problem = condal.problems.bisection(random_graph(40, 4.0), imbalance=6).problem
    elif kind == "box":
        problem = PLANTED["sdp-box"]().problem
    elif kind == "at most":
        problem = PLANTED["sdp-at-most"]().problem
    else:
        n = 25
        matrices = [random_sparse(rng, (n, n), 0.02) for _ in range(12)]
        matrices.append(identity(n) if kind == "wide" else sp.csr_array((n, n)))
        rows = [sp.csr_array(0.5 * (G + G.T)) for G in matrices if G.nnz]
        R = rng.standard_normal((n, 4))
        A = condal.Inner(rows)
        C = rng.standard_normal((n, n))
        problem = condal.Problem.of(
            f=condal.Linear(C + C.T),
            X=condal.Spectrahedron(n, trace=float(np.vdot(R, R))),
            A=A,
            K=condal.Equal(A(R @ R.T)),
        )
    return normalise(problem)[0]


KINDS = ["theta", "sparse", "wide", "at most", "bounds", "box", "partition", "halves", "balanced"]


@pytest.fixture(params=[*KINDS, "relaxed theta", "relaxed wide", "relaxed bounds"])
def surface(request) -> Surface:
    problem = problem_of(request.param.removeprefix("relaxed "))
    rows = SurfaceRows.of(problem)
    assert rows is not None
    assert rows.coupling.solvable
    relaxation = None
    if request.param.startswith("relaxed"):
        anchor = 0.1 * np.random.default_rng(5).standard_normal(rows.b.size)
        relaxation = Relaxation(0.05, anchor, 1e-3)
    return Surface(rows, cost_of(problem), relaxation)


def on(surface: Surface, rank: int = 9) -> SurfacePoint:
    """A point of the surface."""
    R = np.random.default_rng(3).standard_normal((surface.rows.n, rank))
    with_slacks = surface.rows.with_slacks(R / np.linalg.norm(R))
    slacks = surface.rows.slacks(with_slacks)
    moved = surface.retracted(surface.joined(with_slacks[: surface.rows.n], slacks))
    assert moved is not None
    return SurfacePoint(surface, moved, np.zeros(surface.rows.b.size))


def direction(surface: Surface, R: np.ndarray, seed: int = 0) -> np.ndarray:
    """A random vector of the space."""
    D = np.random.default_rng(seed).standard_normal(R.shape)
    surface.rows.restrict(D)
    return D


def jacobian(surface: Surface, R: np.ndarray) -> np.ndarray:
    units = np.eye(R.size).reshape(-1, *R.shape)
    for unit in units:
        surface.rows.restrict(unit)
    return np.array([surface.along(R, unit) for unit in units]).T


def test_images_are_those_of_the_maps():
    problem = problem_of("at most")
    rows = SurfaceRows.of(problem)
    R = np.random.default_rng(0).standard_normal((rows.n, 3))
    x, vector = problem.X.trace * R @ R.T, rows.joined(R, np.array([2.0]))
    assert np.allclose(rows.values(vector)[:-1], problem.A(x), atol=1e-12)
    assert rows.values(vector)[-1] == pytest.approx(np.vdot(R, R) + 4.0)
    y = np.random.default_rng(1).standard_normal(rows.size)
    adjoint = problem.X.trace * problem.A.adjoint(y).to_dense()
    assert np.allclose(rows.adjoint(y).toarray(), adjoint, atol=1e-12)


def test_a_dense_row_of_rank_one_is_a_vector():
    problem = problem_of("balanced")
    rows = SurfaceRows.of(problem)
    assert rows.matrix.nnz == rows.n
    assert rows.squares.size == 2  # a lower and an upper bound
    R = np.random.default_rng(0).standard_normal((rows.n, 3))
    x = problem.X.trace * R @ R.T
    vector = rows.joined(R, np.zeros(rows.bounded.size))
    assert np.allclose(rows.values(vector), problem.A(x)[rows.origin], atol=1e-12)
    y = np.random.default_rng(1).standard_normal(rows.size)
    adjoint = problem.X.trace * problem.A.adjoint(rows.folded(y)).to_dense()
    assert np.allclose(rows.adjoint(y) @ R, adjoint @ R, atol=1e-12)


@pytest.mark.parametrize("damping", [0.0, 1e-6])
def test_elimination_solves_what_a_spectral_decomposition_does(damping, monkeypatch):
    """Where the narrow rows share no row of x, and R is orthogonal to a null vector."""
    rows = SurfaceRows.of(problem_of("halves"))
    surface = Surface(rows, cost_of(problem_of("halves")))
    R = on(surface).R
    z = np.random.default_rng(0).standard_normal(rows.b.size)
    known = gram_module.Gram(rows, R).solve(z, 1e-13, damping)
    monkeypatch.setattr(gram_module, "MAX_DENSE_ROWS", 0)
    gram = gram_module.Gram(rows, R)
    assert np.allclose(gram.solve(z, 1e-13, damping), known, rtol=1e-9)
    assert gram.steps == 0


def test_the_jacobian_is_the_derivative_and_has_its_adjoint(surface):
    rng, point = np.random.default_rng(0), on(surface)
    D = direction(surface, point.R)
    slope = surface.residual(point.R + 1e-6 * D) - surface.residual(point.R - 1e-6 * D)
    assert np.allclose(slope / 2e-6, surface.along(point.R, D), atol=1e-7)
    u = rng.standard_normal(surface.rows.b.size)
    adjoint = 2 * surface.adjoint_product(u, point.R)
    assert u @ surface.along(point.R, D) == pytest.approx(np.vdot(adjoint, D))


def test_gram_solves_the_dense_equations(surface):
    point = on(surface)
    J = jacobian(surface, point.R)
    z = J @ np.random.default_rng(0).standard_normal(J.shape[1])
    gram = surface.gram(point.R)
    narrow = surface.rows.coupling.narrow
    whole = gram.matrix.toarray() - gram._removed @ gram._removed.T
    assert np.allclose(whole, (J @ J.T)[np.ix_(narrow, narrow)], atol=1e-13)
    u = gram.solve(z, 1e-13)
    assert np.allclose(J @ (J.T @ u), z, atol=1e-9 * np.linalg.norm(z))
    assert not gram.failed


@pytest.mark.parametrize("max_dense", [0, 200])
def test_a_border_is_eliminated_at_any_damping_also_off_the_surface(
    surface, max_dense, monkeypatch
):
    monkeypatch.setattr(gram_module, "MAX_DENSE_ROWS", max_dense)
    R = on(surface).R + 0.02 * direction(surface, on(surface).R)
    J, gram, narrow = jacobian(surface, R), surface.gram(R), surface.rows.coupling.narrow
    for damping in (1e-3, 1e-2):
        z = J @ np.random.default_rng(0).standard_normal(J.shape[1])
        u = gram.solve(z, 1e-13, damping)
        image = J @ (J.T @ u)
        image[narrow] += damping * gram.diagonal.max() * u[narrow]
        assert np.allclose(image, z, atol=1e-8 * np.linalg.norm(z))


def test_a_column_that_vanishes_on_the_surface_takes_no_steps(monkeypatch):
    """<A_i R, R> = b_i = 0 for the rows of theta, on the surface: the trace is no border there."""
    monkeypatch.setattr(gram_module, "MAX_DENSE_ROWS", 0)
    problem = problem_of("theta")
    surface = Surface(SurfaceRows.of(problem), cost_of(problem))
    gram = surface.gram(on(surface).R)
    z = np.zeros(surface.rows.b.size)
    z[-1] = 1.0
    assert gram.solve(z, 1e-9)[-1] == pytest.approx(0.25)
    assert gram.steps == 0


def test_the_projection_is_idempotent_and_tangent(surface):
    point = on(surface)
    V = direction(surface, point.R)
    P = point.tangent(V, 1e-13)
    assert np.allclose(point.tangent(P, 1e-13), P, atol=1e-9)
    assert np.allclose(surface.along(point.R, P), 0.0, atol=1e-9)
    assert np.vdot(V - P, P) == pytest.approx(0.0, abs=1e-8)


def test_the_multiplier_is_that_of_least_squares(surface):
    point = on(surface)
    J = jacobian(surface, point.R)
    wanted = np.linalg.lstsq(J.T, 2 * surface.half_gradient(point.R).ravel(), rcond=None)[0]
    scale = np.abs(wanted).max()
    assert np.allclose(point.multiplier, wanted, atol=1e-4 * scale)
    far = SurfacePoint(surface, point.R, 10 * np.ones(wanted.size))
    assert np.allclose(far.multiplier, wanted, atol=1e-3 * max(scale, 10))


def test_a_regularised_multiplier_is_that_of_damped_least_squares(surface, monkeypatch):
    monkeypatch.setattr(newton, "REGULARISED_TOL", 1e-13)
    point, damping = on(surface), 1e-2
    J, narrow = jacobian(surface, point.R), surface.rows.coupling.narrow
    y = point.regularised(damping)
    image = J @ (J.T @ y)
    image[narrow] += damping * point.gram.diagonal.max() * y[narrow]
    wanted = J @ (2 * surface.half_gradient(point.R).ravel())
    assert np.allclose(image, wanted, atol=1e-8 * np.linalg.norm(wanted))


@pytest.mark.parametrize("kind", ["theta", "sparse", "bounds", "halves"])
@pytest.mark.parametrize("bias", [1e-2, 1e-4])
def test_the_bias_of_a_regularised_multiplier_is_as_asked_for(kind, bias):
    problem = problem_of(kind)
    surface = Surface(SurfaceRows.of(problem), cost_of(problem))
    point, radius = on(surface), 0.3
    for _ in range(12):
        step = newton_step(point, radius)
        point, radius = step.point, step.radius
    y = regularised(problem, point, bias)
    moved = SurfacePoint(surface, point.R, point.near)
    moved.__dict__["multiplier"] = y
    axes = np.zeros((len(point.R), point.axes[0].shape[1]))
    axes[: surface.rows.n] = point.axes[0]
    inside = axes.T @ moved.slack(axes)
    assert np.linalg.eigvalsh(0.5 * (inside + inside.T))[0] >= -2 * bias


def test_gradient_and_hessian_are_derivatives_on_the_surface(surface, monkeypatch):
    monkeypatch.setattr(newton, "LEAST_TANGENT_TOL", 1e-12)
    monkeypatch.setattr(newton, "TANGENT_TOL", 1e-12)
    monkeypatch.setattr(newton, "DAMPING", 0.0)
    point = on(surface)
    D = point.tangent(direction(surface, point.R), 1e-13)
    D /= np.linalg.norm(D)

    def value(t: float) -> float:
        R = surface.retracted(point.R + t * D)
        assert R is not None
        return surface.value(R)

    t = 1e-4
    middle = surface.value(point.R)
    slope = (value(t) - value(-t)) / (2 * t)
    bend = (value(t) - 2 * middle + value(-t)) / t**2
    assert slope == pytest.approx(float(np.vdot(point.gradient, D)), abs=1e-5)
    assert bend == pytest.approx(float(np.vdot(point.hessian(D), D)), abs=1e-3)


def test_a_retraction_lands_on_the_surface(surface):
    point = on(surface)
    D = direction(surface, point.R, seed=1)
    R = surface.retracted(point.R + 0.1 * D / np.linalg.norm(D), point.gram)
    assert np.linalg.norm(surface.residual(R)) <= 1e-12


def test_a_retraction_longer_than_the_way_is_refused(surface):
    point = on(surface)
    D = point.tangent(direction(surface, point.R), 1e-12)
    for length in (1e-3, 1e-2, 0.1, 1.0, 10.0):
        moved = point.R + length * D
        u = point.gram.solve(surface.residual(moved), 1e-12)
        back = np.linalg.norm(2 * surface.adjoint_product(u, point.R))
        reached = surface.retracted(moved, point.gram)
        assert reached is not None or back > 0.3 * np.linalg.norm(length * D)
        assert reached is None or back <= 1.01 * np.linalg.norm(length * D)


def test_the_length_of_a_landing_step_is_the_best_one(surface):
    R = 1.5 * on(surface).R
    residual = surface.residual(R)
    for scale in (0.1, 1.0, 10.0):
        D = -scale * surface.adjoint_product(residual, R)
        length = surface._best_length(residual, R, D)
        sizes = [np.linalg.norm(surface.residual(R + t * D)) for t in np.linspace(0.01, 1, 100)]
        best = np.linalg.norm(surface.residual(R + length * D))
        assert best <= min(sizes) * (1 + 1e-9)


def test_landings_from_far_away_reach_the_surface(surface):
    R = 5.0 * on(surface).R
    landed = surface.retracted(R, most=100)
    assert landed is not None
    assert np.linalg.norm(surface.residual(landed)) <= 1e-12


def test_accepted_steps_lower_the_priced_objective(surface):
    point, radius = on(surface), 0.3
    for _ in range(12 if surface.relaxation is None else 30):
        step = newton_step(point, radius)
        if step.accepted:
            rounding = 1e-9 * abs(point.value)
            assert point.priced(step.point.R) <= point.priced(point.R) + rounding
        else:
            assert step.point is point
            assert step.radius <= radius
        point, radius = step.point, step.radius
    assert point.residual < 1e-3


def test_a_relaxation_makes_a_proximal_step_of_the_multiplier():
    problem = problem_of("theta")
    rows = SurfaceRows.of(problem)
    anchor = 0.1 * np.random.default_rng(5).standard_normal(rows.b.size)
    point, radius = on(Surface(rows, cost_of(problem), Relaxation(0.05, anchor, 1e-3))), 0.3
    for _ in range(40):
        step = newton_step(point, radius)
        point, radius = step.point, step.radius
    assert point.residual < 1e-7
    moved = (point.multiplier - anchor)[: rows.size]
    missing = -point.surface.infeasibility(point.R)[: rows.size]
    assert np.allclose(missing, 0.05**2 * moved, atol=1e-8)


def test_a_round_without_much_effect_halves_the_relaxation_down_to_a_limit():
    relaxation = Relaxation.of(np.array([4.0, 1.0, 1.0]), np.zeros(3))
    first = relaxation.size
    assert relaxation.next_round(np.ones(3), 1.0).size == first
    for _ in range(20):
        relaxation = relaxation.next_round(np.ones(3), 1.0)
    assert relaxation.size == pytest.approx(1e-3 * first)
    assert relaxation.next_round(np.ones(3), 0.1).size == relaxation.size


def test_theta_with_many_multipliers_is_proved_also_by_a_resumed_run(tmp_path):
    """Two leaves of a vertex make two dependent rows: few of the multipliers make S psd."""
    model, method = condal.problems.theta(random_graph(300, 3.0, seed=0)), LowRankNewton(aim=1e-6)
    result = condal.solve(model, method, tol=1e-6, max_iters=80)
    assert result.status is Status.SOLVED
    path, early = tmp_path / "checkpoint", len(result.history) - 3
    condal.solve(model, method, tol=1e-6, max_iters=early, checkpoint=path)
    resumed = condal.resume(path, model, max_iters=80)
    assert (resumed.objective, resumed.bound) == (result.objective, result.bound)


def test_without_patience_nearly_dependent_rows_end_the_method(monkeypatch):
    monkeypatch.setattr(gram_module, "SLOW_STEPS", 0)
    monkeypatch.setattr(gram_module, "MAX_DENSE_ROWS", 0)
    model = condal.problems.theta(random_graph(60, 4.0, seed=0))
    result = condal.solve(model, LowRankNewton(aim=1e-6, patient=False), tol=1e-6)
    assert result.status is Status.STALLED
    assert len(result.history) <= 3  # landing, and a step
    assert condal.solve(model, LowRankNewton(aim=1e-6), tol=1e-6).status is Status.SOLVED


def test_a_trace_that_the_rows_fix_is_no_row_of_its_own():
    problem = PLANTED["sdp-equal"]().problem
    assert SurfaceRows.of(problem).traced
    n = problem.X.n
    fixed = condal.Problem.of(
        f=problem.f,
        X=condal.Spectrahedron(n, trace=2.0 * n, at_most=True),
        A=condal.Diagonal(n),
        K=condal.Equal(np.ones(n)),
    )
    rows = SurfaceRows.of(fixed)
    assert not rows.traced
    assert rows.bounded.size == 0


def test_rows_that_are_squares_are_found_and_leave_a_null_space():
    n, v = 4, np.array([1.0, -2.0, 0.0, 3.0])
    edge, zero = np.zeros((n, n)), np.zeros((n, n))
    edge[0, 1] = edge[1, 0] = zero[2, 2] = 1.0
    almost = np.outer(v, v) + 0.1 * np.diag(v != 0)
    rows = sp.csr_array(np.array([m.ravel() for m in (edge, np.outer(v, v), almost, zero)]))
    A = SquareRows.without_squares(rows)
    face = Face.in_rows(A, np.arange(4), n)
    found, null, spanned = face.rows, face.basis, face.spanned
    assert found.tolist() == [1, 3]
    assert null.shape == (4, 2)
    assert np.allclose(null @ (null.T @ v), v)
    assert spanned == pytest.approx(1.0)
    assert Face.in_rows(A, np.array([0, 2]), n) is None


def test_graph_partition_is_proved_though_it_has_no_interior():
    problem = partition(random_graph(60, 5.0, seed=2))
    result = condal.solve(problem, LowRankNewton(), tol=1e-5)
    known = condal.solve(problem, condal.methods.InteriorPoint(), tol=1e-5)
    assert result.status is Status.SOLVED
    assert result.infeasibility <= 1e-10
    assert result.objective == pytest.approx(known.objective, rel=3e-5)


def test_the_equations_of_bounds():
    low, high = (
        np.array([-np.inf, 1.0, 0.0, 2.0, -np.inf]),
        np.array([3.0, np.inf, 5.0, 2.0, np.inf]),
    )
    rows, b, signs = equations(low, high)
    assert rows.tolist() == [0, 1, 2, 2, 3]
    assert b.tolist() == [3.0, 1.0, 0.0, 5.0, 2.0]
    assert signs.tolist() == [1.0, -1.0, -1.0, 1.0, 0.0]


def test_three_cut_with_edge_inequalities_agrees_with_interior_point_steps():
    model = condal.problems.max_k_cut(random_graph(60, 6.0, seed=3), 3, pairs="edges")
    known = condal.solve(model, condal.methods.InteriorPoint(), tol=1e-7)
    result = condal.solve(model, LowRankNewton(), tol=1e-6)
    assert result.status is Status.SOLVED
    assert result.infeasibility <= 1e-12
    assert result.objective == pytest.approx(known.objective, rel=2e-6)


def test_the_rank_settles_on_random_problems():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 25))
        model = condal.problems.theta(random_graph(n, rng.uniform(1.0, 9.0), seed=seed))
        if model.W.nnz == 0:
            continue
        result = condal.solve(model, LowRankNewton(), tol=1e-5, max_iters=300)
        assert len(result.history) < 300, seed
        assert result.status in (Status.SOLVED, Status.STALLED, Status.INACCURATE), seed


@needs_data
@pytest.mark.parametrize(
    ("name", "optimum"),
    [("theta1", 23.0), ("theta2", 32.879169), ("theta4", 50.321222), ("gpp500-1", -25.320544)],
)
def test_sdplib_optima_are_proved(name, optimum):
    program = read_sdpa(DATA / "sdplib" / f"{name}.dat-s.xz").program
    result = conic_model(program).solve(LowRankNewton(aim=1e-6), tol=1e-6)
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=2e-6)


@needs_data
@pytest.mark.parametrize(("name", "optimum"), [("gpp100", -44.94355), ("gpp250-1", -15.4449169)])
def test_graph_partitions_of_sdplib_are_proved_to_1e_6(name, optimum):
    """The judge of the program's own data lost the last digit to the multiplier of 1'x1 = 0."""
    path = DATA / "sdplib" / f"{name}.dat-s.xz"
    model = conic_model(read_sdpa(path).program)
    result = model.proved(condal.solve(model, tol=1e-6))
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=2e-6)
