"""check_problem: sound problems pass, and a piece with one thing wrong is named with it."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal.errors import ProblemError
from condal.linalg.rounding import Proof
from forwarding import problem_of
from known import PLANTED

N = 6


class Altered:
    """A user's piece: another one, some of whose answers are changed."""

    def __init__(self, inner, **changes):
        self._inner, self._changes = inner, changes

    def __getattr__(self, name):
        value = getattr(self._inner, name)
        if name not in self._changes:
            return value
        change = self._changes[name]
        if not callable(value):
            return change(value)
        return lambda *args, **options: change(value(*args, **options), *args)

    def __call__(self, x):
        image = self._inner(x)
        return self._changes["image"](image, x) if "image" in self._changes else image

    def sized(self, size):
        return self

    @property
    def pieces(self):
        return self._changes.get("pieces", [(slice(0, self.size), self)])


# Sound problems.


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("seed", range(3))
def test_planted_problems_pass(name, seed):
    report = condal.check_problem(PLANTED[name]().problem, seed=seed)
    assert {check.piece for check in report.checks} == {"X", "M", "f", "A", "K"}
    assert max(check.error for check in report.checks) < 1e-6


def test_a_composite_problem_passes_and_every_piece_is_in_the_report():
    report = condal.check_problem(problem_of())
    assert {check.piece for check in report.checks} == {"X", "M", "f", "A", "K", "B", "g"}
    text = str(report)
    assert text.startswith("problem: no fault found; worst errors\n")
    assert "\n  the function g   prox is best" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert repr(report) == text


def test_models_products_and_problems_without_constraints_pass():
    rng = np.random.default_rng(1)
    W = sp.random(9, 9, 0.5, random_state=0)
    condal.check_problem(condal.problems.max_cut(W + W.T))
    condal.check_problem(condal.problems.k_means(rng.standard_normal((8, 2)), 2))
    condal.check_problem(condal.Problem.of(condal.Linear(np.ones(3)), condal.L1Ball(3)))
    pair = condal.Product(condal.Simplex(3), condal.Spectrahedron(4, 2.0))
    both = condal.Across(condal.Matrix(rng.standard_normal((4, 3))), condal.Diagonal(4))
    C = (np.ones(3), np.eye(4))
    condal.check_problem(condal.Problem.of(condal.Linear(C), pair, both, condal.NonNegative(4)))
    B, g = condal.FiniteDifferences((2, 3)), condal.L1(0.2)
    condal.check_problem(condal.Problem.of(problem_of().f, condal.Simplex(N), B=B, g=g))


def test_a_sound_piece_of_the_user_s_own_passes():
    sound = dict.fromkeys("XABMKg", Altered)
    assert condal.check_problem(problem_of(**sound)).checks


def test_the_same_seed_makes_the_same_report():
    problem = problem_of()
    assert condal.check_problem(problem, seed=3) == condal.check_problem(problem, seed=3)
    assert condal.check_problem(problem, seed=3) != condal.check_problem(problem, seed=4)


# One thing wrong.


def shifting():
    """Another answer at every call."""
    calls = []

    def change(answer, *_):
        calls.append(1)
        return answer + 1e-3 * len(calls)

    return change


def spoils(answer, argument, *_):
    """The answer, the argument written on."""
    argument[0] += 1.0
    return answer


def scaled_by(c):
    return lambda answer, *_: c * answer


def twice(h, rows, c):
    return h.scaled(np.full(h.size, 2.0), 3.0)


WRONG = [
    ("X", {"lmo": scaled_by(1.01)}, "domain X is wrong: the oracle lmo gave a point .* not in X"),
    ("X", {"lmo": lambda s, v, *_: np.roll(s, 1)}, "another one of X has a smaller <v, x>"),
    (
        "X",
        {"bound": lambda proof, *_: replace(proof, value=proof.value + 1.0)},
        "the bound is above <v, x> for a point x of X",
    ),
    ("X", {"diameter": scaled_by(0.5)}, "two points of X are farther apart than its diameter"),
    ("X", {"max_norm": scaled_by(0.5)}, "a point of X has a larger norm than max_norm"),
    ("X", {"lmo": spoils}, "domain X is wrong: the oracle lmo (changes its argument|gave a)"),
    ("X", {"lmo": lambda s, *_: s * np.nan}, "oracle lmo of the domain X returned nan at index 0"),
    ("X", {"lmo": lambda s, *_: s[1:]}, r"returned shape \(5,\) where \(6,\) was promised"),
    ("X", {"bound": lambda *_: 1.0}, "bound of the domain X returned a float where a condal.types"),
    *(
        (letter, changes, f"{name}{text}")
        for letter, name in (("A", "map A"), ("B", "map B"), ("M", "map M of f"))
        for changes, text in [
            ({"adjoint": scaled_by(1.001)}, ": the adjoint is wrong: <Ax, y> and <x, A'y> differ"),
            ({"image": lambda image, x: image + 1.0}, ": the adjoint is wrong"),
            ({"image": lambda image, x: image[:1]}, r" returned shape \(1,\) where"),
            ({"norm": scaled_by(0.1)}, " is wrong: an image is longer than the norm allows"),
            ({"row_norms": scaled_by(0.1)}, " is wrong: an entry of an image is larger than row_n"),
            (
                {"scaled": lambda made, rows: made.scaled(np.full(rows.size, 2.0))},
                r" is wrong: scaled\(rows\) is not x -> rows \* Ax",
            ),
            ({"image": spoils}, "(: the adjoint is wrong| is wrong: it changes its argument)"),
            ({"adjoint": spoils}, "(: the adjoint is wrong| is wrong: its adjoint changes)"),
        ]
    ),
    ("f", {"gradient": scaled_by(1.01)}, "the gradient is not the derivative of the value"),
    ("f", {"value": scaled_by(-1.0), "gradient": scaled_by(-1.0)}, "f is wrong: it is not convex"),
    ("f", {"L": scaled_by(0.01)}, "its curvature is more than L = .* says"),
    ("f", {"value": shifting()}, "f is wrong: it gives another value or gradient"),
    ("f", {"gradient": spoils}, "f is wrong: (the gradient|it changes its argument)"),
    ("f", {"scaled": lambda f, c: f.scaled(2.0)}, r"f is wrong: scaled\(c\) is not c f"),
    ("f", {"gradient": lambda g, u: g[:1]}, r"gradient of the objective f returned shape \(1,\)"),
    *(
        (letter, changes, f"{name} {text}")
        for letter, name in (("K", "set K"), ("g", "function g"))
        for changes, text in [
            ({"prox": lambda p, z, t: z}, "is wrong: "),
            ({"multiplier": scaled_by(1.1)}, r"is wrong: multiplier\(z, lam\) is not lam"),
            (
                {"conjugate": lambda c, y: c + 10.0},
                r"is wrong: h\(p\) \+ h\*\(w\) = <p, w> does",
            ),
            (
                {"distance": lambda d, z: d + 1.0},
                "is wrong: its prox is a point at which it is",
            ),
            (
                {"scaled": twice},
                r"is wrong: (scaled|the)",
            ),
            ({"prox": spoils}, "is wrong: its prox changes its argument"),
            ({"prox": lambda p, z, t: p[:1]}, r"returned shape \(1,\) where"),
            ({"pieces": []}, "is wrong: its pieces do not cover 0.."),
        ]
    ),
    (
        "K",
        {"prox": lambda p, z, t: 0.5 * p},
        r"K is wrong: (its prox is not|multiplier)",
    ),
    *(
        (letter, {"support": lambda s, d: s - 0.1}, "its support is below <d, z> for a point z")
        for letter in "Kg"
    ),
    ("g", {"lipschitz": scaled_by(0.01)}, "differ by more than its lipschitz constant allows"),
]


@pytest.mark.parametrize(
    ("letter", "changes", "text"),
    WRONG,
    ids=[f"{letter}-{'-'.join(changes)}-{i}" for i, (letter, changes, _) in enumerate(WRONG)],
)
def test_a_wrong_piece_is_named_with_what_is_wrong(letter, changes, text):
    problem = problem_of(**{letter: lambda piece: Altered(piece, **changes)})
    with pytest.raises(ProblemError, match=text):
        condal.check_problem(problem)


def test_an_oracle_that_does_not_repeat_itself():
    class Dithering(condal.Simplex):
        calls = 0

        def lmo(self, v, tol=0.0, guess=None):
            Dithering.calls += 1
            return super().lmo(v if Dithering.calls <= N else -v)

    with pytest.raises(ProblemError, match="another value of <v, x> when it was asked again"):
        condal.check_problem(problem_of(X=lambda X: Dithering(N)))


def test_a_map_that_does_not_repeat_itself():
    with pytest.raises(ProblemError, match="the map A"):
        condal.check_problem(problem_of(A=lambda A: Altered(A, image=shifting())))


def test_what_a_piece_raises_is_the_cause():
    class Broken(condal.Simplex):
        def bound(self, v, **options):
            raise ZeroDivisionError("by nothing")

    with pytest.raises(
        ProblemError, match="the bound of the domain X raised ZeroDivisionError"
    ) as e:
        condal.check_problem(problem_of(X=lambda X: Broken(N)))
    assert isinstance(e.value.__cause__.__cause__, ZeroDivisionError)


def test_a_proof_is_no_worse_for_being_far_below():
    careful = Altered(condal.Simplex(N), bound=lambda proof, *_: Proof(-1e9, "carefully"))
    assert condal.check_problem(problem_of(X=lambda X: careful)).checks


@pytest.mark.parametrize("options", [{"seed": -1}, {"seed": 0.5}, {"tol": 0.0}, {"tol": "small"}])
def test_options_are_checked(options):
    with pytest.raises(ProblemError, match=r"(seed|tol) must be"):
        condal.check_problem(problem_of(), **options)
