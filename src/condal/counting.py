"""Counts of oracle calls and matrix-vector products, by wrapping a domain."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, fields, replace

import numpy as np

from condal.operators import Gradient, Symmetric
from condal.points import Array, Point
from condal.problem import Problem
from condal.types import Domain, Proof, Spectral


@dataclass
class Counts:
    """What was asked of the oracle so far."""

    oracle_calls: int = 0
    matvecs: int = 0
    oracle_cpu_seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class _CountedSymmetric(Symmetric):
    counts: Counts = field(default_factory=Counts)

    def __matmul__(self, v: Array) -> Array:
        self.counts.matvecs += 1 if v.ndim == 1 else v.shape[1]
        return super().__matmul__(v)


@dataclass(frozen=True, eq=False)
class CountedDomain:
    """X, its oracle calls and their products counted."""

    X: Domain
    counts: Counts

    @property
    def diameter(self) -> float:
        """That of X."""
        return self.X.diameter

    @property
    def size(self) -> float:
        """That of X."""
        return self.X.size

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Point:
        """X's answer."""
        self.counts.oracle_calls += 1
        before = time.process_time()
        s = self.X.lmo(_counted(v, self.counts), tol, guess)
        self.counts.oracle_cpu_seconds += time.process_time() - before
        return s

    def bound(self, v: Gradient, *, slack: float, failure: float, seed: int) -> Proof:
        """X's proof."""
        return self.X.bound(v, slack=slack, failure=failure, seed=seed)

    def distance(self, x: Point) -> float:
        """That of X."""
        return self.X.distance(x)

    def check(self, v: Gradient, name: str) -> None:
        """As X does."""
        self.X.check(v, name)


@dataclass(frozen=True, eq=False)
class _CountedSpectral(CountedDomain):
    X: Spectral

    @property
    def n(self) -> int:
        return self.X.n

    @property
    def trace(self) -> float:
        return self.X.trace

    @property
    def at_most(self) -> bool:
        return self.X.at_most

    def lowest(self, v: Gradient, count: int, tol: float) -> tuple[Array, Array]:
        self.counts.oracle_calls += 1
        before = time.process_time()
        pairs = self.X.lowest(_counted(v, self.counts), count, tol)
        self.counts.oracle_cpu_seconds += time.process_time() - before
        return pairs


def counted(problem: Problem) -> tuple[Problem, Counts]:
    """The same problem with its oracle counted, and the counts."""
    counts = Counts()
    X = problem.X
    wrapped = _CountedSpectral(X, counts) if isinstance(X, Spectral) else CountedDomain(X, counts)
    return replace(problem, X=wrapped), counts


def _counted(v: Gradient, counts: Counts) -> Gradient:
    if isinstance(v, tuple):
        return tuple(_counted(part, counts) for part in v)
    if isinstance(v, Symmetric):
        parts = {f.name: getattr(v, f.name) for f in fields(Symmetric)}
        return _CountedSymmetric(**parts, counts=counts)
    return np.asarray(v)
