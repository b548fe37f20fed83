"""The splitting method: proximal points, acceleration, known optima, and what it says it cannot."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import condal
from condal.methods import Splitting
from condal.methods.anderson import MEMORY, Anderson
from condal.methods.composite import Composite
from condal.nonsmooth import L1
from condal.scaling import normalise
from condal.storage import Factor
from known import PLANTED, planted_sdp


def dense_rows(n: int, p: int, seed: int = 0) -> condal.Inner:
    """p random symmetric matrices, none orthogonal to another."""
    rng = np.random.default_rng(seed)
    return condal.Inner([a + a.T for a in rng.standard_normal((p, n, n))])


def theta(n: int, rows, cols) -> condal.Problem:
    """Lovasz's theta: max <11', x>, x_ij = 0 on edges, tr x = 1."""
    return condal.Problem.of(
        f=condal.Linear(np.ones((n, n))),
        X=condal.Spectrahedron(n),
        A=condal.Entries(n, rows, cols),
        K=condal.Equal(np.zeros(len(rows))),
        maximise=True,
    )


def of(A, K, n: int) -> condal.Problem:
    return condal.Problem.of(f=condal.Linear(np.eye(n)), X=condal.Spectrahedron(n), A=A, K=K)


N = 6
IMAGES = dense_rows(N, 5)(np.eye(N) / N)
COMPOSITES = {
    "orthogonal equations": (condal.Diagonal(N), condal.Equal(np.arange(6.0))),
    "orthogonal box": (condal.Diagonal(N), condal.Box(-0.1 * np.ones(N), 0.2 * np.ones(N))),
    "orthant": (condal.Triangle(N), condal.NonNegative(21)),
    "L1": (condal.Triangle(N), L1(21, 0.3)),
    "equations": (dense_rows(N, 5), condal.Equal(IMAGES)),
    "box": (dense_rows(N, 5), condal.Box(IMAGES - 0.5, IMAGES + 0.1)),
    "equations and an orthant": (
        condal.Stack(condal.RowSums(N), condal.Triangle(N)),
        condal.Separable(condal.Equal(np.ones(N)), condal.NonNegative(21)),
    ),
    "orthogonal beside not": (
        condal.Stack(condal.Entries(N, [0, 1], [0, 1]), condal.Entries(N, [3, 3], [4, 4])),
        condal.Separable(condal.Equal([1.0, 2.0]), condal.Box([-1.0, -2.0], [1.0, 0.0])),
    ),
    "nothing": (condal.Stack(), condal.Separable()),
}
composites = pytest.mark.parametrize("name", COMPOSITES)


def made(name: str) -> tuple[condal.Problem, Composite]:
    A, K = COMPOSITES[name]
    problem = of(A, K, N)
    return problem, Composite.of(problem, N)


@composites
@pytest.mark.parametrize("rho", [0.1, 3.0])
def test_a_proximal_point_obeys_its_law(name, rho):
    """z = u - A'y/rho with y in dh(Az): h(Az) + h*(y) = <y, Az>, and Az in dom h."""
    problem, g = made(name)
    rng = np.random.default_rng(1)
    V = rng.standard_normal((N, N))
    u, tied = g.start((V + V.T).ravel(), np.zeros(problem.A.size), rho)
    for _ in range(100):  # the copies of the rows that have one go where they belong
        near = g.prox(u, rho, tied, tol=1e-13)
        u[N * N :], tied = near.z[N * N :], near.tied
    z, y, h = near.z[: N * N].reshape(N, N), near.y, problem.h
    np.testing.assert_allclose(z.ravel(), (V + V.T).ravel() - g.adjoint(y) / rho, atol=1e-9)
    Az = problem.A(z)
    np.testing.assert_allclose(g.images(z.ravel()), Az, atol=1e-12)
    assert h.distance(Az) <= 1e-9
    assert h.value(Az) + h.conjugate(h.dual_point(y)) == pytest.approx(float(y @ Az), abs=1e-8)


@composites
def test_the_adjoint_is_that_of_the_map(name):
    problem, g = made(name)
    y = np.random.default_rng(2).standard_normal(problem.A.size)
    there = problem.A.adjoint(y)
    expected = np.zeros((N, N)) if there is None else there.to_dense()
    np.testing.assert_allclose(g.adjoint(y).reshape(N, N), expected, atol=1e-13)


def test_only_rows_in_each_others_way_are_tied():
    def tied(name: str) -> int:
        return made(name)[1].gram.shape[0]

    assert tied("orthogonal equations") == tied("orthant") == tied("nothing") == 0
    assert tied("equations") == tied("box") == 5
    assert tied("equations and an orthant") == N  # the equations, and not the 21 entries
    assert tied("orthogonal beside not") == 2


def test_rows_that_depend_on_each_other_do_no_harm():
    twice = condal.Stack(condal.Diagonal(N), condal.Diagonal(N))
    g = Composite.of(of(twice, condal.Equal(np.ones(2 * N)), N), N)
    u, tied = g.start(np.zeros(N * N), np.zeros(2 * N), 1.0)
    near = g.prox(u, 1.0, tied, tol=1e-12)
    np.testing.assert_allclose(near.z[: N * N].reshape(N, N), np.eye(N), atol=1e-9)


def test_a_long_sparse_system_is_solved_as_a_short_one(monkeypatch):
    n, p = 12, 40
    rng = np.random.default_rng(3)
    rows, cols = rng.integers(0, n, (2, p))  # some entries more than once
    problem = of(condal.Entries(n, rows, cols), condal.Equal(np.zeros(p)), n)
    points = []
    for below in (1500, 0):
        monkeypatch.setattr("condal.methods.composite.DENSE_BELOW", below)
        monkeypatch.setattr("condal.methods.composite.FULL", 0.1 if below else 1.0)
        g = Composite.of(problem, n)
        u, tied = g.start(np.ones(n * n), np.zeros(p), 1.0)
        points.append(g.prox(u, 1.0, tied, tol=1e-12).z)
        assert sp.issparse(g._gram) == (below == 0)
    np.testing.assert_allclose(points[0], points[1], atol=1e-10)


def test_acceleration_solves_a_linear_iteration_in_as_many_steps_as_it_has_dimensions():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    T, b = Q @ np.diag([0.99, 0.9, 0.5, -0.3, -0.9]) @ Q.T, rng.standard_normal(5)
    u, known = np.zeros(5), Anderson()
    for _ in range(8):
        image = T @ u + b
        known = known.after(image, image - u)
        following = known.next()
        u = image if following is None else following
    np.testing.assert_allclose(u, np.linalg.solve(np.eye(5) - T, b), rtol=1e-6)


def test_acceleration_forgets_and_keeps_its_records():
    rng = np.random.default_rng(0)
    known, seen = Anderson(), []
    for _ in range(MEMORY + 4):
        seen.append(rng.standard_normal((2, 9)))
        known = known.after(*seen[-1])
    changes = [b[1] - a[1] for a, b in pairwise(seen)][-MEMORY:]
    np.testing.assert_allclose(known.gram, np.array(changes) @ np.array(changes).T)
    assert len(known.images) == MEMORY


def test_acceleration_of_what_stands_still_is_none():
    known = Anderson()
    for _ in range(4):
        known = known.after(np.ones(3), np.zeros(3))
    assert known.next() is None


@pytest.mark.parametrize("name", ["sdp-equal", "sdp-box", "sdp-at-most"])
def test_it_reaches_a_known_solution(name):
    known = PLANTED[name]()
    result = condal.solve(known.problem, Splitting(), tol=1e-8, max_iters=500)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(known.optimum, rel=1e-7)
    np.testing.assert_allclose(condal.dense(result.x), known.x, atol=1e-5)


def planted_inner(n: int, p: int, *, box: bool, seed: int = 0) -> tuple[condal.Problem, float]:
    """`planted_sdp` with rows that are not orthogonal, of very different sizes."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    x = 0.5 * n * Q[:, :2] @ Q[:, :2].T
    Z = (Q[:, 2:] * rng.uniform(0.5, 2.0, n - 2)) @ Q[:, 2:].T
    A = dense_rows(n, p, seed).scaled(10.0 ** rng.uniform(-2, 2, p))
    y = rng.standard_normal(p) / A.row_norms()
    image, room = A(x), A.row_norms()
    K = condal.Equal(image)
    if box:
        y[::3] = 0.0
        K = condal.Box(np.where(y < 0, image, image - room), np.where(y > 0, image, image + room))
    C = Z - A.adjoint(y).to_dense()
    problem = condal.Problem.of(
        f=condal.Linear(0.5 * (C + C.T)), X=condal.Spectrahedron(n, trace=float(n)), A=A, K=K
    )
    return problem, float(np.sum(C * x))


@pytest.mark.parametrize("box", [False, True])
def test_general_rows(box):
    problem, optimum = planted_inner(15, 20, box=box)
    result = condal.solve(problem, Splitting(), tol=1e-6, max_iters=1000)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=2e-6, abs=1e-5)
    assert problem.sense * result.bound <= problem.sense * optimum + 1e-9


def test_theta_of_the_five_cycle_is_the_root_of_five():
    i = np.arange(5)
    result = condal.solve(theta(5, i, (i + 1) % 5), Splitting(), tol=1e-9, max_iters=300)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(np.sqrt(5.0), rel=1e-8)


def test_theta_of_a_complete_multipartite_graph_is_its_largest_part():
    part = np.repeat(np.arange(4), [3, 7, 2, 5])
    rows, cols = np.nonzero(np.triu(part[:, None] != part))
    result = condal.solve(theta(17, rows, cols), Splitting(), tol=1e-7, max_iters=500)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(7.0, rel=1e-6)


def test_a_nonsmooth_term():
    """min <C, x> + t |x|_1 for C diagonal: the smallest C_ii, and t."""
    C = np.diag([3.0, 1.0, 2.0])
    problem = condal.Problem.of(
        f=condal.Linear(C), X=condal.Spectrahedron(3), A=condal.Entries(3), K=L1(9, 0.5)
    )
    result = condal.solve(problem, Splitting(), tol=1e-7, max_iters=200)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(1.5, rel=1e-6)


@pytest.mark.parametrize("at_most", [False, True])
def test_without_constraints(at_most):
    C = np.diag([3.0, 1.0, 2.0]) if at_most else np.diag([3.0, -1.0, 2.0])
    X = condal.Spectrahedron(3, 2.0, at_most)
    result = condal.solve(condal.Problem.of(condal.Linear(C), X), Splitting(), tol=1e-6)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(0.0 if at_most else -2.0, abs=1e-5)


def test_an_infeasible_problem_is_proved_so():
    known = planted_sdp()
    problem = replace(known.problem, A=condal.Diagonal(12), h=condal.Equal(np.ones(12)))
    assert condal.solve(problem, Splitting(), max_iters=200).status is condal.Status.INFEASIBLE


def test_every_bound_is_below_the_optimum_and_every_point_is_one_of_X():
    known = planted_sdp(n=20, kind="box", seed=5)
    problem, scaling = normalise(known.problem)
    x = Factor()
    for state in islice(Splitting().iterates(problem, x), 80):
        assert state.lower <= scaling.c * known.optimum + 1e-9
        assert problem.X.distance(x.point()) <= 1e-12
        assert np.isfinite(problem.h.conjugate(state.y))


def test_the_same_whatever_the_units():
    """Scaling C, x and the rows changes nothing but the last digits, and so not the steps."""
    known = planted_sdp()
    problem = known.problem
    scaled = replace(
        problem,
        f=condal.Linear(1e4 * problem.f.C.to_dense()),
        A=problem.A.scaled(np.full(12, 1e-3)),
        h=problem.h.scaled(np.full(12, 1e-3), 1.0),
    )
    one, other = (condal.solve(p, Splitting(), tol=1e-6) for p in (problem, scaled))
    assert other.objective == pytest.approx(1e4 * one.objective, rel=1e-5)
    assert abs(one.iterations - other.iterations) <= 10


def test_a_warm_start_ends_sooner():
    problem = theta(30, *np.nonzero(np.triu(np.random.default_rng(1).random((30, 30)) < 0.3, 1)))
    first = condal.solve(problem, Splitting(), tol=1e-6, max_iters=1000)
    assert first.status is condal.Status.SOLVED
    again = condal.solve(problem, Splitting(), tol=1e-6, max_iters=1000, warm_start=first)
    assert again.status is condal.Status.SOLVED
    assert len(again.history) < 0.5 * len(first.history)


def test_it_suits_linear_objectives_over_small_spectral_domains():
    assert Splitting().suits(planted_sdp().problem)
    assert not Splitting().suits(PLANTED["simplex-equal"]().problem)
    large = condal.Problem.of(condal.Linear(sp.eye(9000)), condal.Spectrahedron(9000))
    assert not Splitting().suits(large)


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (PLANTED["simplex-equal"]().problem, "needs a linear objective: got LeastSquares"),
        (
            condal.Problem.of(condal.Linear(np.ones(3)), condal.Simplex(3)),
            "needs a spectral domain, such as",
        ),
    ],
)
def test_where_it_does_not_apply_it_says_so_in_one_line(problem, text):
    with pytest.raises(condal.ProblemError, match=text) as caught:
        condal.solve(problem, Splitting())
    assert "\n" not in str(caught.value)
    assert "condal.CGAL()" in str(caught.value)


class Hidden:
    """A map whose numbers cannot be seen."""

    def __init__(self, A) -> None:
        self.A = A

    def as_matrix(self):
        return None

    def scaled(self, rows):
        return Hidden(self.A.scaled(rows))

    def __call__(self, x):
        return self.A(x)

    def __getattr__(self, name):
        return getattr(self.A, name)


def test_a_map_without_a_matrix_is_refused():
    problem = planted_sdp().problem
    with pytest.raises(condal.ProblemError, match="has an A that an operator hides; use condal"):
        condal.solve(replace(problem, A=Hidden(problem.A)), Splitting())


def test_an_objective_without_a_matrix_is_multiplied_out():
    known = planted_sdp()
    C = aslinearoperator(known.problem.f.C.to_dense())
    hidden = replace(known.problem, f=condal.Linear(C))
    result = condal.solve(hidden, Splitting(), tol=1e-6, max_iters=300)
    assert result.objective == pytest.approx(known.optimum, rel=1e-5)


@pytest.mark.parametrize(("name", "value"), [("rho", 0.0), ("rho", "1"), ("alpha", -1.0)])
def test_bad_parameters(name, value):
    with pytest.raises(condal.ProblemError, match=f"{name} must be a positive number"):
        Splitting(**{name: value})


def test_a_relaxation_of_two_is_too_much():
    with pytest.raises(condal.ProblemError, match="alpha must lie between 0 and 2; got 2"):
        Splitting(alpha=2)
