"""The objective of a form near a point, rounded up."""

from __future__ import annotations

from math import inf

import numpy as np

from condal.certificates.cones import ConicForm
from condal.certificates.residuals import dot
from condal.linalg.points import Array
from condal.linalg.rounding import norm_above

ROUND_UP = 1 + 4e-15


def objective_above(form: ConicForm, x: Array, weight: Array, reach: float) -> float:
    """Return a bound on the objective at every x + weight * u with |u| <= reach."""
    value, error = dot(form.c, x)
    moved = norm_above(form.c * weight) * reach
    if form.P is not None:
        product, off = form.curvature.residual(np.zeros(x.size), x)  # -Px
        half, half_error = dot(-0.5 * product, x)
        value += half
        error += half_error + norm_above(x) * norm_above(off) + abs(value) * 1e-15
        slope = norm_above((np.abs(product) + off) * weight)
        moved += slope * reach + norm_above(form.P.data) * (weight.max(initial=0.0) * reach) ** 2
    return float(np.nextafter((value + error + moved * ROUND_UP), inf))
