"""A trust region on a surface of matrices: truncated conjugate gradients, preconditioned by rows.

Absil, Baker and Gallivan (2007), with the subproblem of Steihaug (1983). Values, gradients and
Hessians are halves of the true ones, as V R is half the gradient of <V, R R'>.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Generic, Protocol, TypeVar

import numpy as np

from condal.linalg.blocked import block_slices
from condal.linalg.points import Array
from condal.methods.lowrank.geometry import Geometry

MAX_INNER = 200
FORCING = 0.1


class QuadraticModel(Protocol):
    """What is known of the function at R."""

    @property
    def R(self) -> Array:
        """The point."""

    @property
    def value(self) -> float:
        """Half the value."""

    @property
    def gradient(self) -> Array:
        """Half the gradient, tangent."""

    @property
    def weights(self) -> Array:
        """The preconditioner: positive numbers near the diagonal of the Hessian, one a row."""

    def hessian(self, D: Array) -> Array:
        """Half the second derivative at R along a tangent D, tangent."""


P = TypeVar("P", bound=QuadraticModel)
P_co = TypeVar("P_co", bound=QuadraticModel, covariant=True)


class Function(Protocol[P_co]):
    """A function on a surface."""

    @property
    def geometry(self) -> Geometry:
        """The surface."""

    def at(self, R: Array) -> P_co:
        """Its value and derivatives at R."""


@dataclass(frozen=True, eq=False)
class Step(Generic[P]):
    """Where a step led (`place` is where it began if it was refused), and the next radius."""

    place: P
    radius: float
    accepted: bool
    stuck: bool


def step(function: Function[P], place: P, radius: float, enough: float) -> Step[P]:
    """One step; its subproblem is solved until the norm of its residual is `enough`.

    `stuck` says that rounding hides whether the step is one: there is no more to gain.
    """
    direction, predicted, at_edge = _subproblem(function.geometry, place, radius, enough)
    new = function.at(function.geometry.on(place.R + direction))
    if not np.isfinite(new.value):
        raise FloatingPointError("a product or an image was not finite")
    gain, rounding = place.value - new.value, 1e-14 * abs(place.value)
    if predicted <= rounding:  # the values no longer tell: the gradients do
        better = norm(new.gradient) < norm(place.gradient)
        better = better and gain >= -10 * rounding
        return Step(new if better else place, radius, better, not better)
    ratio = gain / predicted
    if ratio < 0.25:
        radius /= 4
    elif ratio > 0.75 and at_edge:
        radius *= 2
    accepted = ratio > 0.05
    return Step(new if accepted else place, radius, accepted, False)


def first_radius(place: QuadraticModel) -> float:
    """An eighth of |R|, in the norm of the preconditioner."""
    return float(np.sqrt(np.einsum("i,ij,ij->", place.weights, place.R, place.R))) / 8


def _subproblem(
    geometry: Geometry, place: QuadraticModel, radius: float, enough: float
) -> tuple[Array, float, bool]:
    """The step, the gain it predicts, and whether it ends at the edge of the region.

    Vectors are updated in place: here the time goes by memory traffic.
    """
    R, gradient = place.R, place.gradient
    inverse = (1.0 / place.weights)[:, None]
    total, residual = np.zeros(R.shape), np.array(gradient, order="C")
    z = geometry.tangent_scaled(R, residual, inverse)
    direction, rz = -z, dot(residual, z)
    if rz <= 0.0:  # the gradient is 0: a saddle or a minimum, from which only new columns lead
        return total, 0.0, False
    squared, cross, length2 = 0.0, 0.0, rz  # |total|^2, <total, direction>, |direction|^2
    at_edge = False
    for _ in range(MAX_INNER):
        product = place.hessian(direction)
        curvature = dot(direction, product)
        t = rz / curvature if curvature > 0 else np.inf
        if curvature <= 0 or squared + t * (2 * cross + t * length2) >= radius**2:
            room = max(radius**2 - squared, 0.0)
            t = (-cross + np.sqrt(cross**2 + length2 * room)) / length2
            at_edge = True
        _add(total, t, direction)
        _add(residual, t, product)
        if at_edge or norm(residual) <= enough:
            break
        squared += t * (2 * cross + t * length2)
        z = geometry.tangent_scaled(R, residual, inverse)
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


def _add(to: Array, t: float, what: Array) -> None:
    """to += t what, in one pass; `to` is contiguous."""
    total, added = to.reshape(-1), what.reshape(-1)
    for here in block_slices(total.size):
        total[here] += t * added[here]


def norm(a: Array) -> float:
    """|a|."""
    return sqrt(dot(a, a))


def dot(a: Array, b: Array) -> float:
    """<a, b>."""
    # Not BLAS: its threads wait for each other, and on a busy machine they wait for long.
    return float(np.einsum("ij,ij->", a, b))
