"""The augmented Lagrangian as a function of the factor R of x = R R', and its trust region.

The trust region is on a surface of matrices: truncated conjugate gradients, preconditioned by rows.
Absil, Baker and Gallivan (2007), with the subproblem of Steihaug (1983). Values, gradients and
Hessians are half the true ones, because V R is half the gradient of <V, R R'>.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from condal.linalg.blocked import add_multiple
from condal.linalg.gradients import Gradient, add, zeros_of
from condal.linalg.points import Array, Point, total_rows
from condal.linalg.rounding import stable_norm
from condal.methods.lagrangian import lagrangian, multiplier
from condal.methods.lowrank.surfaces import (
    Blocks,
    Geometry,
    Layout,
    Sphere,
    StiefelBlocks,
    UnitRows,
)
from condal.runtime.meter import time_is_up
from condal.types import Spectral

if TYPE_CHECKING:
    from condal.problem import Problem

MAX_INNER_STEPS = 200
NEWTON_STEPS = 4.0  # the first radius over the length of a preconditioned gradient step
FORCING = 0.1  # of the gradient: the largest residual of a subproblem
MAX_LAM = 1e10  # a larger penalty changes nothing but rounding
LEAST_SCALE = 1e-3  # of the range of the normalised objective, which is about 1
PROBE = 1e-7  # relative step of the differences that estimate derivatives


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
        add_multiple(total, direction, t)
        add_multiple(residual, product, t)
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


def norm(a: Array) -> float:
    """|a|."""
    return sqrt(dot(a, a))


def dot(a: Array, b: Array) -> float:
    """<a, b>."""
    # Not BLAS: its threads wait for each other, and wait long on a busy machine.
    return float(np.einsum("ij,ij->", a, b))


@dataclass(frozen=True, eq=False)
class FactorPoint:
    """L_lam(R R', y) at R: half its value, half its gradient, and the terms of both."""

    function: FactoredLagrangian
    R: Array
    x: Point
    value: float
    Mx: Array
    Ax: Array
    g: Array
    w: Array
    V: Gradient
    shift: Array
    gradient: Array
    weights: Array

    def hessian(self, D: Array) -> Array:
        """Return the tangent part of (V - shift) D + (the change of V along D) R."""
        function, layout = self.function, self.function.layout
        image = layout.product(self.V, D)
        function.geometry.subtract(image, self.shift, D)
        change = function.change(self, D)
        if change is not None:
            image += layout.product(change, self.R)
        return function.geometry.tangent(self.R, image)

    def preconditioned(self, U: Array) -> Array:
        """Return the tangent part of M^-1 U for a tangent U, M near the Hessian."""
        geometry, inverse = self.function.geometry, self.function.inverse
        if inverse is not None:
            return geometry.tangent(self.R, inverse(U))
        return geometry.tangent_scaled(self.R, U, (1.0 / self.weights)[:, None])


@dataclass(frozen=True, eq=False)
class FactoredLagrangian:
    """R -> L_lam(R R', y) / 2 on a surface; `eliminated` if the surface implies Ax = b.

    `least_scale` is the smallest size of the objective that residuals are relative to. `inverse` is
    the product with the inverse of a matrix near V; without it, the diagonal of V preconditions.
    """

    problem: Problem
    geometry: Geometry
    eliminated: bool
    layout: Layout
    y: Array
    lam: float
    least_scale: float = LEAST_SCALE
    inverse: Callable[[Array], Array] | None = None

    def at(self, R: Array) -> FactorPoint:
        """Return the value and derivatives at R."""
        problem, f = self.problem, self.problem.f
        x = self.layout.point(R)
        Ax, w = problem.A(x), zeros_of(problem.A)
        # For a linear f the product V R, needed below, also gives the value.
        linear = self.eliminated and f.L == 0 and f.M.size == 1 and f.gradient(np.zeros(1))[0] != 0
        Mx = np.zeros(1) if linear else f.M(x)
        g = f.gradient(Mx)
        V = f.M.adjoint(g)
        if not self.eliminated:
            w = multiplier(problem.h, Ax, self.y, self.lam)
            V = add(V, problem.A.adjoint(w))
        assert V is not None
        VR = self.layout.product(V, R)
        if linear:
            Mx = np.array([dot(VR, R) / g[0]])
        full = not self.eliminated
        value = lagrangian(problem, Mx, Ax, self.y, self.lam) if full else f.value(Mx)
        shift = self.geometry.shift(R, VR)
        weights = np.ones(len(R)) if self.inverse is not None else self._weights(V, shift)
        gradient = VR
        self.geometry.subtract(gradient, shift, R)
        return FactorPoint(self, R, x, value / 2, Mx, Ax, g, w, V, shift, gradient, weights)

    def _weights(self, V: Gradient, shift: Array) -> Array:
        """The diagonal of the slack, where it is positive."""
        slack = self.layout.diagonal(V) - self.geometry.shift_diagonal(shift)
        weights = np.maximum(slack, 1e-3 * float(np.abs(slack).max()) or 1.0)
        weights /= weights.mean()  # a radius then means the same at every point
        return weights

    def settled(self, point: FactorPoint) -> bool:
        """Whether another dual or penalty would change nothing."""
        h = self.problem.h
        far = h.distance(point.Ax) > 1e-12 * (1.0 + stable_norm(point.Ax))
        if h.lipschitz < np.inf:  # h is finite everywhere: only the multiplier shows
            far = stable_norm(point.w - self.y) > 1e-9 * (1.0 + stable_norm(point.w))
        return self.eliminated or not far or self.lam > MAX_LAM

    @cached_property
    def _varying(self) -> tuple[bool, bool]:
        """Whether the terms of f and of the constraints in V depend on R."""
        return self.problem.f.L > 0, not self.eliminated and self.problem.A.size > 0

    def change(self, point: FactorPoint, D: Array) -> Gradient | None:
        """Return the derivative of V as x moves along R D' + D R'; None if V is constant."""
        problem, f, (curved, priced) = self.problem, self.problem.f, self._varying
        size = norm(D) if curved or priced else 0.0
        if size == 0.0:
            return None
        t = norm(point.R) / size
        along = self.layout.along(point.R, t * D)
        parts = []
        if curved:
            dM = f.M(along)
            slope = (f.gradient(point.Mx + PROBE * dM) - point.g) / (PROBE * t)
            parts.append(f.M.adjoint(slope))
        if priced:
            dA = problem.A(along)
            moved = multiplier(problem.h, point.Ax + PROBE * dA, self.y, self.lam)
            parts.append(problem.A.adjoint((moved - point.w) / (PROBE * t)))
        return parts[0] if len(parts) == 1 else add(*parts)


def surface_of(problem: Problem) -> tuple[Geometry, Array | None, Layout]:
    """Return the surface, its rows and the layout of R.

    The rows are the factors of Ax where the surface is all of Ax = b, with Ax = rows * diag(x) or
    rows * the diagonal blocks of x; else they are None.
    """
    X, d, b = problem.X, problem.A.diagonal_rows, problem.h.fixed
    layout = Layout.of(problem)
    if not isinstance(X, Spectral):
        spheres = tuple(Sphere(block.X.trace) for block in layout.blocks)
        return Blocks(tuple(block.every for block in layout.blocks), spheres), None, layout
    if d is not None and b is not None and np.all(b / d > 0) and X.n % total_rows(d) == 0:
        total = float((b / d).sum())
        slack = 1e-9 * X.trace
        if abs(total - X.trace) <= slack or (X.at_most and total <= X.trace):
            return UnitRows(b / d), d, Layout.exact(X)
    blocks = getattr(problem.A, "block_rows", None)
    if blocks is not None and b is not None and _are_identities(blocks, b) and not X.at_most:
        return StiefelBlocks(blocks[0]), blocks[1], Layout.exact(X)
    return Sphere(X.trace), None, layout


def _are_identities(blocks: tuple[int, Array], b: Array) -> bool:
    """Whether b is what an x with identities as its diagonal blocks gives."""
    d, rows = blocks
    identity = np.eye(d)[np.triu_indices(d)]
    return bool(np.allclose((b / rows).reshape(-1, identity.size), identity, rtol=0, atol=1e-12))


def scale_of(point: FactorPoint) -> float:
    """Return the size of the objective, at most about 1 for a normalised problem."""
    return max(abs(2 * point.value), point.function.least_scale)


def least_scale_of(problem: Problem) -> float:
    """Return the smallest size of the objective that residuals are relative to.

    A curved f is normalised by a bound on its range, which may be far above it where x is large:
    its value at x = 0 tells.
    """
    f = problem.f
    at_zero = abs(f.value(zeros_of(f.M))) if f.L > 0 and problem.A.size == 0 else 0.0
    return min(at_zero, LEAST_SCALE) or LEAST_SCALE


def residual_of(point: FactorPoint) -> float:
    """Return |half the gradient| |R|, relative to the size of the objective."""
    size = norm(point.R)
    return norm(point.gradient) * size / scale_of(point)
