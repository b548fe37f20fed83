"""What rounding does to points of dom h*, where no vector of doubles may lie exactly in it, and to
objectives.

h* counts as finite within NEAR of its domain. What a proof then loses is `Proximable.dual_error`:
an upper bound on how far such a point is from the domain, rounding and all. What it loses to the
rounding of f is in the `Errors` of an f that is `Rounded`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from condal.errors import ProblemError
from condal.linalg.norms import stable_norm
from condal.linalg.points import Array
from condal.linalg.roundoff import gamma

NEAR = 1e-12  # of the size of a point: far more than rounding, far less than is ever asked for


def norm_above(y: Array) -> float:
    """|y| rounded up."""
    return stable_norm(y) * (1 + gamma(y.size + 6))


@dataclass(frozen=True)
class Errors:
    """How far off an objective f(x) = phi(Mx) may be at an image u, as it is computed.

    `value` and `gradient` bound the error of value(u) and the Euclidean norm of that of
    gradient(u). By `concavity` f may fall below its tangent at u: at x it is below it by no more
    than concavity / 2 (|u| + |x|)^2, for an f of x itself. By `departure` f may be below the convex
    function that is computed: at x by no more than departure / 2 |x|^2. `trusting` is what is taken
    for granted, if anything is.
    """

    value: float
    gradient: float
    concavity: float = 0.0
    trusting: str = ""
    departure: float = 0.0


@runtime_checkable
class Rounded(Protocol):
    """f, of which it is known what rounding does to it; of another, its word is taken."""

    def errors(self, u: Array) -> Errors | None:
        """By how much phi and its gradient may be off at u; None if that is not known."""


def written(w: Array, out: Array | None) -> Array:
    """w, in `out` if that is given."""
    if out is None:
        return w
    out[...] = w
    return out


def one_factor(rows: Array, name: str) -> float:
    """The one factor that a function of all its coordinates together can be scaled by."""
    if rows.size == 0:
        return 1.0
    low, high = float(rows.min()), float(rows.max())
    if low != high:
        raise ProblemError(
            f"{name} takes one factor for all its coordinates; got factors from {low:g} to {high:g}"
        )
    return low
