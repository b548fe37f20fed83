"""The standard form has the optimum of CVXPY's form, and its solution is one of that."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

cp = pytest.importorskip("cvxpy", minversion="1.9", reason="the plug-in needs CVXPY 1.9")

from cvxpy.tests import solver_test_helpers as helpers

from condal.cvxpy.forms import CvxpyProblem, Form
from condal.cvxpy.solver import CONDAL
from condal.cvxpy.svec import Layout, packed
from condal.errors import ProblemError


def data_of(problem):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The problem has an expression with dimension")
        data, _, _ = problem.get_problem_data(CONDAL())
    return CvxpyProblem(sp.csr_array(data["A"]), data["b"], data["c"], Layout.of(data["dims"]))


def solved(program):
    """z, y and the value of a conic program, by an independent solver; c - A'y in the dual cone."""
    parts, cones = [], []
    for block in program.blocks:
        if block.kind == "psd":
            X = cp.Variable((block.n, block.n), symmetric=True)
            cones.append(X >> 0)
            parts.append(cp.vec(X, order="C"))
        else:
            u = cp.Variable(block.n)
            cones.append(u >= 0 if block.kind == "orthant" else cp.SOC(u[0], u[1:]))
            parts.append(u)
    z = cp.hstack(parts)
    rows = [program.A @ z == program.b] if program.b.size else []
    value, sense = (program.c @ z)[0] + program.offset, -1.0 if program.maximise else 1.0
    problem = cp.Problem(cp.Minimize(sense * value), [*rows, *cones])
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == "optimal"
    y = -rows[0].dual_value if rows else np.zeros(0)
    return np.asarray(z.value), y, sense * problem.value


def require_kkt(form, x, z, *, tol=1e-5):
    """x and z are a solution of min <c, x>, Ax + s = b, s in K, and of its dual."""
    s = form.b - form.A @ x
    scale = 1.0 + np.abs(form.b).max() + np.abs(x).max()
    assert form.layout.distances(s).max(initial=0.0) < tol * scale
    outside = form.layout.distances(z / form.layout.multiplicity)[form.layout.zero :]
    assert outside.max(initial=0.0) < tol * (1.0 + np.abs(z).max(initial=0.0))
    assert np.abs(form.c + form.A.T @ z).max() < tol * (1.0 + np.abs(z).max(initial=0.0))
    assert abs(form.c @ x + form.b @ z) < tol * (1.0 + abs(form.c @ x)) * scale


def largest_eigenvalue(n=6):
    rng = np.random.default_rng(3)
    C = rng.standard_normal((n, n))
    y = cp.Variable(n)
    return cp.Problem(cp.Minimize(cp.lambda_max(C + C.T + cp.diag(y))), [cp.sum(y) == 0])


def not_symmetric(n=5):
    rng = np.random.default_rng(6)
    C = rng.standard_normal((n, n))
    X = cp.Variable((n, n))  # X >> 0 sees its symmetric part alone
    return cp.Problem(cp.Minimize(cp.trace((C + C.T) @ X)), [X >> 0, cp.trace(X) == 2])


def two_blocks(n=4):
    rng = np.random.default_rng(7)
    X, t = cp.Variable((n, n), PSD=True), cp.Variable()
    Y = cp.Variable((3, 3), symmetric=True)
    C = rng.standard_normal((n, n))
    bounds = [Y >> 0, cp.trace(X) + cp.trace(Y) <= 3, X[0, 1] + Y[0, 2] == 0.3, Y[1, 1] >= 0.2]
    link = [cp.bmat([[Y, np.ones((3, 1))], [np.ones((1, 3)), cp.reshape(t, (1, 1), order="F")]])]
    return cp.Problem(cp.Minimize(cp.trace(C @ X) + t), [*bounds, link[0] >> 0])


def dynamics(T=8):
    rng = np.random.default_rng(8)
    F, g = 0.5 * rng.standard_normal((3, 3)), rng.standard_normal(3)
    x, u = cp.Variable((3, T + 1)), cp.Variable(T)
    steps = [x[:, t + 1] == F @ x[:, t] + g * u[t] for t in range(T)]
    objective = cp.Minimize(cp.sum_squares(x) + cp.norm1(u))
    return cp.Problem(objective, [x[:, 0] == 1, cp.abs(u) <= 1, *steps])


def free_to_move():
    x = cp.Variable(4)  # x[3] is nowhere, and x[1] - x[2] is in no row
    return cp.Problem(cp.Minimize(x[0]), [x[0] + x[1] + x[2] >= 1, x[0] >= -1, 0 * x[3] == 0])


OURS = [largest_eigenvalue, not_symmetric, two_blocks, dynamics, free_to_move]
THEIRS = {
    "lp_0": helpers.lp_0,
    "lp_1": helpers.lp_1,
    "lp_2": helpers.lp_2,
    "lp_5": helpers.lp_5,
    "lp_bound_attr": helpers.lp_bound_attr,
    "qp_0": helpers.qp_0,
    "socp_0": helpers.socp_0,
    "socp_1": helpers.socp_1,
    "socp_2": helpers.socp_2,
    "socp_3": lambda: helpers.socp_3(axis=0),
    "socp_4": helpers.socp_4,
    "sdp_1": lambda: helpers.sdp_1("min"),
    "sdp_2": helpers.sdp_2,
    "sdp_batched": helpers.sdp_batched,
}
CASES = {make.__name__: make for make in OURS} | {
    name: (lambda make=make: make().prob) for name, make in THEIRS.items()
}


@pytest.mark.parametrize("in_z", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_the_program_has_the_same_solution(name, in_z):
    data = data_of(CASES[name]())
    made = Form(data, in_z)
    assert made.elimination.ray is None
    assert made.elimination.contradictions.size == 0
    z, y, value = solved(made.program)
    pair = made.pair(z, y)
    require_kkt(data, *pair)
    assert data.c @ pair.x == pytest.approx(value, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_x_is_determined_by_s(name):
    """x = p - E s wherever Ax + s = b, up to directions that no row sees."""
    data = data_of(CASES[name]())
    found = Form(data).elimination
    x = np.random.default_rng(0).standard_normal(data.c.size)
    s = data.b - data.A @ x
    back = found.p - found.E @ s
    assert np.allclose(data.A @ back, data.A @ x, atol=1e-8)
    assert data.c @ back == pytest.approx(data.c @ x, abs=1e-8)
    assert sorted([*found.basis, *found.rest]) == list(range(data.b.size))
    assert not np.delete(abs(found.E).sum(axis=0), found.basis).any()


def test_a_psd_variable_is_its_own_block():
    """Max-cut comes out as the library's own: the diagonal of x, and the objective's sparsity."""
    n = 6
    L = np.diag(np.full(n, 2.0)) - np.roll(np.eye(n), 1, 0) - np.roll(np.eye(n), -1, 0)
    X = cp.Variable((n, n), PSD=True)
    problem = cp.Problem(cp.Maximize(cp.trace(L @ X) / 4), [cp.diag(X) == 1])
    program = Form(data_of(problem)).program
    ratio = program.A.toarray() / program.b[:, None]
    assert np.allclose(ratio, np.eye(n * n)[:: n + 1])
    assert np.allclose(program.c.toarray().reshape(n, n), -L / 4)
    assert program.c.nnz == 3 * n


def test_a_program_has_no_more_rows_than_it_needs():
    """An LMI in k variables: k rows for z; for s, all entries but k."""
    data = data_of(largest_eigenvalue(n=6))
    assert data.fewest == (22 - 7, 7 - 1)
    assert Form(data).program.b.size == 15
    assert Form(data, in_z=True).program.b.size == 6


def test_a_direction_that_no_row_sees():
    x = cp.Variable(3)
    data = data_of(cp.Problem(cp.Minimize(x[0] - x[1] + x[2]), [x[0] + x[1] >= 1, x[2] >= 0]))
    ray = Form(data).elimination.ray
    assert np.allclose(data.A @ ray, 0.0)
    assert data.c @ ray < 0.0


def test_rows_that_contradict_one_another():
    x = cp.Variable(3)
    data = data_of(cp.Problem(cp.Minimize(x[0]), [cp.sum(x) == 1, 2 * cp.sum(x) == 3, x[0] >= 0]))
    assert Form(data).elimination.contradictions.tolist() == [1]
    assert Form(data, in_z=True).elimination.ray is not None


def test_dependent_equations_are_left_out():
    x = cp.Variable(3)
    data = data_of(cp.Problem(cp.Minimize(x[0]), [cp.sum(x) == 1, 2 * cp.sum(x) == 2, x >= -1]))
    for form in (Form(data), Form(data, in_z=True)):
        z, y, value = solved(form.program)
        assert value == pytest.approx(-1.0, abs=1e-6)
        require_kkt(data, *form.pair(z, y))


def test_scales_far_apart():
    """A tiny pivot is not taken, large rows do not hide small ones."""
    x = cp.Variable(2)
    rows = [1e-8 * x[0] + x[1] >= 1, 1e6 * x[0] + 1e6 * x[1] <= 4e6, x[0] - x[1] == 1e-3, x[1] <= 9]
    data = data_of(cp.Problem(cp.Minimize(x[1] + 2 * x[0]), rows))
    found = Form(data).elimination
    assert abs(found.E).max() < 1e3
    s = np.array([0.0, 0.3, -0.2, 5.0])
    s[data.layout.zero + 1 :] = (data.b - data.A @ (found.p - found.E @ s))[2:]
    assert np.allclose((data.A @ (found.p - found.E @ s) + s - data.b)[found.basis], 0.0)


def test_many_coupled_variables_are_refused():
    data = CvxpyProblem(np.ones((3, 5_000)), np.ones(3), np.zeros(5_000), Layout(nonneg=3))
    with pytest.raises(
        ProblemError, match="5000 variables without a cone of their own are coupled"
    ):
        _ = Form(data).elimination


def test_absolute_values_are_no_dense_piece():
    """20,000 variables of |x| <= t that a sum ties together, far more than a piece may have."""
    n = 10_000
    x = cp.Variable(n)
    data = data_of(cp.Problem(cp.Minimize(cp.norm1(x)), [cp.sum(x) == 1]))
    program = Form(data).program
    assert program.A.shape == (1, 2 * n)
    assert program.A.nnz <= 2 * n


def test_a_column_that_waits_is_right():
    """t of |x| <= t waits for x; the objective moves with t, and no row sees y but with z."""
    x, y, z = cp.Variable(2), cp.Variable(2), cp.Variable(2)
    t = cp.Variable(2)
    rows = [x <= t, -2 * x <= t, y + z + x == 1, y + z - 3 * x >= -9]
    data = data_of(cp.Problem(cp.Minimize(cp.sum(t) + y[0] + z[0]), rows))
    form = Form(data)
    assert form.elimination.ray is None
    blocks, multipliers, _ = solved(form.program)
    require_kkt(data, *form.pair(blocks, multipliers))
    falling = data_of(cp.Problem(cp.Minimize(cp.sum(t) + y[0] - z[0]), rows))
    ray = Form(falling).elimination.ray
    assert np.allclose(falling.A @ ray, 0.0)
    assert falling.c @ ray < 0.0


@pytest.mark.parametrize("n", [1, 2, 5])
def test_svec_and_its_dual_keep_inner_products(n):
    rng = np.random.default_rng(n)
    S, T = (a + a.T for a in rng.standard_normal((2, n, n)))
    s, t = packed(n).vector(S), Layout(psd=(n,)).multiplicity * packed(n).vector(T)
    assert s @ t == pytest.approx(np.sum(S * T))
    assert np.array_equal(t, packed(n).dual.vector(T))
    assert np.array_equal(packed(n).matrix(s), S)


def test_rows_are_spread_to_blocks_as_points_are_gathered():
    """<MP, z> = <M, Pz> on symmetric matrices, without rounding."""
    rng = np.random.default_rng(0)
    layout = Layout(zero=2, nonneg=2, soc=(3,), psd=(4, 1, 60))
    size = layout.size - layout.zero
    M = sp.random_array((7, size), density=0.2, rng=rng, format="csr")
    matrices = [a + a.T for a in (rng.standard_normal((n, n)) for n in layout.psd)]
    z = np.concatenate([rng.standard_normal(5), *(a.ravel() for a in matrices)])
    assert np.allclose(layout.spread(M) @ z, M @ layout.gathered(z))
    P = layout.spread(sp.eye_array(size))
    multiplicity = np.diag(1.0 / layout.multiplicity[layout.zero :])
    assert np.array_equal((P @ P.T).toarray(), multiplicity)


def test_svec_is_cvxpys():
    n = 4
    X = cp.Variable((n, n), symmetric=True)
    X.value = np.arange(16.0).reshape(n, n) + np.arange(16.0).reshape(n, n).T
    problem = cp.Problem(cp.Minimize(0), [X >> 0])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The problem has an expression with dimension")
        data, _, _ = problem.get_problem_data(CONDAL())
    rows = data["b"] - data["A"] @ X.value[np.triu_indices(n)]
    assert np.array_equal(rows, packed(n).vector(X.value))


def test_what_a_point_lacks_to_be_in_the_cones():
    layout = Layout(zero=1, nonneg=2, soc=(3,), psd=(2,))
    inside = np.array([9.0, 0.0, 1.0, 5.0, 3.0, 4.0, 1.0, 1.0, 1.0])
    assert layout.distances(inside) == pytest.approx([9.0, 0, 0, 0, 0], abs=1e-12)
    negative = -np.linalg.eigvalsh([[0.5, 1.0], [1.0, 1.0]])[0]
    for entry, at, lack in ((1, 1, 0.5), (3, 3, 0.5 / np.sqrt(2.0)), (6, 4, negative)):
        moved = inside.copy()
        moved[entry] -= 0.5
        assert layout.distances(moved)[at] == pytest.approx(lack)
