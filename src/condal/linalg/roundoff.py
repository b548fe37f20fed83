"""The unit roundoff of double precision and the error of several roundings."""

from __future__ import annotations

import numpy as np

UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2


def gamma(k: int) -> float:
    """k u / (1 - k u): the relative error of k roundings."""
    return k * UNIT_ROUNDOFF / (1 - k * UNIT_ROUNDOFF)
