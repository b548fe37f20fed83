"""The user's own pieces, each with each fault, at its first call and at a later one."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

import condal
import condal_lab
from condal.driver.guards import guarded
from condal.errors import PieceError
from condal.linalg.points import LowRank
from condal.linalg.rounding import Proof
from condal.linalg.symmetric import Symmetric
from condal.methods import corrective
from forwarding import Forwarding, problem_of
from known import PLANTED, planted_sdp

N = 6
EARLY, LATE = 1, 40  # the call that goes wrong


class Breaks(Exception):
    """What the user's code raises."""


class Faulty(Forwarding):
    """A piece that answers as another does, but for one verb from one call on."""

    def __init__(self, inner, verb, fault, at, *, once=False):
        self._verb, self._fault, self._at, self._once = verb, fault, at, once
        self.calls = 0

    def _forward(self, name):
        value = super()._forward(name)
        return self._watched(value) if name == self._verb else value

    def _watched(self, value):
        if not callable(value):
            return self._answer(lambda: value)
        return lambda *args, **options: self._answer(lambda: value(*args, **options))

    def _answer(self, make):
        answer = make()
        if answer is None or (self._verb == "adjoint" and not np.any(answer)):
            return answer  # what the making of the problem asks for
        self.calls += 1
        now = self.calls == self._at if self._once else self.calls >= self._at
        return self._fault(answer) if now else answer


class FaultyMap(Faulty):
    def __call__(self, x):
        return self._answer(lambda: self._inner(x)) if self._verb == "image" else self._inner(x)

    def scaled(self, rows):
        return condal.maps.Scaled(self, rows)


class FaultyObjective(Faulty):
    def scaled(self, c):
        return self  # whose normalised form is itself, well enough


class FaultySet(Faulty):
    @property
    def pieces(self):
        return [(slice(0, self.size), self)]

    separable = False

    def sized(self, size):
        return self

    def scaled(self, rows, c):
        assert np.ptp(rows) == 0
        twin = type(self)(self._inner.scaled(rows, c), self._verb, self._fault, self._at)
        self.twin = twin
        return twin


def nan(answer):
    if isinstance(answer, Proof):
        return replace(answer, value=np.nan)
    return answer * np.nan


def longer(answer):
    return np.append(answer, 0.0)


def raises(answer):
    raise Breaks("out of cheese")


def of_no_type(answer):
    return "a word"


def single(answer):
    return answer.astype(np.float32)


def nothing(answer):
    return None


ARRAYS = [nan, longer, raises, of_no_type, nothing, single]
NUMBERS = [nan, raises, of_no_type]
KINDS = [
    *(("X", Faulty, "lmo", fault) for fault in ARRAYS),
    *(("X", Faulty, "distance", fault) for fault in NUMBERS),
    *(("X", Faulty, "bound", fault) for fault in NUMBERS),
    *((m, FaultyMap, "image", fault) for m in "ABM" for fault in ARRAYS),
    *((m, FaultyMap, "adjoint", fault) for m in "ABM" for fault in ARRAYS),
    *(("f", FaultyObjective, "gradient", fault) for fault in ARRAYS),
    *(("f", FaultyObjective, "value", fault) for fault in NUMBERS),
    *((h, FaultySet, "prox", fault) for h in "Kg" for fault in ARRAYS),
    *((h, FaultySet, "multiplier", fault) for h in "Kg" for fault in ARRAYS),
    *((h, FaultySet, "conjugate", fault) for h in "Kg" for fault in NUMBERS),
    *((h, FaultySet, "value", fault) for h in "Kg" for fault in NUMBERS),
    *((h, FaultySet, "distance", fault) for h in "Kg" for fault in NUMBERS),
]
WORDS = {
    "X": "the domain X",
    "A": "the map A",
    "B": "the map B",
    "M": "the map M of f",
    "f": "the objective f",
    "K": "the set K",
    "g": "the function g",
}


CGAL = condal.CGAL(1.0)


def reached(problem, method=CGAL, **options):
    """The result of a solve, returned or attached, and what was said of the fault."""
    options = {"tol": 1e-9, "max_iters": 60, **options}
    try:
        result = condal.solve(problem, method, **options)
    except PieceError as error:
        return error.result, str(error), error
    return result, result.reason, None


@pytest.mark.parametrize("at", [EARLY, LATE])
@pytest.mark.parametrize(
    ("letter", "kind", "verb", "fault"),
    KINDS,
    ids=[f"{letter}-{verb}-{fault.__name__}" for letter, _, verb, fault in KINDS],
)
def test_every_fault_of_every_piece_is_named(letter, kind, verb, fault, at):
    rare = verb in ("distance", "bound") and letter == "X"  # asked for once a proof
    at = EARLY if rare else at
    problem = problem_of(**{letter: lambda piece: kind(piece, verb, fault, at)})
    result, text, error = reached(problem)
    assert WORDS[letter] in text
    if fault is raises:
        assert text.endswith("raised Breaks: out of cheese")
        assert isinstance(error, condal.CondalError)
        assert isinstance(error.__cause__, Breaks)
        assert error.piece == letter
    else:
        assert error is None
        assert "was promised" in text
        assert result.reason in " ".join(str(result).split())  # its lines are wrapped
    assert result.status is condal.Status.NUMERICAL_ERROR
    assert not np.isnan(result.bound)
    if at == LATE:
        assert result.iterations >= 5
        assert result.x is not None
        assert condal.Simplex(N).distance(result.x) < 1e-9
    elif result.x is not None:
        assert np.isfinite(result.x).all()


@pytest.mark.parametrize(
    ("letter", "kind", "verb", "fault", "text"),
    [
        ("A", FaultyMap, "image", longer, "the map A returned shape (3,) where (2,) was promised"),
        ("A", FaultyMap, "image", nan, "the map A returned nan at index 0 where a finite number"),
        ("A", FaultyMap, "image", of_no_type, "returned a str where an array of shape (2,) was"),
        ("A", FaultyMap, "image", single, "returned numbers of type float32 where float64 was"),
        ("B", FaultyMap, "adjoint", nothing, "the adjoint of the map B returned None where an"),
        ("X", Faulty, "lmo", longer, "the oracle lmo of the domain X returned shape (7,) where"),
        ("X", Faulty, "bound", nothing, "bound of the domain X returned a NoneType where a condal"),
        ("f", FaultyObjective, "value", nan, "the value of the objective f returned nan where a"),
        (
            "g",
            FaultySet,
            "conjugate",
            of_no_type,
            "of the function g returned a str where a number",
        ),
    ],
)
def test_the_text_says_what_was_got_and_promised(letter, kind, verb, fault, text):
    problem = problem_of(**{letter: lambda piece: kind(piece, verb, fault, EARLY)})
    assert text in reached(problem)[1]


@pytest.mark.parametrize("letter", ["A", "M"])
def test_after_a_fault_that_does_not_come_again_the_best_is_proved(letter):
    problem = problem_of(**{letter: lambda piece: FaultyMap(piece, "image", nan, LATE, once=True)})
    result, _, _ = reached(problem)
    assert np.isfinite(result.bound)
    assert result.objective == problem.objective(result.x)


def test_a_map_that_fails_for_good_leaves_the_point_and_claims_nothing():
    problem = problem_of(A=lambda A: FaultyMap(A, "image", raises, LATE))
    with pytest.raises(PieceError) as caught:
        condal.solve(problem, condal.CGAL(1.0), tol=1e-9)
    result = caught.value.result
    assert result.x is not None
    assert np.isnan(result.objective)
    assert not result.certificate.certified


def test_a_fault_while_the_problem_is_made_is_named_too():
    class Broken(condal.Matrix):
        def adjoint(self, y):
            raise Breaks("at once")

    with pytest.raises(PieceError, match="adjoint of the constraint map A raised Breaks: at once"):
        problem_of(A=lambda A: Broken(A.a))


def test_nothing_is_tried_after_a_fault():
    """Where the choice is ours there are several methods, and a broken piece breaks all of them."""

    class Broken(condal.Spectrahedron):
        def lowest(self, v, count, tol, *, beside=None):
            raise Breaks("no eigenvalues today")

        def lmo(self, v, tol=0.0, guess=None):
            raise AssertionError("another method was tried")

    known = planted_sdp()
    X = Broken(12, trace=3.0)
    with pytest.raises(PieceError, match="of the domain X raised Breaks: no eigenvalues"):
        condal.solve(replace(known.problem, X=X), condal.methods.LowRankCGAL())


@pytest.mark.parametrize("where", ["Linear", "LeastSquares", "Quadratics", "A"])
@pytest.mark.parametrize("fault", [nan, raises])
def test_operators_within_our_own_pieces(where, fault):
    n, calls = 5, []

    def product(v):
        calls.append(1)
        return fault(v) if len(calls) > LATE else 2.0 * v

    op = LinearOperator((n, n), matvec=product, rmatvec=product, dtype=np.float64)
    vectors = condal.LeastSquares(op if where == "LeastSquares" else np.eye(n), np.arange(5.0))
    if where == "Linear":
        problem = condal.Problem.of(
            condal.Linear(op), condal.Spectrahedron(n), condal.Diagonal(n), condal.Equal([0.2] * n)
        )
    elif where == "Quadratics":
        A, K = condal.Quadratics(op, lengths=np.full(n, 2.0)), condal.Equal([0.8] * n)
        problem = condal.Problem.of(condal.Linear(np.eye(n)), condal.Spectrahedron(n), A, K)
    elif where == "A":
        K = condal.Box([0.1] * n, [0.9] * n)
        problem = condal.Problem.of(vectors, condal.Simplex(n), op, K)
    else:
        problem = condal.Problem.of(vectors, condal.Simplex(n))
    del calls[:]
    result, text, error = reached(problem, max_iters=500)
    words = {"Linear": "the objective f", "LeastSquares": "the map M of f"}
    assert words.get(where, "the map A") in text
    assert (error is not None) == (fault is raises)
    assert result.status is condal.Status.NUMERICAL_ERROR


@pytest.mark.parametrize("fault", [raises, nan])
def test_a_repair_and_a_proposal_of_the_user_s(fault):
    for letter in ("repair", "propose"):
        problem = replace(problem_of(), **{letter: fault})
        result, text, error = reached(problem, tol=1e-2, max_iters=300)
        said = f"the {'repair' if letter == 'repair' else 'proposal'} "
        assert text.startswith(said)
        if error is not None:
            assert error.piece == letter
        assert result.status is condal.Status.NUMERICAL_ERROR


class Matrices(condal.Spectrahedron):
    """A spectral domain of the user's own, with one kind of wrong answer."""

    def lmo(self, v, tol=0.0, guess=None):
        s = super().lmo(v, tol, guess)
        return {
            "side": LowRank(s.U[:-1], s.weights),
            "weights": LowRank(s.U, np.ones(3)),
            "nan": LowRank(s.U * np.nan, s.weights),
            "array": np.asarray(s)[:-1],
            "list": [1.0],
        }[self.wrong]


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (
            "side",
            r"returned a LowRank with U of shape \(11, 1\) and 1 weights where one of side 12",
        ),
        ("weights", r"returned a LowRank with U of shape \(12, 1\) and 3 weights"),
        ("nan", "returned nan at index 0, 0"),
        ("array", r"returned shape \(11, 12\) where \(12, 12\) was promised"),
        ("list", r"returned a list where an array of shape \(12, 12\) was promised"),
    ],
)
def test_points_of_matrices(wrong, text):
    X = Matrices(12, trace=3.0)
    object.__setattr__(X, "wrong", wrong)
    result = condal.solve(replace(planted_sdp().problem, X=X), condal.CGAL())
    assert re.search(text, result.reason)


class Half(condal.Diagonal):
    """A map of matrices of the user's own, with one kind of wrong gradient."""

    wrong = ""
    calls = 0

    def adjoint(self, y):
        Half.calls += bool(y.any())
        if Half.calls < 8:
            return super().adjoint(y)
        return {
            "array": np.diag(y),
            "side": Symmetric(self.n + 1),
            "nan": Symmetric(self.n, diagonal=y * np.nan),
            "pairs": Symmetric(self.n, pairs=((y, y * np.inf),)),
        }[self.wrong]


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ("array", "returned an array of shape (3, 3) where a condal.operators.Symmetric of side 3"),
        ("side", "returned a Symmetric of side 4 where one of side 3 was promised"),
        ("nan", "returned a Symmetric with nan or inf in it where one of finite numbers"),
        ("pairs", "returned a Symmetric with nan or inf in it"),
    ],
)
def test_gradients_of_matrices(wrong, text, monkeypatch):
    monkeypatch.setattr(Half, "wrong", wrong)
    monkeypatch.setattr(Half, "calls", 0)
    problem = condal.Problem.of(
        condal.Linear(np.diag([1.0, 2.0, 3.0])),
        condal.Spectrahedron(3),
        Half(3),
        condal.Equal([0.2, 0.3, 0.5]),
    )
    with np.errstate(invalid="ignore"):
        result = condal.solve(problem, condal.CGAL(), tol=1e-9, max_iters=50)
    assert text in result.reason


def test_blocks_of_a_product():
    class Short(condal.Product):
        def lmo(self, v, tol=0.0, guess=None):
            return super().lmo(v, tol, guess)[:1]

    class Flat(condal.Product):
        def lmo(self, v, tol=0.0, guess=None):
            return np.zeros(4)

    for kind, text in ((Short, "returned 1 blocks where 2 was"), (Flat, "where a tuple of 2")):
        problem = condal.Problem.of(
            condal.Linear((np.ones(2), np.ones(3))), kind(condal.Simplex(2), condal.Simplex(3))
        )
        assert text in condal.solve(problem, condal.CGAL()).reason


def test_a_product_of_the_user_s_own_is_solved():
    class Pair(condal.Product):
        pass

    C = (np.array([1.0, 2.0]), np.diag([3.0, 1.0]))
    problem = condal.Problem.of(condal.Linear(C), Pair(condal.Simplex(2), condal.Spectrahedron(2)))
    for method in (None, condal.CGAL()):
        result = condal.solve(problem, method)
        assert result.status is condal.Status.SOLVED
        assert result.objective == pytest.approx(2.0, rel=1e-3)


# Oracles and projections under the other methods.


class FaultyMatrices(condal.Spectrahedron):
    """A spectral domain of the user's own whose oracle goes wrong from one call on."""

    def lmo(self, v, tol=0.0, guess=None):
        s = super().lmo(v, tol, guess)
        calls = self.__dict__["calls"] = self.__dict__.get("calls", 0) + 1
        if calls < self.__dict__["at"]:
            return s
        return {
            nan: lambda: LowRank(s.U * np.nan, s.weights),
            longer: lambda: LowRank(np.vstack([s.U, s.U[:1]]), s.weights),
            raises: lambda: raises(s),
            of_no_type: lambda: "a word",
            nothing: lambda: None,
        }[self.__dict__["fault"]]()


def sketched(fault, at):
    """Without constraints, x kept as a sketch."""
    rng = np.random.default_rng(2)
    X = FaultyMatrices(N)
    X.__dict__.update(fault=fault, at=at)
    f = condal.LeastSquares(condal.Quadratics(rng.standard_normal((9, N))), rng.random(9))
    return condal.Problem.of(f, X), condal_lab.methods.SketchyCGM(), None


def smoothed(fault, at):
    """h is Lipschitz."""
    rng = np.random.default_rng(3)
    X = Faulty(condal.Simplex(N), "lmo", fault, at)
    f = condal.LeastSquares(rng.standard_normal((4, N)), 3 * rng.standard_normal(4))
    B = condal.Matrix(rng.standard_normal((3, N)))
    return condal.Problem.of(f, X, B=B, g=condal.L1(0.3)), condal_lab.methods.SmoothedCG(), X


def agreeing(X, cost):
    """A simplex and another domain that agree."""
    agree = condal.Across(condal.Matrix(np.eye(N)), condal.Matrix(-np.eye(N)))
    f, both = condal.Linear((cost, np.zeros(N))), condal.Product(condal.Simplex(N), X)
    return condal.Problem.of(f, both, agree, condal.Equal(np.zeros(N)))


def greedy(fault, at):
    """Two polytopes that agree: the oracle of the second goes wrong."""
    X = Faulty(condal.LinfBall(N), "lmo", fault, at)
    cost = np.random.default_rng(4).standard_normal(N)
    return agreeing(X, cost), condal_lab.methods.GDMM(), X


@pytest.mark.parametrize("fault", [nan, longer, raises, of_no_type, nothing])
@pytest.mark.parametrize("at", [EARLY, 4])
@pytest.mark.parametrize("of", [sketched, smoothed, greedy])
def test_an_oracle_under_other_methods(of, fault, at):
    problem, method, X = of(fault, at)
    result, text, _ = reached(problem, method, tol=1e-12, max_iters=40)
    assert text.startswith("the oracle lmo of the domain X ")
    raised = "raised Breaks: out of cheese"
    assert raised in text if fault is raises else "was promised" in text
    assert result.status is condal.Status.NUMERICAL_ERROR
    assert (result.x is not None) == (at > EARLY)
    assert X is None or X.calls >= at


@pytest.mark.parametrize("fault", [nan, longer, raises, of_no_type, nothing])
@pytest.mark.parametrize("at", [EARLY, LATE])
@pytest.mark.parametrize("method", [None, condal.methods.PrimalDual()])
def test_a_projection_under_other_methods(fault, at, method):
    X = Faulty(condal.Simplex(N), "project", fault, at)
    result, text, _ = reached(problem_of(X=lambda _: X), method, tol=1e-12, max_iters=400)
    assert text.startswith("the projection of the domain X ")
    assert result.status is condal.Status.NUMERICAL_ERROR
    assert X.calls >= at


@pytest.mark.parametrize("fault", [nan, longer, raises, of_no_type, nothing])
def test_a_projection_of_a_block(fault):
    X = Faulty(condal.LinfBall(N), "project", fault, EARLY)
    problem = agreeing(X, np.arange(N, dtype=float))
    text = reached(problem, condal.methods.PrimalDual())[1]
    assert text.startswith("the projection of the domain X ")


@pytest.mark.parametrize("letter", ["A", "B", "M"])
@pytest.mark.parametrize("fault", [nan, raises])
def test_faults_under_the_default_method(letter, fault):
    problem = problem_of(**{letter: lambda piece: FaultyMap(piece, "adjoint", fault, 8)})
    result, text, _ = reached(problem, None, max_iters=500)
    assert WORDS[letter] in text
    assert result.status is condal.Status.NUMERICAL_ERROR


# What a guard leaves alone.


@pytest.mark.parametrize("name", PLANTED)
def test_a_problem_of_our_own_pieces_is_not_wrapped(name):
    problem = PLANTED[name]().problem
    assert guarded(problem) is problem
    model = condal.problems.max_cut([[0, 1], [1, 0]])
    assert guarded(model.problem) is model.problem
    assert guarded(problem_of()).A.maps[0] is not None


def test_a_sound_piece_of_the_user_s_gives_the_same_answer():
    sound = {
        "X": lambda X: Faulty(X, "", None, 0),
        "A": lambda A: FaultyMap(A, "", None, 0),
        "g": lambda g: FaultySet(g, "", None, 0),
    }
    ours = condal.solve(problem_of(), corrective(), tol=1e-4)
    theirs = condal.solve(problem_of(**sound), corrective(), tol=1e-4)
    assert theirs.status is ours.status is condal.Status.SOLVED
    assert theirs.objective == pytest.approx(ours.objective, rel=2e-4)


def test_the_user_s_own_objects_are_asked_and_not_copies():
    X = Faulty(condal.Simplex(N), "lmo", lambda s: s, 0)
    result = condal.solve(problem_of(X=lambda _: X), condal.CGAL(1.0), max_iters=20)
    assert X.calls == result.oracle_calls == 20


def test_an_interrupt_is_none_of_the_piece_s(monkeypatch):
    def interrupted(answer):
        raise KeyboardInterrupt

    problem = problem_of(X=lambda X: Faulty(X, "lmo", interrupted, LATE))
    assert condal.solve(problem, condal.CGAL(1.0), tol=1e-9).status is condal.Status.INTERRUPTED
    tight = problem_of(X=lambda X: Faulty(X, "lmo", lambda _: monkeypatch.no_such_name, LATE))
    with pytest.raises(PieceError, match="raised AttributeError"):
        condal.solve(tight, condal.CGAL(1.0), tol=1e-9)


def test_memory_that_runs_out_is_no_fault_of_a_piece():
    def greedy(answer):
        raise MemoryError

    problem = problem_of(X=lambda X: Faulty(X, "lmo", greedy, LATE))
    with pytest.raises(MemoryError):
        condal.solve(problem, condal.CGAL(1.0), tol=1e-9)
