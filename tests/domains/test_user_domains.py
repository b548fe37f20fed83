"""A user's domain needs only `lmo`; a map and an objective need three members."""

import re

import numpy as np
import pytest

import condal
from condal.errors import ProblemError
from condal.linalg.points import LowRank
from condal.linalg.rounding import Proof

RADII = np.array([1.0, 2.0, 0.5])
M = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])


class Oracle:
    """X = {x : |x / r| <= 1}, by its linear minimisation oracle alone."""

    def lmo(self, v):
        length = np.linalg.norm(RADII * v)
        return -(RADII**2) * v / length if length > 0 else np.zeros(RADII.size)


class Proving(Oracle):
    max_norm = 2.0

    def bound(self, v, *, slack, failure, seed, enough=np.inf):
        return Proof(-float(np.linalg.norm(RADII * v)) * (1 + 1e-12), "closed form")


class Complete(Proving):
    diameter = 4.0

    def lmo(self, v, tol=0.0, guess=None):
        return super().lmo(v)

    def distance(self, x):
        length = float(np.linalg.norm(x / RADII))
        return 0.0 if length <= 1 else float(np.linalg.norm(x)) * (1 - 1 / length)

    def check(self, v, name):
        if v.shape != (3,):
            raise ProblemError(f"{name} must act on vectors of length 3")


def problem_over(X, **pieces):
    return condal.Problem.of(condal.LeastSquares(M, [3.0, 3.0]), X, **pieces)


def constrained(X):
    return problem_over(X, A=condal.Matrix([[1.0, 1.0, 1.0]]), K=condal.Equal([0.5]))


@pytest.mark.parametrize("of", [problem_over, constrained])
@pytest.mark.parametrize("method", [None, condal.CGAL()])
def test_a_domain_of_one_method_is_solved_but_not_proved(of, method):
    tol = 1e-3 if method is None else 1e-2
    result = condal.solve(of(Oracle()), method, tol=tol)
    optimum = condal.solve(of(Complete()), tol=1e-5).objective
    assert result.status is condal.Status.STALLED
    assert result.objective == pytest.approx(optimum, rel=3 * tol)
    assert not result.certificate.certified
    assert result.bound == -np.inf
    assert result.history.last.gap <= 1.5 * tol
    text = (
        r"the estimated gap is \S+, but nothing is proved: the domain X, a Oracle, lacks what a "
        r"proof needs; add bound\(v, \*, slack, failure, seed, enough\), which returns a "
        r"condal.types.Proof of a lower bound on <v, x> over X and max_norm, an upper bound on "
        r"\|x\| over X"
    )
    assert re.fullmatch(text, result.reason)
    assert result.reason in " ".join(str(result).split())  # its lines are wrapped


def test_the_laws_of_an_oracle_are_checked():
    condal.check_problem(constrained(Oracle()))

    class Upwards(Oracle):
        def lmo(self, v):
            return -super().lmo(v)

    with pytest.raises(ProblemError, match="another one of X has a smaller <v, x>"):
        condal.check_problem(constrained(Upwards()))


def test_at_a_limit_the_reason_says_why_nothing_is_proved():
    result = condal.solve(constrained(Oracle()), condal.CGAL(), tol=1e-9, max_iters=20)
    assert result.status is condal.Status.MAX_ITERS
    assert "the domain X, a Oracle, lacks what a proof needs" in result.reason


def test_without_a_distance_the_proof_says_that_it_trusts_the_oracle():
    result = condal.solve(constrained(Proving()), tol=1e-4)
    assert result.status is condal.Status.SOLVED
    assert result.certificate.how == (
        "closed form, trusting that the oracle lmo returns points of X"
    )
    assert not result.reason


def test_a_complete_domain_is_used_as_it_is():
    X = Complete()
    assert constrained(X).X is X
    result = condal.solve(constrained(X), tol=1e-4)
    assert (result.status, result.certificate.how) == (condal.Status.SOLVED, "closed form")


def test_a_projection_is_used_for_the_method_and_the_distance():
    class Ball(Proving):
        max_norm = 1.0

        def lmo(self, v):
            return -v / max(np.linalg.norm(v), 1e-300)

        def bound(self, v, *, slack, failure, seed, enough=np.inf):
            return Proof(-float(np.linalg.norm(v)) * (1 + 1e-12), "closed form")

        def project(self, v):
            return v / max(1.0, np.linalg.norm(v))

    problem = constrained(Ball())
    assert problem.X.distance(np.array([3.0, 4.0, 0.0])) == pytest.approx(4.0)
    result = condal.solve(problem, tol=1e-6)
    assert result.status is condal.Status.SOLVED
    assert result.method == "primal-dual"
    assert result.certificate.how == "closed form"

    class Wrong(Ball):
        def project(self, v):
            return np.zeros(2)

    wrong = condal.solve(problem_over(Wrong()))
    assert wrong.status is condal.Status.NUMERICAL_ERROR
    assert "the projection" in wrong.reason


def test_a_method_that_projects_says_what_to_add():
    text = r"needs a domain with a projection: add project\(v\), the nearest"
    with pytest.raises(ProblemError, match=text):
        condal.solve(constrained(Oracle()), condal.methods.PrimalDual())


def test_matrices_and_blocks():
    class Trace:
        """X = {x psd, 4 x 4 : tr x = 1}."""

        def lmo(self, v):
            vectors = np.linalg.eigh(v.to_dense())[1]
            return LowRank(vectors[:, [0]], np.ones(1))

    C = np.diag([3.0, 1.0, 2.0, 4.0])
    alone = condal.solve(condal.Problem.of(condal.Linear(C), Trace()))
    assert alone.objective == pytest.approx(1.0, abs=1e-2)
    blocks = condal.Problem.of(
        condal.Linear((C, np.array([1.0, -1.0]))), condal.Product(Trace(), condal.Simplex(2))
    )
    result = condal.solve(blocks)
    assert result.status is condal.Status.STALLED
    assert "the domain X, a Trace, lacks what a proof needs" in result.reason
    assert result.objective == pytest.approx(0.0, abs=1e-2)


def test_a_wrong_answer_of_the_oracle_is_named():
    class Long(Oracle):
        def lmo(self, v):
            return np.append(super().lmo(v), 0.0)

    result = condal.solve(problem_over(Long()))
    assert result.status is condal.Status.NUMERICAL_ERROR
    assert "the domain X" in result.reason
    assert "returned shape (4,) where (3,) was promised" in result.reason


def test_checkpoints(tmp_path):
    path = tmp_path / "solve.condal"
    condal.solve(constrained(Oracle()), condal.CGAL(), tol=1e-9, max_iters=20, checkpoint=path)
    resumed = condal.resume(path, constrained(Oracle()), max_iters=20)
    straight = condal.solve(constrained(Oracle()), condal.CGAL(), tol=1e-9, max_iters=40)
    np.testing.assert_array_equal(resumed.x, straight.x)


class Sums:
    """Ax = (x_1, x_1 + x_2, ...)."""

    size = 3

    def __call__(self, x):
        return np.cumsum(x)

    def adjoint(self, y):
        return np.cumsum(y[::-1])[::-1]


class Diagonals:
    """Ax = diag x."""

    size = 4

    def __call__(self, x):
        return np.array(np.diag(np.asarray(x)))

    def adjoint(self, y):
        return condal.operators.Symmetric(4, diagonal=np.array(y))


def test_a_map_of_three_members():
    sums = np.tril(np.ones((3, 3)))
    results = [
        condal.solve(problem_over(Complete(), A=A, K=condal.Box([-0.2] * 3, [0.2] * 3)), tol=1e-5)
        for A in (Sums(), condal.Matrix(sums))
    ]
    assert all(result.status is condal.Status.SOLVED for result in results)
    assert results[0].objective == pytest.approx(results[1].objective, abs=1e-4)
    A = problem_over(Complete(), A=Sums(), K=condal.Equal(np.zeros(3))).A
    assert A.norm == pytest.approx(np.linalg.norm(sums, 2), rel=0.03)
    assert A.norm >= np.linalg.norm(sums, 2) * (1 - 1e-12)
    np.testing.assert_allclose(A.row_norms(), np.linalg.norm(sums, axis=1))


def test_a_scaled_form_of_its_own_is_completed_too():
    class Own(Sums):
        def scaled(self, rows):
            scaled = Sums()
            scaled.adjoint = lambda y: Sums.adjoint(self, rows * y)
            return scaled

    A = problem_over(Complete(), A=Own(), K=condal.Equal(np.zeros(3))).A
    np.testing.assert_allclose(A.scaled(np.full(3, 2.0)).row_norms(), 2 * A.row_norms())


def test_a_map_of_matrices():
    problem = condal.Problem.of(
        condal.Linear(np.ones((4, 4))),
        condal.Spectrahedron(4, 4.0),
        Diagonals(),
        condal.Equal(np.ones(4)),
    )
    condal.check_problem(problem)
    result = condal.solve(problem, tol=1e-4)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(0.0, abs=1e-3)


def test_a_map_without_a_size_is_refused():
    class Unsized:
        adjoint = __call__ = Sums.__call__

    text = "the map A, a Unsized, lacks what a solve needs; add size: the length of Ax"
    with pytest.raises(ProblemError, match=text):
        problem_over(Oracle(), A=Unsized(), K=condal.Equal(np.zeros(3)))


class Quartic:
    """f(x) = sum_i x_i^4 - x_i / 8, where |x_i| <= 2."""

    L, size = 48.0, 3

    def value(self, u):
        return float(np.sum(u**4 - u / 8))

    def gradient(self, u):
        return 4 * u**3 - 1 / 8


def test_an_objective_of_three_members():
    problem = condal.Problem.of(Quartic(), Complete())
    condal.check_problem(problem)
    result = condal.solve(problem, tol=1e-4)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(-(9 / 32) * 32 ** (-1 / 3), abs=1e-3)
    assert "trusting the value and the gradient of f" in result.certificate.how


def test_an_objective_must_say_how_long_x_is_and_how_steep_its_gradient():
    class Vague(Quartic):
        size = None

    class Steep:
        size, value, gradient = 3, Quartic.value, Quartic.gradient

    with pytest.raises(ProblemError, match="a Vague, does not say how long x is: add size"):
        condal.Problem.of(Vague(), Complete())
    condal.Problem.of(Vague(), Complete(), condal.Identity(3), condal.Equal(np.zeros(3)))
    with pytest.raises(
        ProblemError, match=r"the objective f, a Steep, lacks .* add L: a Lipschitz"
    ):
        condal.Problem.of(Steep(), Complete())
