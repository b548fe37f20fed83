"""K as bounds on the coordinates of z, and second-order cones among them."""

from __future__ import annotations

from math import inf

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.types import Proximable

FAR = 1e10  # times the longest Ax of a normalised problem: beyond it a bound is none


def bounds(h: Proximable) -> tuple[Array, Array, list[slice]]:
    """low <= z <= high for each coordinate of dom h, and where it has second-order cones."""
    low, high = np.full(h.size, -inf), np.full(h.size, inf)
    cones = []
    for here, piece in h.pieces:
        if piece.lipschitz < inf:
            wanted = "a nonsmooth term g"
        elif getattr(piece, "cone", None) == "second-order":
            low[here], high[here] = 0.0, 0.0
            cones.append(here)
            continue
        elif piece.separable:
            below = piece.prox(np.full(piece.size, -FAR), 1.0)
            above = piece.prox(np.full(piece.size, FAR), 1.0)
            low[here] = np.where(below > -FAR, below, -inf)
            high[here] = np.where(above < FAR, above, inf)
            continue
        else:
            wanted = f"a set without coordinates, {type(piece).__name__}"
        raise ProblemError(
            "the interior-point method needs K of bounds on coordinates and of second-order "
            f"cones: this problem has {wanted}; use condal.CGAL()"
        )
    return low, high, cones
