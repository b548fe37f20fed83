"""Pairs of points inside a cone and its dual, and the Newton step for u z = mu from them.

    du = r - H dz,    dz = -A'dy

for each cone, with H positive definite: X . Z^-1 for matrices (Helmberg et al. 1996, Kojima et al.
1997, Monteiro 1997), 1 / (z/u + v/w) for 0 <= u <= cap, w = cap - u, whose duals are z and v, and
the square of the Nesterov-Todd scaling for second-order cones. A H A', summed over the cones, is
the Schur complement.
"""

from __future__ import annotations

from math import inf

import numpy as np

from condal.linalg.points import Array
from condal.methods.interior.cone_point import ConePoint, Step
from condal.methods.interior.orthant import Orthant
from condal.methods.interior.psd import Psd
from condal.methods.interior.schur import Schur
from condal.methods.interior.second_order import SecondOrder
from condal.methods.interior.standard import Cone

__all__ = ["ConePoint", "Orthant", "Psd", "SecondOrder", "Step", "place_of"]


def place_of(cone: Cone, y: Array, mu: float) -> ConePoint:
    """Return the first point, with z = c - A'y, which must be inside; caps add about mu."""
    cost = cone.reduced(y)
    if cone.kind == "psd":
        n = cone.n
        first = Psd.of(cone, Schur.of(cone.A, n), cone.first.reshape(n, n), cost.reshape(n, n))
        assert first is not None
        return first
    if cone.kind == "second-order":
        return SecondOrder(cone, cone.first, cost)
    capped, w = cone.cap < inf, cone.cap - cone.first
    more = np.where(capped, np.maximum(mu / np.minimum(cone.first, w), np.abs(cost)), 0.0)
    z = np.where(capped, more + np.maximum(cost, 0.0), cost)
    return Orthant(cone, cone.first, w, z, z - cost)
