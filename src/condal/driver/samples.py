"""Random points and gradients for the checks of a problem, and the errors that are found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from condal.errors import ProblemError
from condal.linalg.gradients import Gradient, add, norm
from condal.linalg.guarded import NAMES
from condal.linalg.points import LowRank, Point, combine
from condal.linalg.symmetric import Symmetric
from condal.problem import Problem
from condal.types import Lifted

GRADIENTS = 6

Law: TypeAlias = Callable[..., None]


@dataclass(frozen=True)
class Check:
    """One law of one piece, with its worst relative error over all trials."""

    piece: str
    law: str
    error: float


@dataclass(frozen=True)
class Report:
    """The laws that the pieces of a problem obey, with the worst error of each."""

    name: str
    checks: tuple[Check, ...]

    def __str__(self) -> str:
        width = max(len(NAMES[check.piece]) for check in self.checks)
        laws = max(len(check.law) for check in self.checks)
        lines = [
            f"  {NAMES[check.piece]:<{width}}  {check.law:<{laws}}  {check.error:.1e}"
            for check in self.checks
        ]
        return "\n".join([f"{self.name}: no fault found; worst errors", *lines])

    __repr__ = __str__


@dataclass
class Notes:
    """The worst errors so far; one that is above `tol` ends the check."""

    tol: float
    worst: dict[tuple[str, str], float] = field(default_factory=dict)

    def laws_of(self, piece: str) -> Law:
        """Return a function that notes the error of a law of the piece, over the largest of some
        sizes, and raises ProblemError if it is above `most` (tol by default)."""

        def law(name: str, error: float, *sizes: float, wrong: str, most: float = self.tol) -> None:
            relative = error / max(*sizes, np.finfo(float).tiny) if error else 0.0
            if not relative <= most:  # true of nan, too
                raise broken(piece, f"{wrong} (by {relative:.2g})")
            before = self.worst.get((piece, name), 0.0)
            self.worst[piece, name] = float(max(before, np.maximum(relative, 0.0)))

        return law

    def report(self, name: str) -> Report:
        """Return the worst error of each law."""
        return Report(name, tuple(Check(*key, error) for key, error in self.worst.items()))


def broken(piece: str, wrong: str) -> ProblemError:
    """Return the error that says what is wrong with a piece."""
    return ProblemError(f"{NAMES[piece]} is wrong: {wrong}")


@dataclass(frozen=True, eq=False)
class Samples:
    """Random gradients, the answers of the oracle, and points of X that are mixtures of these."""

    gradients: list[Gradient]
    answers: list[Point]
    points: list[Point]
    rng: np.random.Generator

    @classmethod
    def of(cls, problem: Problem, rng: np.random.Generator) -> Samples:
        """Draw gradients of the problem and others, and ask the oracle for their answers."""
        gradients = list(_gradients(problem, rng))
        answers = [problem.X.lmo(v) for v in gradients]
        weights = rng.dirichlet(np.ones(len(answers)), size=3)
        return cls(gradients, answers, [*answers, *(combine(answers, w) for w in weights)], rng)


def _gradients(problem: Problem, rng: np.random.Generator) -> Iterator[Gradient]:
    M, A = problem.f.M, problem.A
    for i in range(GRADIENTS):
        of_f = M.adjoint(rng.standard_normal(M.size))
        of_A = A.adjoint(rng.standard_normal(A.size))
        made = add(of_f, of_A)
        # The points of a lifted domain lie in a space of their own, which only its maps know.
        yield made if i < 2 or isinstance(problem.X, Lifted) else _random(made, rng)


def _random(like: Gradient, rng: np.random.Generator) -> Gradient:
    """Draw a gradient of the same space."""
    if isinstance(like, tuple):
        return tuple(_random(part, rng) for part in like)
    if isinstance(like, Symmetric):
        u, v = rng.standard_normal((2, like.n))
        return Symmetric(like.n, diagonal=rng.standard_normal(like.n), pairs=((u, v),))
    return rng.standard_normal(like.shape)


def length(x: Point) -> float:
    """Return |x|, the Euclidean norm."""
    return norm(x, np.random.default_rng(0))


def between(x: Point, z: Point) -> float:
    """Return |x - z|."""
    return length(combine([x, z], np.array([1.0, -1.0])))


def copied(x: Any) -> Any:
    """Copy the numbers of a point or a gradient, to compare them later."""
    if isinstance(x, tuple):
        return tuple(copied(part) for part in x)
    if isinstance(x, LowRank):
        return np.array(x.U), np.array(x.weights)
    if isinstance(x, Symmetric):
        return x @ np.cos(np.arange(1.0, x.n + 1.0))
    return np.array(x)


def same(before: Any, after: Any) -> bool:
    """Return whether two copies have the same numbers."""
    if isinstance(before, tuple):
        return all(same(a, b) for a, b in zip(before, after, strict=True))
    return bool(np.array_equal(before, after))
