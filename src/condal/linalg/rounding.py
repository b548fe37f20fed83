"""The effect of rounding on dual points and on objectives.

No vector of doubles may lie exactly in dom h*, so h* counts as finite within NEAR of its domain. A
proof then loses `Proximable.dual_error`, an upper bound on the distance of the point from the
domain. It loses the `Errors` of f to the rounding of f, if f is `Rounded`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from condal.errors import ProblemError
from condal.linalg.norms import stable_norm
from condal.linalg.points import Array
from condal.linalg.roundoff import gamma

NEAR = 1e-12  # relative to a point: far above rounding, far below any tolerance


def norm_above(y: Array) -> float:
    """Return |y| rounded up."""
    return stable_norm(y) * (1 + gamma(y.size + 6))


@dataclass(frozen=True)
class Errors:
    """Bounds on the rounding errors of an objective f(x) = phi(Mx) at an image u.

    Attributes
    ----------
    value : float
        Bounds the error of value(u).
    gradient : float
        Bounds the Euclidean norm of the error of gradient(u).
    concavity : float
        At x, f lies below its tangent at u by at most concavity / 2 (|u| + |x|)^2 (for M = I).
    trusting : str
        What the bounds assume without proof, if anything.
    departure : float
        At x, f lies below the convex function that is computed by at most departure / 2 |x|^2.
    """

    value: float
    gradient: float
    concavity: float = 0.0
    trusting: str = ""
    departure: float = 0.0


@runtime_checkable
class Rounded(Protocol):
    """An f with known rounding errors; any other f is trusted as it is computed."""

    def errors(self, u: Array) -> Errors | None:
        """Return bounds on the errors of phi and its gradient at u; None if they are unknown."""


def written(w: Array, out: Array | None) -> Array:
    """Return w, copied to `out` if that is given."""
    if out is None:
        return w
    out[...] = w
    return out


def one_factor(rows: Array, name: str) -> float:
    """Return the common value of `rows`; ProblemError if they differ."""
    if rows.size == 0:
        return 1.0
    low, high = float(rows.min()), float(rows.max())
    if low != high:
        raise ProblemError(
            f"{name} takes one factor for all its coordinates; got factors from {low:g} to {high:g}"
        )
    return low
