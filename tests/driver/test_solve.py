"""The driver: statuses, limits, units, warm starts, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

import condal
import condal_lab
from condal.driver.warm_start import seed_offset
from condal.methods.rules import Classical, LineSearch
from condal.storage import Dense, Sketch
from known import PLANTED, planted_sdp, random_edges, torus


@pytest.fixture(scope="module")
def model():
    return condal.problems.max_cut(torus(6, 8))


def test_maximisation_is_in_the_users_sense(model):
    result = condal.solve(model, tol=1e-2)
    assert result.bound >= result.objective
    assert result.history["bound"].min() >= result.bound * (1 - 1e-2)
    assert model.round(result).weight <= result.bound


def test_the_units_of_the_constraints_do_not_matter():
    known = PLANTED["simplex-equal"]()
    rows = np.array([1e-4, 1.0, 1e4])
    problem = condal.Problem.of(
        f=known.problem.f,
        X=known.problem.X,
        A=condal.Matrix(rows[:, None] * known.problem.A.a),
        K=condal.Equal(rows * known.problem.h.b),
    )
    plain = condal.solve(known.problem, tol=1e-2, max_iters=20_000)
    scaled = condal.solve(problem, tol=1e-2, max_iters=20_000)
    assert plain.status is scaled.status is condal.Status.SOLVED
    assert np.allclose(plain.y, rows * scaled.y, rtol=0.5, atol=1.0)
    assert scaled.bound <= known.optimum <= scaled.objective + 0.1


def test_a_sketch_of_low_rank_is_certified_for_what_it_is(model):
    result = condal.solve(model, tol=1e-3, storage=Sketch(48, 4), max_iters=300)
    best = condal.solve(model, tol=1e-3)
    assert result.objective <= best.bound
    assert result.bound >= best.objective
    assert result.x.rank == 4


@pytest.mark.parametrize(
    ("limit", "status"),
    [({"max_iters": 7}, "MAX_ITERS"), ({"max_seconds": 1e-3}, "MAX_SECONDS")],
)
def test_limits_end_a_solve_with_what_is_proved_by_then(model, limit, status):
    result = condal.solve(model, condal.CGAL(eta=LineSearch()), tol=1e-9, **limit)
    assert result.status is condal.Status[status]
    assert "raise" in result.status.value
    assert result.bound >= result.objective
    assert result.certificate.certified
    if status == "MAX_ITERS":
        assert result.iterations == result.oracle_calls == len(result.history) == 7


def test_a_callback_sees_every_row_and_can_stop(model):
    rows = []

    def callback(row):
        rows.append(row)
        return row.k == 5

    result = condal.solve(model, tol=1e-9, callback=callback)
    assert (result.status, result.iterations) == (condal.Status.INTERRUPTED, 5)
    assert result.bound >= result.objective
    assert [row.k for row in rows] == [1, 2, 3, 4, 5]
    np.testing.assert_array_equal(rows, list(result.history))


def test_ctrl_c_returns_the_best_so_far(model):
    def callback(row):
        if row.k == 9:
            raise KeyboardInterrupt

    result = condal.solve(model, tol=1e-9, callback=callback)
    assert result.status is condal.Status.INTERRUPTED
    assert result.iterations == 9
    assert result.bound >= result.objective > 0


@pytest.mark.parametrize("eta", [Classical(), LineSearch()])
def test_a_warm_start_takes_fewer_iterations_than_a_cold_one(eta):
    """On the whole: on a single graph either may be lucky."""
    method, work = condal.CGAL(eta=eta), {"cold": [0, 0], "warm": [0, 0]}
    for seed in range(8):
        model = condal.problems.max_cut(random_edges(48, 150, seed))
        first = condal.solve(model, method, tol=3e-2)
        for start, spent in zip((None, first), work.values(), strict=True):
            result = condal.solve(model, method, tol=1e-2, warm_start=start)
            assert result.status is condal.Status.SOLVED
            assert result.iterations == result.oracle_calls
            spent[0] += result.iterations
            spent[1] += result.matvecs
    assert all(warm < 0.9 * cold for warm, cold in zip(work["warm"], work["cold"], strict=True))


@pytest.mark.parametrize("method", ["cgal", "lowrank", "splitting", None])
def test_an_answer_is_proved_again_and_not_computed_again(model, method):
    first = condal.solve(model, method, tol=1e-2)
    again = condal.solve(model, method, tol=1e-2, warm_start=first)
    assert (again.status, again.iterations) == (condal.Status.SOLVED, 1)
    assert again.objective == pytest.approx(first.objective, rel=1e-6)


def test_a_claim_that_is_false_is_no_answer(model):
    first = condal.solve(model, "cgal", tol=1e-1, max_iters=2)
    boast = replace(first.certificate, bound=first.objective, infeasibility=0.0, price=0.0)
    result = condal.solve(model, "cgal", tol=1e-3, warm_start=replace(first, certificate=boast))
    assert result.status is condal.Status.SOLVED
    assert result.iterations > 1
    assert result.objective == pytest.approx(condal.solve(model, tol=1e-4).objective, rel=2e-3)


def test_an_iterate_continues_its_schedule_and_another_point_does_not():
    problem = planted_sdp().problem
    half = condal.solve(problem, condal.CGAL(1.0), tol=1e-9, max_iters=50)
    rest = condal.solve(problem, condal.CGAL(1.0), tol=1e-9, max_iters=50, warm_start=half)
    assert rest.history["k"].tolist() == list(range(51, 101))
    assert (rest.iterations, rest.first_k) == (50, 50)
    # the same point for other data: its k and its penalty mean nothing there
    other = planted_sdp(seed=1).problem
    moved = condal.solve(other, condal.CGAL(1.0), tol=1e-9, max_iters=50, warm_start=half)
    assert moved.history["k"][0] == moved.first_k + 1 == 3
    assert moved.iterations == 50


def test_a_warm_start_of_another_length_is_refused(model):
    first = condal.solve(model, tol=1e-1)
    with pytest.raises(condal.ProblemError, match="a dual of length 48 and this problem needs 9"):
        condal.solve(condal.problems.max_cut(torus(3, 3)), warm_start=first)


def test_what_is_not_a_problem_is_refused():
    with pytest.raises(condal.ProblemError, match=r"condal.problems.max_cut\(W\); got ndarray"):
        condal.solve(np.eye(3))


def test_results_can_be_read(model):
    result = condal.solve(model, tol=1e-2)
    text, page = repr(result), result._repr_html_()
    for word in ("objective", "bound", "gap", "infeasibility", "iterations", "solved"):
        assert word in text
        assert word in page
    history = result.history
    assert list(history.to_pandas().columns) == list(history.columns)
    assert len(history.to_pandas()) == len(history) == result.iterations
    assert repr(history).startswith(f"History({len(history)} iterations")
    with pytest.raises(KeyError, match="no column 'nope'; there are k, objective"):
        history["nope"]


# Traps: each of these once ended in a false claim, a crash or an endless solve.


@pytest.mark.parametrize("seed", range(10))
def test_rounding_proves_no_feasible_problem_infeasible(seed):
    rng = np.random.default_rng(seed)
    b, c = rng.standard_normal((2, 10))
    c -= b * (b @ c) / (b @ b)
    problem = condal.Problem.of(
        f=condal.Linear([1.0, -2.0]),
        X=condal.Simplex(2),
        A=condal.Matrix(np.c_[b, b + c]),  # x = e_1 gives Ax = b, and nothing else does
        K=condal.Equal(b),
    )
    result = condal.solve(problem, max_iters=500)
    assert result.status is not condal.Status.INFEASIBLE
    assert result.bound <= 1.0 + 1e-9


def test_a_warm_start_from_another_domain_takes_only_its_dual():
    def problem(trace):
        return condal.Problem.of(
            f=condal.Linear(np.zeros((3, 3))),
            X=condal.Spectrahedron(3, trace=trace),
            A=condal.Inner([np.diag([1.0, 0, 0])]),
            K=condal.Equal([1.5]),
        )

    outside = condal.solve(problem(2.0))
    assert outside.status is condal.Status.SOLVED
    result = condal.solve(problem(1.0), warm_start=outside)
    assert result.status is condal.Status.INFEASIBLE
    assert result.certificate.distance_to_X <= 1e-9


def test_a_warm_start_keeps_the_penalty(model):
    first = condal.solve(model, tol=1e-9, max_iters=300)
    more = condal.solve(model, tol=1e-9, max_iters=1, warm_start=first)
    assert more.history[0].lam == pytest.approx(first.history[-1].lam, rel=0.05)


def test_a_vertex_that_minimises_the_lagrangian_is_left():
    A = np.array([[1.5139, 1.9059, 1.6935], [1.3459, 0.9049, 1.1439]])
    problem = condal.Problem.of(
        f=condal.Linear([1.0, -1.8696, -0.2520]),
        X=condal.Simplex(3),
        A=condal.Matrix(A),
        K=condal.Equal(A[:, 0]),
    )
    result = condal.solve(problem, tol=1e-2, max_iters=3000)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(1.0, abs=0.05)


def test_an_operator_with_few_eigenvalues_is_solved():
    n = 400
    u = np.ones(n) / np.sqrt(n)
    C = LinearOperator((n, n), matvec=lambda v: -u * (u @ v.ravel()), dtype=float)
    problem = condal.Problem.of(f=condal.Linear(C), X=condal.Spectrahedron(n))
    result = condal.solve(problem, max_iters=50)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(-1.0, abs=1e-3)
    assert "trusting the products" in result.certificate.how


def test_an_operator_keeps_its_own_memory():
    stored = np.zeros(80)
    stored.flags.writeable = False
    C = LinearOperator((80, 80), matvec=lambda v: stored, dtype=float)
    for at_most in (False, True):
        problem = condal.Problem.of(f=condal.Linear(C), X=condal.Spectrahedron(80, at_most=at_most))
        assert condal.solve(problem, max_iters=5).objective == 0.0


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"method": "cgla"},
            "a record such as condal.CGAL.*, or one of .*cgal.*; got .cgla. .did you mean cgal.",
        ),
        ({"method": condal.CGAL}, "method takes a record"),
        ({"storage": "sketch"}, "storage takes an object such as condal.storage.Sketch"),
        ({"warm_start": {}}, "warm_start takes the Result of an earlier solve"),
        ({"callback": 3}, "callback takes a function of one Row"),
        ({"seed": -5}, "seed must be a whole number, at least 0; got -5"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"tol": "1e-3"}, "tol must be a positive number"),
        ({"tol": True}, "tol must be a positive number"),
        ({"max_iters": 2.5}, "max_iters must be a whole number"),
        *(
            ({"max_seconds": wrong}, "max_seconds must be positive, or None")
            for wrong in ("9", 0.0, float("nan"))
        ),
    ],
)
def test_arguments_of_the_wrong_kind_are_refused_at_once(model, options, text):
    with pytest.raises(condal.ProblemError, match=text):
        condal.solve(model, **options)


def test_an_objective_that_overflows_is_refused():
    problem = condal.Problem.of(f=condal.Linear([1e300, 1e300]), X=condal.Simplex(2, 1e10))
    with (
        np.errstate(over="ignore"),
        pytest.raises(condal.ProblemError, match="scale the objective"),
    ):
        condal.solve(problem)


def test_what_is_proved_at_a_limit_is_solved():
    """UPD's free estimates are eps/100 off; the certificate at the end is not."""
    problem = condal.Problem.of(f=condal.Linear(np.arange(3.0)), X=condal.Simplex(3))
    result = condal.solve(problem, condal_lab.methods.UPD(1.0), tol=1e-3, max_iters=20)
    assert result.gap <= 1e-3
    assert result.status is condal.Status.SOLVED


def test_a_warm_start_that_was_interrupted_at_once_can_be_gone_on_from():
    known = PLANTED["sdp-equal"]()
    first = condal.solve(known.problem, tol=1e-9, max_iters=5)

    class Interrupting:
        def __getattr__(self, name):
            return getattr(known.problem.X, name)

        def lmo(self, v, tol=0.0, guess=None):
            raise KeyboardInterrupt

    broken = replace(known.problem, X=Interrupting())
    at_once = condal.solve(broken, tol=1e-9, warm_start=first, storage=Dense())
    assert at_once.status is condal.Status.INTERRUPTED
    again = condal.solve(known.problem, tol=1e-9, max_iters=5, warm_start=at_once)
    assert again.x is not None


def test_a_warm_start_from_another_space_is_refused():
    vector = condal.Problem.of(
        f=condal.Linear(np.ones(4)),
        X=condal.Simplex(4),
        A=condal.Matrix(np.eye(4)[:2]),
        K=condal.NonNegative(2),
    )
    matrix = condal.Problem.of(
        f=condal.Linear(np.eye(3)),
        X=condal.Spectrahedron(3),
        A=condal.Entries(3, [0, 1], [1, 2]),
        K=condal.NonNegative(2),
    )
    for one, other in ((vector, matrix), (matrix, vector)):
        result = condal.solve(one, max_iters=3)
        with pytest.raises(condal.ProblemError, match="a point of another space"):
            condal.solve(other, warm_start=result)


def test_the_proofs_of_a_warm_start_have_other_random_vectors():
    y = np.arange(3.0)
    offset = seed_offset((None, y))
    assert seed_offset((None, y.copy())) == offset >= 0
    assert seed_offset((None, np.nextafter(y, 9.0))) != offset
    assert seed_offset((None, None)) >= 0
