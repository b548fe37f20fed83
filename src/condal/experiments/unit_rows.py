"""min <C, R R'> over n x r matrices R with unit rows: max-cut without its constraint.

A trust region method on the product of spheres (Absil, Baker and Gallivan 2007), its subproblems
solved by conjugate gradients preconditioned by the diagonal of the slack. With r(r + 1)/2 > n no
local minimum is expected but the global one (Boumal, Voroninski and Bandeira 2016); whether it was
reached is for a certificate to say: the slack C + Diag(y) has y in closed form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from condal.operators import Symmetric
from condal.points import Array, LowRank

MAX_STEPS = 300
MAX_INNER = 500
FORCING = 0.1  # how far a subproblem reduces its residual: linear convergence by this factor
NEAR = 1e-4  # relative residual from which points are handed out, and columns dropped
DROPPED = 1e-3  # of the largest singular value: columns below are not of the solution's range


@dataclass(frozen=True, eq=False)
class Place:
    """R, the multipliers y_i = -<(CR)_i, R_i> and the gradient (C + Diag y) R, half of the true."""

    R: Array
    value: float
    y: Array
    gradient: Array
    diagonal: Array

    @classmethod
    def of(cls, C: Symmetric, R: Array) -> Place:
        """What is known at R."""
        CR = C @ R
        products = _rowwise(R, CR)
        diagonal = C.diagonals()[0] - products
        floor = 1e-3 * float(np.abs(products).max()) or 1.0
        return cls(
            R,
            float(products.sum()),
            -products,
            CR - products[:, None] * R,
            np.maximum(diagonal, floor)[:, None],
        )

    @property
    def residual(self) -> float:
        """|gradient| sqrt(n) / |value|, or a hundredth of sum |y| where the value is less."""
        size = float(np.linalg.norm(self.gradient)) * np.sqrt(self.y.size)
        return size / max(abs(self.value), 0.01 * float(np.abs(self.y).sum()), 1e-300)

    def tangent(self, U: Array) -> Array:
        """U without its parts along the rows of R."""
        return U - _rowwise(U, self.R)[:, None] * self.R

    def hessian(self, C: Symmetric, U: Array) -> Array:
        """Half the second derivative along U."""
        return self.tangent(C @ U + self.y[:, None] * U)


def unit_rows(C: Symmetric, *, seed: int = 0) -> Iterator[tuple[LowRank, Array]]:
    """Points x = R R' and multipliers y of ever smaller residuals, until rounding stops them."""
    n = C.n
    rank = min(n, int(np.sqrt(2 * n)) + 1)
    start = np.random.default_rng(seed).standard_normal((n, rank))
    place = Place.of(C, _normalised(start))
    radius = np.sqrt(float(place.diagonal.mean()) * n) / 8  # in the norm of the preconditioner
    for _ in range(MAX_STEPS):
        step, predicted, at_edge = _subproblem(C, place, radius)
        new = Place.of(C, _normalised(place.R + step))
        rounding = 1e-13 * abs(place.value)
        gain = place.value - new.value
        if abs(predicted) <= rounding and abs(gain) <= rounding:
            ratio = 1.0  # the values no longer tell: the residuals do
            if new.residual >= place.residual:
                return
        else:
            ratio = gain / predicted
        if ratio < 0.25:
            radius /= 4
        elif ratio > 0.75 and at_edge:
            radius *= 2
        if ratio <= 0.05:
            continue
        place = new
        if place.residual <= NEAR:
            yield LowRank(place.R, np.ones(place.R.shape[1])), place.y
            place = _narrower(C, place)


def _subproblem(C: Symmetric, place: Place, radius: float) -> tuple[Array, float, bool]:
    """The step of truncated conjugate gradients (Steihaug 1983), its predicted gain, whether it
    ended at the edge of the region."""
    step, image = np.zeros_like(place.R), np.zeros_like(place.R)
    residual = place.gradient
    enough = FORCING * np.linalg.norm(residual)
    z = place.tangent(residual / place.diagonal)
    direction, rz = -z, _dot(residual, z)
    norm2, cross, direction2 = 0.0, 0.0, rz  # |step|^2, <step, direction>, |direction|^2
    at_edge = False
    for _ in range(MAX_INNER):
        product = place.hessian(C, direction)
        curvature = _dot(direction, product)
        length = rz / curvature if curvature > 0 else np.inf
        if curvature <= 0 or norm2 + length * (2 * cross + length * direction2) >= radius**2:
            room = max(radius**2 - norm2, 0.0)
            length = (-cross + np.sqrt(cross**2 + direction2 * room)) / direction2
            at_edge = True
        step, image = step + length * direction, image + length * product
        if at_edge:
            break
        norm2 += length * (2 * cross + length * direction2)
        residual = residual + length * product
        if np.linalg.norm(residual) <= enough:
            break
        z = place.tangent(residual / place.diagonal)
        rz, before = _dot(residual, z), rz
        beta = rz / before
        cross = beta * (cross + length * direction2)
        direction2 = rz + beta**2 * direction2
        direction = beta * direction - z
    return step, -2 * _dot(place.gradient, step) - _dot(step, image), at_edge


def _narrower(C: Symmetric, place: Place) -> Place:
    """Without the columns that vanish in the limit: along them the Hessian is singular there."""
    U, singular, _ = np.linalg.svd(place.R, full_matrices=False)
    kept = int(np.count_nonzero(singular > DROPPED * singular[0]))
    if kept == place.R.shape[1]:
        return place
    return Place.of(C, _normalised(U[:, :kept] * singular[:kept]))


def _normalised(R: Array) -> Array:
    return np.asarray(R / np.linalg.norm(R, axis=1, keepdims=True))


def _rowwise(a: Array, b: Array) -> Array:
    return np.einsum("ij,ij->i", a, b)


def _dot(a: Array, b: Array) -> float:
    return float(np.vdot(a, b))
