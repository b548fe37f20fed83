"""The unit roundoff of double precision and the error of repeated rounding."""

from __future__ import annotations

import numpy as np

UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2


def gamma(k: int) -> float:
    """Return k u / (1 - k u), a bound on the relative error of k roundings."""
    return k * UNIT_ROUNDOFF / (1 - k * UNIT_ROUNDOFF)
