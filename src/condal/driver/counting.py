"""Count oracle calls and matrix-vector products by wrapping the domain."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from condal.domains.wrapped import Wrapped, WrappedSpectral
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.symmetric import Symmetric
from condal.problem import Problem
from condal.runtime.cancellation import check_cancelled
from condal.types import Domain, Projectable, Spectral, projects, spectral_parts


@dataclass
class Counts:
    """The calls of the oracle so far."""

    oracle_calls: int = 0
    matvecs: int = 0
    oracle_cpu_seconds: float = 0.0
    longest: float = 0.0  # seconds of one call


class _CountedSymmetric(Symmetric):
    def __init__(self, V: Symmetric, counts: Counts) -> None:
        super().__init__(V.n, V.terms)
        self.counts = counts

    def __matmul__(self, v: Array) -> Array:
        self.counts.matvecs += 1 if v.ndim == 1 else v.shape[1]
        return super().__matmul__(v)


class CountedDomain(Wrapped):
    """X with its oracle calls and their products counted."""

    def __init__(self, X: Domain, counts: Counts) -> None:
        super().__init__(X)
        self.counts = counts

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Point:
        with self._call():
            return super().lmo(_counted(v, self.counts), tol, guess)

    @contextmanager
    def _call(self) -> Iterator[None]:
        """Count one call and its time."""
        check_cancelled()
        self.counts.oracle_calls += 1
        before, began = time.process_time(), time.perf_counter()
        try:
            yield
        finally:
            self.counts.oracle_cpu_seconds += time.process_time() - before
            self.counts.longest = max(self.counts.longest, time.perf_counter() - began)


class _CountedSpectral(CountedDomain, WrappedSpectral):
    def lowest(
        self, v: Gradient, count: int, tol: float, *, beside: Array | None = None
    ) -> tuple[Array, Array]:
        with self._call():
            return super().lowest(_counted(v, self.counts), count, tol, beside=beside)

    def project(self, v: Array, guess: Point | None = None, *, tol: float = 0.0) -> LowRank:
        with self._call():
            return super().project(v, guess, tol=tol)


class _CountedProjectable(CountedDomain):
    X: Projectable

    def project(self, v: Any) -> Point:
        with self._call():
            return self.X.project(v)


class _CountedBlocks(_CountedProjectable):
    @property
    def parts(self) -> tuple[CountedDomain, ...]:
        parts = spectral_parts(self.X)
        assert parts is not None
        return tuple(_CountedSpectral(part, self.counts) for part in parts)


def counted(problem: Problem, counts: Counts | None = None) -> tuple[Problem, Counts]:
    """Return the problem with its oracle counted, and the counts, which may continue others."""
    counts = Counts() if counts is None else counts
    return replace(problem, X=_counted_domain(problem.X, counts), checked=True), counts


def _counted_domain(X: Domain, counts: Counts) -> CountedDomain:
    if isinstance(X, Spectral):
        return _CountedSpectral(X, counts)
    if spectral_parts(X) is not None:
        return _CountedBlocks(X, counts)
    return (_CountedProjectable if projects(X) else CountedDomain)(X, counts)


def _counted(v: Gradient, counts: Counts) -> Gradient:
    if isinstance(v, tuple):
        return tuple(_counted(part, counts) for part in v)
    if isinstance(v, Symmetric):
        return _CountedSymmetric(v, counts)
    return np.asarray(v)
