"""Images of a map, as it keeps them."""

from __future__ import annotations

import numpy as np

from condal.linalg.points import Array
from condal.types import LinearMap


def zeros_of(A: LinearMap) -> Array:
    """A0: as many zeros as A has rows, or an array of A's own kind."""
    own = getattr(A, "zeros", None)
    return np.zeros(A.size) if own is None else own()
