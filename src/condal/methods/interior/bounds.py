"""K as bounds on the coordinates of z and second-order cones."""

from __future__ import annotations

from math import inf

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.types import Proximable

FAR = 1e10  # times the longest Ax of a normalised problem: a farther bound is not active


def bounds(h: Proximable) -> tuple[Array, Array, list[slice]]:
    """Return low <= z <= high for the coordinates of dom h, and its second-order cones."""
    low, high = np.full(h.size, -inf), np.full(h.size, inf)
    cones = []
    for rows, piece in h.pieces:
        if piece.lipschitz < inf:
            obstacle = "a nonsmooth term g"
        elif getattr(piece, "cone", None) == "second-order":
            low[rows], high[rows] = 0.0, 0.0
            cones.append(rows)
            continue
        elif piece.separable:
            below = piece.prox(np.full(piece.size, -FAR), 1.0)
            above = piece.prox(np.full(piece.size, FAR), 1.0)
            low[rows] = np.where(below > -FAR, below, -inf)
            high[rows] = np.where(above < FAR, above, inf)
            continue
        else:
            obstacle = f"a set without coordinates, {type(piece).__name__}"
        raise ProblemError(
            "the interior-point method needs K of bounds on coordinates and of second-order "
            f"cones: this problem has {obstacle}; use condal.CGAL()"
        )
    return low, high, cones
