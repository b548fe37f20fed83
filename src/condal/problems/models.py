"""What the models of all applications share: their text, checked results, random trials."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from math import inf
from typing import Any, Generic, TypeVar

import numpy as np

from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.points import Array, LowRank, Point, dense, with_diagonal
from condal.maps.matrices import Diagonal
from condal.problem import Problem
from condal.problems.answers import excess
from condal.result import Result
from condal.runtime.arguments import Seed, describe, require_seconds, require_whole, seed_of
from condal.runtime.limits import UNLIMITED, TimeLimit
from condal.sets.boxes import Equal
from condal.types import Smooth

Rounded = TypeVar("Rounded")

MIN_TRIALS, MAX_ROUNDED_VERTICES = 4, 10**7  # of all trials together, by default


class Model(ABC):
    """A problem that stands for something; its `name` is that in results and reports."""

    name: str

    @property
    @abstractmethod
    def problem(self) -> Problem:
        """The problem to solve."""

    def __repr__(self) -> str:
        """Return the sizes, and the options that are not the default."""
        model: Any = self
        sizes = {name: getattr(self, name, None) for name in ("n", "shape", "k")}
        if hasattr(self, "W"):
            sizes["edges"] = self.W.nnz // 2
        options = {
            each.name: getattr(self, each.name)
            for each in fields(model)
            if each.repr and getattr(self, each.name) != each.default
        }
        values = {name: value for name, value in (sizes | options).items() if value is not None}
        listed = (
            f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value!r}"
            for name, value in values.items()
        )
        return f"{type(self).__name__}({', '.join(listed)})"


@dataclass(frozen=True)
class Trials:
    """The random trials of a rounding: their numbers, as far as time allows, but 0 in any case."""

    count: int
    rng: np.random.Generator
    limit: TimeLimit = UNLIMITED

    @classmethod
    def of(cls, trials: Any, seed: Any, max_seconds: Any, *, most: int, n: int) -> Trials:
        """Check what a user asked for, and let the time run.

        By default there are at most `most` trials: fewer for large graphs, whose roundings differ
        less.
        """
        require_seconds(max_seconds)
        limit = TimeLimit(max_seconds)
        if trials is None:
            trials = max(MIN_TRIALS, min(most, MAX_ROUNDED_VERTICES // n))
        require_whole(trials, "trials")
        return cls(int(trials), np.random.default_rng(seed_of(seed)), limit)

    def __iter__(self) -> Iterator[int]:
        for trial in range(self.count):
            if trial > 0 and self.limit.is_over():
                return
            yield trial


class RoundedModel(Model, Generic[Rounded]):
    """A model whose solutions are rounded: to a cut, a clustering or a permutation."""

    most_trials = 100  # by default

    @property
    @abstractmethod
    def n(self) -> int:
        """The number of vertices, points or items."""

    @property
    def side(self) -> int:
        """The side of x."""
        return self.n

    def round(
        self,
        result: Result,
        *,
        trials: int | None = None,
        seed: Seed = 0,
        max_seconds: float | None = None,
    ) -> Rounded:
        """Round a solution; the class says how.

        Parameters
        ----------
        result : Result
            A result of `condal.solve` for this model.
        trials : int, optional
            The number of random trials; by default that which the class states, or fewer for a
            large graph.
        seed : int or Generator, optional
            The seed of the random generator.
        max_seconds : float, optional
            A time limit: the best answer found by then is returned.

        Returns
        -------
        object
            The best answer of all trials, with a proved bound.
        """
        drawn = Trials.of(trials, seed, max_seconds, most=self.most_trials, n=self.n)
        return self.answer_of(self._rounded(point_of(result, self.side, self.side), drawn), result)

    @abstractmethod
    def _rounded(self, x: Point, trials: Trials) -> Any:
        """Return the best of the trials: signs, labels or a permutation."""

    @abstractmethod
    def answer_of(self, found: Any, result: Result) -> Rounded:
        """Return the answer of these signs, labels or permutation, with the bound of a result."""


class CostModel(RoundedModel[Rounded]):
    """A rounded model that is minimised: its bound is below the cost of every answer."""

    rounded_to = "answer"
    least_cost = -inf

    @abstractmethod
    def cost(self, answer: Any) -> float:
        """Return the cost of an answer, as signs, labels or a permutation."""

    def bound_of(self, result: Result) -> float:
        """Return the proved bound of a result, or the least cost that there is."""
        return max(self.least_cost, float(result.bound))

    def excess(self, answer: Any, result: Result) -> float:
        """Return cost / bound - 1, the proved relative excess over the best answer.

        Parameters
        ----------
        answer : array_like
            The signs, labels or permutation, from anywhere.
        result : Result
            A result of `condal.solve` for this model.

        Returns
        -------
        float
            0.02 means at most 2% above the best; inf means no proof, as for a bound of 0.
        """
        point_of(result, self.side, self.side)
        return excess(self.cost(answer), self.bound_of(result), self.rounded_to)


def point_of(result: Any, *shape: int) -> Any:
    """Return the point of a result, of this shape; raise ProblemError if it has another."""
    if not isinstance(result, Result):
        raise ProblemError(f"wanted a result, as condal.solve returns it; got {describe(result)}")
    if result.x is None:
        raise ProblemError("the result has no point to round: the solve ended too early")
    got = getattr(result.x, "shape", None)
    if got != shape:
        wanted = " x ".join(map(str, shape)) if len(shape) > 1 else f"length {shape[0]}"
        raise ProblemError(
            f"the result belongs to another model: its point has shape {got}, and this model "
            f"needs {wanted}"
        )
    return result.x


def factor_of(x: Point) -> Any:
    """Return a factor R with x = R R', or R R* for Hermitian x; a LowRank x is never expanded."""
    return x.factor() if isinstance(x, LowRank) else _root(x)


def leading_factor(x: Point, count: int | None = None) -> Any:
    """Return the factor with orthogonal columns: eigenvectors times roots of eigenvalues.

    The longest column comes first; the first `count` columns are the best factor of that rank.
    """
    if not isinstance(x, LowRank):
        return _root(x)[:, ::-1][:, :count]
    R = x.factor()
    if R.shape[1] == 0:
        return R
    values, rotation = np.linalg.eigh(R.conj().T @ R)
    return np.asarray(R @ rotation[:, np.argsort(-values)[:count]])


def _root(x: Point) -> Any:
    """Return the eigenvectors of x times roots of eigenvalues, in ascending order."""
    values, vectors = np.linalg.eigh(dense(x))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def unit_diagonal_program(
    f: Smooth,
    n: int,
    *,
    hermitian: bool = False,
    propose: Callable[[Point], tuple[Point, Array]] | None = None,
    name: str,
) -> Problem:
    """Return the problem: maximise f(x), diag x = 1, x in X = {x psd, n x n : tr x = n}."""
    X: Any = Spectrahedron(n, float(n))
    if hermitian:
        from condal.domains.lifted import Hermitian

        X = Hermitian(n, float(n))
    A, h = Diagonal(n, hermitian=hermitian), Equal(np.ones(n))
    return Problem(f.scaled(-1.0), X, A, h, True, unit_diagonal, propose, name, checked=True)


def unit_diagonal(x: Point) -> Point:
    """D^(-1/2) x D^(-1/2) with D = diag x; a zero row becomes a unit vector."""
    return with_diagonal(x, 1.0)
