"""The choices that make one method of many: step, dual step, penalty, oracle accuracy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import exp, inf, log, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.methods.lagrangian import require_penalty, zero_of
from condal.runtime.arguments import require_positive
from condal.types import Proximable

Slope = Callable[[float], float]
FLAT = 1e-4


class PrimalRule(Protocol):
    """eta_k, the length of the step from x_k towards s_k."""

    def __call__(self, k: int, slope: Slope) -> float:
        """eta_k in [0, 1]; `slope(t)` is the derivative of L_lam at x_k + t (s_k - x_k)."""


@dataclass(frozen=True)
class Classical:
    """eta_k = 2/(k + 1)."""

    def __call__(self, k: int, slope: Slope) -> float:
        """2/(k + 1)."""
        return 2.0 / (k + 1)


@dataclass(frozen=True)
class LineSearch:
    """eta_k minimises L_lam(., y_k) on the segment, until its slope is FLAT of what it was."""

    def __call__(self, k: int, slope: Slope) -> float:
        """The minimiser, looked for about the classical step."""
        return zero_of(slope, guess=2.0 / (k + 1), tol=FLAT)


class DualRule(Protocol):
    """sigma_{k+1}, the length of the dual step along d = A x_{k+1} - rbar_{k+1}."""

    def __call__(self, k: int, lam0: float, y: Array, d: Array, budget: float) -> float:
        """sigma >= 0; budget is (1/2) eta_k^2 (L_f + lam_{k+1} |A|^2) D_X^2 at eta_k = 2/(k+1)."""


@dataclass(frozen=True)
class Const:
    """The largest sigma <= lam0 with sigma |d|^2 <= factor * budget and |y + sigma d| <= D_Y."""

    D_Y: float = inf
    factor: float = 1.0

    def __post_init__(self) -> None:
        if inf != self.D_Y:
            require_positive(self.D_Y, "D_Y")
        require_positive(self.factor, "factor")

    def __call__(self, k: int, lam0: float, y: Array, d: Array, budget: float) -> float:
        """The smallest of the three caps."""
        dd = float(d @ d)
        if dd == 0.0:
            return lam0
        return min(lam0, self.factor * budget / dd, norm_cap(y, d, self.D_Y))


@dataclass(frozen=True)
class Decr:
    """The largest sigma <= lam0 / (2 sqrt(k + 1)) with |y + sigma d| <= D_Y."""

    D_Y: float = inf

    def __post_init__(self) -> None:
        if inf != self.D_Y:
            require_positive(self.D_Y, "D_Y")

    def __call__(self, k: int, lam0: float, y: Array, d: Array, budget: float) -> float:
        """The smaller of the two caps."""
        return min(lam0 / (2 * sqrt(k + 1)), norm_cap(y, d, self.D_Y))


@dataclass(frozen=True)
class Never:
    """sigma = 0: the dual stays where it is, and CGAL is HCGM."""

    def __call__(self, k: int, lam0: float, y: Array, d: Array, budget: float) -> float:
        """0."""
        return 0.0


@dataclass(frozen=True)
class Harmonic:
    """sigma = 2 sigma0 / (k + 2): the dual step of FW-AL."""

    sigma0: float

    def __post_init__(self) -> None:
        require_positive(self.sigma0, "sigma0")

    def __call__(self, k: int, lam0: float, y: Array, d: Array, budget: float) -> float:
        """2 sigma0 / (k + 2)."""
        return 2 * self.sigma0 / (k + 2)


@dataclass(frozen=True)
class Whole:
    """sigma = factor * lam0: the dual step of the method of multipliers, or a part of it."""

    factor: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self.factor, "factor")

    def __call__(self, k: int, lam0: float, y: Array, d: Array, budget: float) -> float:
        """factor * lam0."""
        return self.factor * lam0


@dataclass(frozen=True)
class Smoothed:
    """z = 0 for ever, z the part of y that belongs to a g(Bx); the rest of y moves by `rule`.

    g is then smoothed, ever less as lam_k grows: homotopy smoothing. Where all of h is g, CGAL is
    HCGM; where none is, it is CGAL by `rule`.
    """

    rule: DualRule = field(default_factory=Const)

    def __post_init__(self) -> None:
        if isinstance(self.rule, type) or not callable(self.rule):
            raise ProblemError(f"Smoothed takes a dual rule, such as Decr(); got {self.rule!r}")

    def held(self, h: Proximable) -> NDArray[np.bool_]:
        """Which coordinates of y are z: those of functions that are finite everywhere."""
        z = np.zeros(h.size, dtype=bool)
        for here, part in h.pieces:
            z[here] = part.lipschitz < inf
        return z

    def __call__(self, k: int, lam0: float, y: Array, d: Array, budget: float) -> float:
        """The rule's; d is 0 in the coordinates of z."""
        return self.rule(k, lam0, y, d, budget)


class PenaltyRule(Protocol):
    """lam_k from lam0, and lam0 from one iteration to the next."""

    @property
    def first(self) -> float:
        """lam0 at the start."""

    def at(self, k: int, lam0: float) -> float:
        """lam_k."""

    def __call__(self, k: int, lam0: float, gap: float, price: float) -> float:
        """The next lam0, from the share of the Frank-Wolfe gap that is owed to the penalty's
        curvature, and from the price <w, Ax> - h*(w) of infeasibility."""


@dataclass(frozen=True)
class Given:
    """lam_k = lam0 sqrt(k + 1) with lam0 as given, for ever: the paper's rule."""

    first: float

    def __post_init__(self) -> None:
        require_penalty(self.first, "lam0")

    def at(self, k: int, lam0: float) -> float:
        """lam0 sqrt(k + 1)."""
        return lam0 * sqrt(k + 1)

    def __call__(self, k: int, lam0: float, gap: float, price: float) -> float:
        """lam0."""
        return lam0


@dataclass(frozen=True)
class Fixed:
    """lam_k = lam: the penalty of the methods that leave convergence to the dual."""

    first: float

    def __post_init__(self) -> None:
        require_penalty(self.first, "lam")

    def at(self, k: int, lam0: float) -> float:
        """lam."""
        return lam0

    def __call__(self, k: int, lam0: float, gap: float, price: float) -> float:
        """lam."""
        return lam0


@dataclass(frozen=True)
class Balanced:
    """lam_k = lam0 sqrt(k + 1), lam0 following the balance of the two errors that it trades.

    For a normalised problem. f(x_k) less the lower bound is gap - price: a penalty too large makes
    the gap large, one too small leaves an infeasibility whose price is large. lam0 moves towards
    gap = |price|, by a factor of at most exp(rate/(k+1)) an iteration, so that lam_k grows no
    faster than the theory allows: (1 - eta_k) lam_{k+1} <= lam_k needs rate <= 3/2.
    """

    first: float = 0.1
    rate: float = 1.5

    def __post_init__(self) -> None:
        require_penalty(self.first, "first")
        if not (isinstance(self.rate, int | float) and 0 <= self.rate <= 1.5):
            raise ProblemError(f"rate must lie in [0, 1.5]; got {self.rate!r}")

    def at(self, k: int, lam0: float) -> float:
        """lam0 sqrt(k + 1)."""
        return lam0 * sqrt(k + 1)

    def __call__(self, k: int, lam0: float, gap: float, price: float) -> float:
        """lam0 a little larger or smaller."""
        if k <= 3 or price == 0.0:
            return lam0
        # No gap and a price: x minimises the Lagrangian already, and is not feasible.
        pull = 1.0 if gap <= 0.0 else min(max(log(abs(price) / gap), -1.0), 1.0)
        return lam0 * exp(self.rate * pull / (k + 1))


class AccuracyRule(Protocol):
    """How far from the minimum the oracle's answer may be."""

    def __call__(self, k: int, gap: float, curvature: float) -> float:
        """tol for <v, s> <= min + tol, from the last gap and (L_f + lam_k |A|^2) D_X^2."""


@dataclass(frozen=True)
class Exact:
    """tol = 0: to rounding."""

    def __call__(self, k: int, gap: float, curvature: float) -> float:
        """0."""
        return 0.0


@dataclass(frozen=True)
class FractionOfGap:
    """tol = fraction * (the last Frank-Wolfe gap), and never above what keeps the rate.

    An oracle error of delta eta_k curvature / 2 costs the theory a factor 1 + delta.
    """

    fraction: float = 0.05
    delta: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self.fraction, "fraction")
        require_positive(self.delta, "delta")

    def __call__(self, k: int, gap: float, curvature: float) -> float:
        """The smaller of the two; the gap means something once x is in X, from k = 3 on."""
        share = self.fraction * max(gap, 0.0) if k > 2 else inf
        return min(share, self.delta * curvature / (k + 1))


def norm_cap(y: Array, d: Array, D_Y: float) -> float:
    """The largest sigma >= 0 with |y + sigma d| <= D_Y; 0 where |y| is there already."""
    if inf == D_Y:
        return inf
    dd, yd = float(d @ d), float(y @ d)
    if dd == 0.0:
        return inf
    room = max(D_Y**2 - float(y @ y), 0.0)
    return max((-yd + sqrt(yd**2 + dd * room)) / dd, 0.0)
