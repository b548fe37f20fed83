"""A trust region on a surface of matrices: truncated conjugate gradients, preconditioned by rows.

Absil, Baker and Gallivan (2007), with the subproblem of Steihaug (1983). Values, gradients and
Hessians are half the true ones, because V R is half the gradient of <V, R R'>.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from condal.linalg.blocked import block_slices
from condal.linalg.points import Array
from condal.runtime.meter import time_is_up

if TYPE_CHECKING:
    from condal.methods.lowrank.factored import FactoredLagrangian, FactorPoint

MAX_INNER_STEPS = 200
NEWTON_STEPS = 4.0  # the first radius over the length of a preconditioned gradient step
FORCING = 0.1  # of the gradient: the largest residual of a subproblem


@dataclass(frozen=True, eq=False)
class Step:
    """The point after a step (the old one if the step was refused), and the next radius."""

    point: FactorPoint
    radius: float
    accepted: bool
    stuck: bool


def step(function: FactoredLagrangian, point: FactorPoint, radius: float, accuracy: float) -> Step:
    """Take one step; its subproblem is solved to a residual of norm `accuracy`.

    `stuck` means that rounding hides any progress.
    """
    direction, predicted, at_edge = _subproblem(point, radius, accuracy)
    new = function.at(function.geometry.on(point.R + direction))
    if not np.isfinite(new.value):
        raise FloatingPointError("a product or an image was not finite")
    gain, rounding = point.value - new.value, 1e-14 * abs(point.value)
    if predicted <= rounding:  # rounding hides the gain: compare the gradients
        better = norm(new.gradient) < norm(point.gradient)
        better = better and gain >= -10 * rounding
        return Step(new if better else point, radius, better, not better)
    ratio = gain / predicted
    if ratio < 0.25:
        radius /= 4
    elif ratio > 0.75 and at_edge:
        radius *= 2
    accepted = ratio > 0.05
    return Step(new if accepted else point, radius, accepted, False)


def first_radius(point: FactorPoint) -> float:
    """Return an eighth of |R|, in the norm of the preconditioner.

    A matrix that preconditions may be almost 0 on R: then a multiple of its Newton step.
    """
    if point.function.inverse is not None:
        step_norm = sqrt(max(dot(point.gradient, point.preconditioned(point.gradient)), 0.0))
        return NEWTON_STEPS * step_norm
    return float(np.sqrt(np.einsum("i,ij,ij->", point.weights, point.R, point.R))) / 8


def _subproblem(point: FactorPoint, radius: float, accuracy: float) -> tuple[Array, float, bool]:
    """The step, its predicted gain, and whether it ends at the edge of the region.

    Vectors are updated in point, because memory traffic dominates the time.
    """
    R, gradient = point.R, point.gradient
    total, residual = np.zeros_like(R, order="C"), gradient.copy()
    z = point.preconditioned(residual)
    direction, rz = -z, dot(residual, z)
    if rz <= 0.0:  # the gradient is 0: a saddle or a minimum, left only by new columns
        return total, 0.0, False
    squared, cross, length2 = 0.0, 0.0, rz  # |total|^2, <total, direction>, |direction|^2
    at_edge = False
    for _ in range(MAX_INNER_STEPS):
        product = point.hessian(direction)
        curvature = dot(direction, product)
        t = rz / curvature if curvature > 0 else np.inf
        if curvature <= 0 or squared + t * (2 * cross + t * length2) >= radius**2:
            room = max(radius**2 - squared, 0.0)
            t = (-cross + np.sqrt(cross**2 + length2 * room)) / length2
            at_edge = True
        _add(total, t, direction)
        _add(residual, t, product)
        if at_edge or norm(residual) <= accuracy or time_is_up():
            break
        squared += t * (2 * cross + t * length2)
        z = point.preconditioned(residual)
        rz, before = dot(residual, z), rz
        if rz <= 0.0:
            break
        beta = rz / before
        cross = beta * (cross + t * length2)
        length2 = rz + beta**2 * length2
        direction *= beta
        direction -= z
    # The residual is gradient + H total.
    return total, -0.5 * (dot(gradient, total) + dot(residual, total)), at_edge


def _add(a: Array, t: float, b: Array) -> None:
    """a += t b, in one pass; a is contiguous."""
    a, b = a.reshape(-1), b.reshape(-1)
    for rows in block_slices(a.size):
        a[rows] += t * b[rows]


def norm(a: Array) -> float:
    """|a|."""
    return sqrt(dot(a, a))


def dot(a: Array, b: Array) -> float:
    """<a, b>."""
    # Not BLAS: its threads wait for each other, and wait long on a busy machine.
    return float(np.einsum("ij,ij->", a, b))
