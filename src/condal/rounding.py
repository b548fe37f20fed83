"""What rounding does to points of dom h*, where no vector of doubles may lie exactly in it.

h* counts as finite within NEAR of its domain. What a proof then loses is `Proximable.dual_error`:
an upper bound on how far such a point is from the domain, rounding and all.
"""

from __future__ import annotations

import numpy as np

from condal.errors import ProblemError
from condal.operators import gamma
from condal.points import Array

NEAR = 1e-12  # of the size of a point: far more than rounding, far less than is ever asked for


def norm_above(y: Array) -> float:
    """|y| rounded up."""
    return float(np.linalg.norm(y)) * (1 + gamma(y.size + 2))


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
