"""Count oracle calls and matrix-vector products by wrapping the domain."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from condal.domains.wrapped import Wrapped, WrappedSpectral
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, LowRank, Point
from condal.problem import Problem
from condal.runtime.meter import check_cancelled, products_done
from condal.types import Domain, Projectable, Spectral, projects, spectral_parts


@dataclass
class Counts:
    """The calls of the oracle so far."""

    oracle_calls: int = 0
    matvecs: int = 0
    oracle_cpu_seconds: float = 0.0
    longest: float = 0.0  # seconds of one call


class CountedDomain(Wrapped):
    """X with its oracle calls and their products counted."""

    def __init__(self, X: Domain, counts: Counts) -> None:
        super().__init__(X)
        self.counts = counts

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Point:
        with self._call():
            return super().lmo(v, tol, guess)

    @contextmanager
    def _call(self) -> Iterator[None]:
        """Count one call and its time."""
        check_cancelled()
        self.counts.oracle_calls += 1
        before, products = time.process_time(), products_done()
        began = time.perf_counter()
        try:
            yield
        finally:
            self.counts.matvecs += products_done() - products
            self.counts.oracle_cpu_seconds += time.process_time() - before
            self.counts.longest = max(self.counts.longest, time.perf_counter() - began)


class _CountedSpectral(CountedDomain, WrappedSpectral):
    def lowest(
        self, v: Gradient, count: int, tol: float, *, beside: Array | None = None
    ) -> tuple[Array, Array]:
        with self._call():
            return super().lowest(v, count, tol, beside=beside)

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
