"""Operators of the user's that go wrong while things are made of them, or while a solve begins."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import condal
from condal import Problem, Simplex, Status
from condal.errors import PieceError, ProblemError

P, N = 3, 4


class Breaks(Exception):
    """What the user's code raises."""


def faulty(fault, shape=(P, N), dtype=float, back=False):
    """An operator of zeros whose products go wrong, or those of its adjoint if `back`."""

    def wrong(v):
        if fault == "raises":
            raise Breaks("out of cheese")
        size = shape[1 if back else 0]
        return {"nan": np.full(size, np.nan), "inf": np.full(size, np.inf)}.get(
            fault, np.zeros(size - 1)
        )

    def right(v):
        return np.ones(shape[0 if back else 1], dtype=dtype)

    products = {"matvec": right, "rmatvec": wrong} if back else {"matvec": wrong, "rmatvec": right}
    return LinearOperator(shape, dtype=dtype, **products)


MADE = {
    "op": lambda fault: condal.Operator(faulty(fault)),
    "C": lambda fault: condal.Linear(faulty(fault, (N, N))),
    "C, in a block": lambda fault: condal.Linear((np.ones(2), faulty(fault, (N, N)))),
    "C, complex": lambda fault: condal.Linear(faulty(fault, (N, N), complex)),
    "Q": lambda fault: condal.Quadratic(faulty(fault, (N, N))),
    "F": lambda fault: condal.FactoredQuadratic(faulty(fault)),
    "M": lambda fault: condal.LeastSquares(faulty(fault), np.ones(P)),
    "M, of losses": lambda fault: condal.Huber(faulty(fault), np.ones(P)),
    "M, of a function": lambda fault: condal.Function(
        lambda u: 0.0, lambda u: 0 * u, L=0.0, M=faulty(fault)
    ),
    "A": lambda fault: Problem.of(
        condal.Linear(np.ones(N)), Simplex(N), faulty(fault), condal.Equal(np.ones(P))
    ),
    "B": lambda fault: Problem.of(
        condal.Linear(np.ones(N)), Simplex(N), B=faulty(fault), g=condal.L1(1.0)
    ),
}
FAULTS = {
    "raises": "raised Breaks: out of cheese",
    "nan": "returned nan at index 0 where a finite number was promised: look at its product with ",
    "inf": "returned inf at index 0 where a finite number was promised: look at its product with ",
    "short": "returned an array of size ",
}
made = pytest.mark.parametrize(("letter", "make"), MADE.items(), ids=MADE)


@made
@pytest.mark.parametrize("fault", FAULTS)
def test_the_operator_is_named_when_it_is_made_something_of(letter, make, fault):
    name = letter.split(",")[0]
    with pytest.raises(PieceError) as caught:
        make(fault)
    assert str(caught.value).startswith(f"the operator {name} {FAULTS[fault]}")
    assert caught.value.piece == name
    assert isinstance(caught.value.__cause__, Breaks) == (fault == "raises")


def test_a_wrong_shape_that_scipy_sees_is_given_with_what_was_promised():
    with pytest.raises(PieceError) as caught:
        condal.Linear(faulty("short", (N, N)))
    assert str(caught.value) == (
        "the operator C returned an array of size 3 where one of shape (4,) was promised: look at "
        "its product with a random vector"
    )


def test_an_operator_of_operators_that_do_not_fit_each_other():
    inner = aslinearoperator(np.eye(3))
    op = LinearOperator((N, N), matvec=inner.matvec, dtype=float)
    with pytest.raises(PieceError, match=r"the operator Q returned no product \(dimension mismat"):
        condal.Quadratic(op)


@pytest.mark.parametrize("fault", FAULTS)
def test_the_adjoint_is_named_as_such(fault):
    with pytest.raises(PieceError) as caught:
        condal.Operator(faulty(fault, back=True))
    assert str(caught.value).startswith(f"the adjoint of the operator op {FAULTS[fault]}")


def test_an_operator_without_an_adjoint():
    op = LinearOperator((P, N), matvec=lambda v: np.zeros(P), dtype=float)
    with pytest.raises(PieceError, match="the adjoint of the operator op raised NotImplemented"):
        condal.Operator(op)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-100, 1.0, 1e100, 1e200, 1e300])
@pytest.mark.parametrize("n", [5, 500])
def test_numbers_of_all_sizes_have_a_norm(n, scale):
    op = aslinearoperator(scale * np.diag(np.linspace(0.5, 1.0, n)))
    assert scale <= condal.Operator(op).norm * (1 + 1e-12) <= 1.1 * scale
    for form in (np.asarray, sp.csr_array):
        A = condal.Matrix(form(op.A))
        assert scale <= A.norm * (1 + 1e-12) <= 1.1 * scale
    if 1e-300 < scale < 1e300:
        assert scale <= condal.Quadratic(op).L * (1 + 1e-12) <= 1.1 * scale


def test_an_operator_of_zeros_and_one_whose_adjoint_is():
    assert condal.Operator(aslinearoperator(np.zeros((P, N)))).norm == 0.0
    for ones in ((1.0, 0.0), (0.0, 1.0)):
        op = LinearOperator(
            (P, N),
            matvec=lambda v, a=ones[0]: np.full(P, a),
            rmatvec=lambda y, a=ones[1]: np.full(N, a),
            dtype=float,
        )
        with pytest.raises(ProblemError, match="the adjoint of the operator op is wrong: one of "):
            condal.Operator(op)


def test_an_adjoint_of_a_wrong_shape_is_found_when_the_problem_is_made():
    A = condal.Operator(faulty("short", back=True), norm=1.0)
    with pytest.raises(PieceError) as caught:
        Problem.of(condal.Linear(np.ones(N)), Simplex(N), A, condal.Equal(np.ones(P)))
    assert str(caught.value) == (
        "the adjoint of the constraint map A returned an array of size 3 where one of shape (4,) "
        "was promised"
    )
    assert caught.value.piece == "A"


# While a solve begins.


def late(fault, good):
    """An operator that goes wrong when it is switched."""
    wrong = [False]

    def product(matrix):
        def called(v):
            if not wrong[0]:
                return matrix @ v
            if fault == "raises":
                raise Breaks("out of cheese")
            return (matrix @ v) * np.nan if fault == "nan" else (matrix @ v)[:-1]

        return called

    op = LinearOperator(
        good.shape, matvec=product(good), rmatvec=product(good.T), matmat=product(good), dtype=float
    )
    return op, wrong


def problem_with(where, fault, maximise):
    """A problem with an operator that is sound until it is switched."""
    eye = np.eye(N)
    op, wrong = late(fault, eye)
    if where == "f":
        problem = Problem.of(
            condal.Linear(op),
            condal.Spectrahedron(N),
            condal.Diagonal(N),
            condal.Equal(np.full(N, 1 / N)),
        )
    elif where == "M":
        M = condal.Quadratics(op)
        problem = Problem.of(condal.LeastSquares(M, np.ones(N)), condal.Spectrahedron(N))
    else:
        K = condal.Equal(np.full(N, 1 / N))
        problem = Problem.of(condal.Linear(np.arange(N)), Simplex(N), op, K)
    problem = replace(problem, maximise=maximise)
    wrong[0] = True
    return problem


@pytest.mark.parametrize("where", ["f", "M", "A"])
@pytest.mark.parametrize("method", [None, condal.CGAL(1.0)])
@pytest.mark.parametrize("maximise", [False, True])
@pytest.mark.parametrize("fault", ["raises", "nan", "short"])
def test_a_fault_while_the_problem_is_scaled_has_a_result(where, method, maximise, fault):
    problem = problem_with(where, fault, maximise)
    if fault == "raises":
        with pytest.raises(PieceError) as caught:
            condal.solve(problem, method)
        result, text = caught.value.result, str(caught.value)
        assert isinstance(caught.value.__cause__, Breaks)
        assert caught.value.piece == where
    else:
        result = condal.solve(problem, method)
        text = result.reason
    words = {"f": "the objective f", "M": "the map M of f", "A": "the map A"}
    assert words[where] in text
    assert result.status is Status.NUMERICAL_ERROR
    assert result.x is None
    assert result.bound == (np.inf if maximise else -np.inf)
    assert np.isnan(result.objective)
    assert result.infeasibility == np.inf
    assert result.y.shape == (problem.A.size,)
    assert not result.certificate.certified
    assert result.iterations == 0
    assert result.problem_name == problem.name
    assert text == result.reason
    assert result.reason in " ".join(str(result).split())  # its lines are wrapped
    assert result.method == ("cgal" if method else "none")


@pytest.mark.parametrize("verb", ["norm", "row_norms", "scaled"])
def test_a_map_of_the_user_s_whose_norms_are_no_numbers(verb):
    class Odd(condal.Matrix):
        @property
        def norm(self):
            return np.nan if verb == "norm" else 1.0

        def row_norms(self):
            return np.full(self.size, np.nan) if verb == "row_norms" else np.ones(self.size)

        def scaled(self, rows):
            if verb == "scaled":
                raise Breaks("out of cheese")
            return Odd(rows[:, None] * self.a)

    problem = Problem.of(
        condal.Linear(np.ones(N)), Simplex(N), Odd(np.ones((2, N))), condal.Equal([1.0, 1.0])
    )
    if verb == "scaled":
        with pytest.raises(PieceError, match="the scaled form of the map A raised") as caught:
            condal.solve(problem)
        assert caught.value.result.x is None
        return
    result = condal.solve(problem)
    assert result.status is Status.NUMERICAL_ERROR
    assert "the norms of the map A returned nan" in result.reason
    assert result.x is None


def test_data_that_cannot_be_scaled_are_still_refused():
    with pytest.raises(ProblemError, match="beyond what double precision holds"):
        condal.solve(Problem.of(condal.Linear(np.full(N, 1e308)), Simplex(N, 10.0)))
