"""The rules that make one method of many: primal step, dual step, penalty, oracle accuracy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import exp, inf, log, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.methods.lagrangian import zero_of
from condal.methods.state import require_penalty
from condal.runtime.arguments import require_fraction, require_positive
from condal.types import Proximable

Slope = Callable[[float], float]

# The first PATIENCE points are of few atoms: their gap and infeasibility say nothing of lam0. Then
# lam0 may hurry, until it is settled: generalised eigenvectors take a quarter of the calls
# (`condal_lab.benchmarks.penalty`). It hurries only where the errors differ by exp(FAR + 1) times
# or more, and by HASTE at most: else G40 takes 150 to 320 calls, by the order of its vertices.
# Errors below NEGLIGIBLE, relative to the range of f, are no reason to hurry.
PATIENCE, SETTLED, FAR, HASTE, NEGLIGIBLE = 3, 50, 1.0, 10.0, 1e-9


class PrimalRule(Protocol):
    """The step length eta_k from x_k towards s_k."""

    def __call__(self, k: int, slope: Slope) -> float:
        """Return eta_k in [0, 1]; `slope(t)` is the derivative of L_lam at x_k + t (s_k - x_k)."""


@dataclass(frozen=True)
class Classical:
    r""":math:`\eta_k = 2/(k + 1)`."""

    def __call__(self, k: int, slope: Slope) -> float:
        return 2.0 / (k + 1)


@dataclass(frozen=True)
class LineSearch:
    r""":math:`\eta_k` minimises :math:`L_\lambda(\cdot, y_k)` on the segment from x_k to s_k.

    Parameters
    ----------
    flat : float
        The slope at which the search stops, relative to the slope at x_k.
    """

    flat: float = 1e-4

    def __post_init__(self) -> None:
        require_fraction(self.flat, "flat")

    def __call__(self, k: int, slope: Slope) -> float:
        return zero_of(slope, guess=2.0 / (k + 1), tol=self.flat)


@dataclass(frozen=True)
class Corrective:
    r""":math:`x_{k+1}` minimises :math:`L_\lambda(\cdot, y_k)` over the hull of all atoms so far.

    Parameters
    ----------
    eta : PrimalRule
        The step to s_k from which the minimisation starts.
    """

    eta: PrimalRule = field(default_factory=LineSearch)

    def __call__(self, k: int, slope: Slope) -> float:
        return self.eta(k, slope)


class DualRule(Protocol):
    """The dual step length sigma_{k+1} along d = A x_{k+1} - rbar_{k+1}."""

    def __call__(self, k: int, lam0: float, y: Array, d: Array, budget: float) -> float:
        """Return sigma >= 0.

        `budget` is (1/2) eta_k^2 (L_f + lam_{k+1} |A|^2) D_X^2 at eta_k = 2/(k + 1).
        """


@dataclass(frozen=True)
class Const:
    r"""The largest :math:`\sigma \le \lambda_0` with :math:`\sigma |d|^2 \le c\,\text{budget}`.

    Parameters
    ----------
    factor : float
        c, the multiple of the budget that a step may use.
    """

    factor: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self.factor, "factor")

    def __call__(self, k: int, lam0: float, y: Array, d: Array, budget: float) -> float:
        dd = float(d @ d)
        return min(lam0, self.factor * budget / dd) if dd else lam0


@dataclass(frozen=True)
class Decr:
    r""":math:`\sigma = \lambda_0/(2\sqrt{k + 1})`."""

    def __call__(self, k: int, lam0: float, y: Array, d: Array, budget: float) -> float:
        return lam0 / (2 * sqrt(k + 1))


@dataclass(frozen=True)
class Never:
    r""":math:`\sigma = 0`: the dual never moves, and CGAL is HCGM."""

    def __call__(self, k: int, lam0: float, y: Array, d: Array, budget: float) -> float:
        return 0.0


@dataclass(frozen=True)
class Harmonic:
    r""":math:`\sigma = 2 \sigma_0 / (k + 2)`, the dual step of FW-AL.

    Parameters
    ----------
    sigma0 : float
        The positive scale of the steps.
    """

    sigma0: float

    def __post_init__(self) -> None:
        require_positive(self.sigma0, "sigma0")

    def __call__(self, k: int, lam0: float, y: Array, d: Array, budget: float) -> float:
        return 2 * self.sigma0 / (k + 2)


@dataclass(frozen=True)
class Smoothed:
    r"""Keep the multipliers z of g(Bx) fixed, and move the rest of y by `rule`.

    CGAL then smooths g with the centre z, and less so as :math:`\lambda_k` grows (homotopy
    smoothing). With z = 0, CGAL is HCGM if all of h is g. It is CGAL with `rule` if h has no g.

    Parameters
    ----------
    rule : DualRule
        The rule for the rest of y.
    centred : bool
        Whether z is 0. If not, it is the z of the dual in ``warm_start``: any point.
    """

    rule: DualRule = field(default_factory=Const)
    centred: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.rule, type) or not callable(self.rule):
            raise ProblemError(f"Smoothed takes a dual rule, such as Decr(); got {self.rule!r}")

    def held(self, h: Proximable) -> NDArray[np.bool_]:
        """Return the mask of z in y: the rows of functions that are finite everywhere."""
        z = np.zeros(h.size, dtype=bool)
        for rows, piece in h.pieces:
            z[rows] = piece.lipschitz < inf
        return z

    def __call__(self, k: int, lam0: float, y: Array, d: Array, budget: float) -> float:
        return self.rule(k, lam0, y, d, budget)


class DualBound(Protocol):
    """D_Y, the bound on the norm of the dual y_k: the dual step is cut where it would leave it."""

    def __call__(self, k: int, radius: float) -> float:
        """Return the bound; `radius` is D_X |A| lam0."""


@dataclass(frozen=True)
class Proportional:
    r""":math:`D_Y = \text{factor} \cdot D_X |A| \lambda_0`, the advice of the paper.

    Parameters
    ----------
    factor : float
        The factor, which the paper leaves open.
    """

    factor: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self.factor, "factor")

    def __call__(self, k: int, radius: float) -> float:
        return self.factor * radius


class PenaltyRule(Protocol):
    """The penalty lam_k as a function of lam0, and the update of lam0 after each iteration."""

    @property
    def first(self) -> float:
        """The initial lam0."""

    def at(self, k: int, lam0: float) -> float:
        """Return lam_k."""

    def __call__(self, k: int, lam0: float, gap: float, missed: float) -> float:
        """Return the next lam0.

        `gap` is the share of the Frank-Wolfe gap that the curvature of the penalty causes, and
        `missed` the error that a larger penalty makes smaller: infeasibility, or its price, or
        what the smoothing of g loses.
        """


@dataclass(frozen=True)
class Given:
    r""":math:`\lambda_k = \lambda_0 \sqrt{k + 1}` with constant :math:`\lambda_0`, as in the paper.

    Parameters
    ----------
    first : float
        lam0.
    """

    first: float

    def __post_init__(self) -> None:
        require_penalty(self.first, "lam0")

    def at(self, k: int, lam0: float) -> float:
        return lam0 * sqrt(k + 1)

    def __call__(self, k: int, lam0: float, gap: float, missed: float) -> float:
        return lam0


@dataclass(frozen=True)
class Fixed:
    r""":math:`\lambda_k = \lambda`, for methods that converge by their dual steps.

    Parameters
    ----------
    first : float
        lam.
    """

    first: float

    def __post_init__(self) -> None:
        require_penalty(self.first, "lam")

    def at(self, k: int, lam0: float) -> float:
        return lam0

    def __call__(self, k: int, lam0: float, gap: float, missed: float) -> float:
        return lam0


@dataclass(frozen=True)
class Balanced:
    r""":math:`\lambda_k = \lambda_0 \sqrt{k + 1}` where :math:`\lambda_0` balances two errors.

    For normalised problems. Too large a penalty makes the Frank-Wolfe gap large. Too small a
    penalty leaves an infeasibility, and a nonsmooth g that is smoothed too much. Both errors are
    measured as the tolerance measures them. lam0 moves towards their balance by a factor of at most
    :math:`\exp(\text{rate}/(k+1))` per iteration. The theory asks for
    :math:`(1 - \eta_k) \lambda_{k+1} \le \lambda_k`, so for rate <= 3/2. In the first 50 iterations
    lam0 may rise faster, where it is far from the balance: the theory then holds as for a start at
    :math:`x_{50}`, whose error counts :math:`(50/k)^2` times in the bound after k iterations.

    Parameters
    ----------
    first : float
        The initial lam0.
    rate : float
        The speed of the adaptation, in [0, 1.5].
    """

    first: float = 0.1
    rate: float = 1.5

    def __post_init__(self) -> None:
        require_penalty(self.first, "first")
        if not (isinstance(self.rate, int | float) and 0 <= self.rate <= 1.5):
            raise ProblemError(f"rate must lie in [0, 1.5]; got {self.rate!r}")

    def at(self, k: int, lam0: float) -> float:
        return lam0 * sqrt(k + 1)

    def __call__(self, k: int, lam0: float, gap: float, missed: float) -> float:
        if k <= PATIENCE or missed == 0.0:
            return lam0
        # Without a gap, x minimises the Lagrangian already.
        away = inf if gap <= 0.0 else log(missed / gap)
        pull = max(-1.0, min(away, 1.0))
        if k < SETTLED and missed > NEGLIGIBLE:
            pull = max(pull, min(away - FAR, HASTE))
        return lam0 * exp(self.rate * pull / (k + 1))


class AccuracyRule(Protocol):
    """The accuracy asked of the linear minimisation oracle."""

    def __call__(self, k: int, gap: float, curvature: float) -> float:
        """Return tol of <v, s> <= min + tol, given the last gap and (L_f + lam_k |A|^2) D_X^2."""


@dataclass(frozen=True)
class Exact:
    """tol = 0: exact up to rounding."""

    def __call__(self, k: int, gap: float, curvature: float) -> float:
        return 0.0


@dataclass(frozen=True)
class FractionOfGap:
    r"""A fraction of the last Frank-Wolfe gap, but never so much that the rate is lost.

    An oracle error of :math:`\delta \eta_k \cdot \text{curvature} / 2` costs the convergence bound
    a factor :math:`1 + \delta`.

    Parameters
    ----------
    fraction : float
        tol over the last gap, from k = 3 on, when x is in X. To a proved 1e-2 on a torus, 0.2,
        0.3 and 0.4 take 18, 15 and 11 thousand products, but the estimated gap is larger by that
        share: a small bisection takes 162, 207 and 223 calls.
    delta : float
        The relative loss in the convergence bound.
    """

    fraction: float = 0.2
    delta: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self.fraction, "fraction")
        require_positive(self.delta, "delta")

    def __call__(self, k: int, gap: float, curvature: float) -> float:
        share = self.fraction * max(gap, 0.0) if k > 2 else inf
        return min(share, self.delta * curvature / (k + 1))


def norm_cap(y: Array, d: Array, D_Y: float) -> float:
    """Return the largest sigma >= 0 with |y + sigma d| <= D_Y; 0 if |y| >= D_Y already."""
    if inf == D_Y:
        return inf
    dd, yd = float(d @ d), float(y @ d)
    if dd == 0.0:
        return inf
    room = max(D_Y**2 - float(y @ y), 0.0)
    return max((-yd + sqrt(yd**2 + dd * room)) / dd, 0.0)
