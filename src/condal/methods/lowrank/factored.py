"""The augmented Lagrangian over the factor R of x = R R', its derivatives and its surface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from condal.linalg.blocked import add_scaled_rows
from condal.linalg.gradients import Gradient, add
from condal.linalg.points import Array, Point
from condal.methods.lagrangian import lagrangian, multiplier
from condal.methods.lowrank.factor_layout import Layout
from condal.methods.lowrank.geometry import Blocks, Geometry, Sphere, UnitRows
from condal.methods.lowrank.trust_region import dot, norm
from condal.types import Spectral

if TYPE_CHECKING:
    from condal.problem import Problem

MAX_LAM = 1e10  # past it a larger penalty changes nothing but rounding
PROBE = 1e-7  # how far to look for a derivative, of the size of what is looked at


@dataclass(frozen=True, eq=False)
class FactorPoint:
    """L_lam(R R', y) at R: half its value, half its gradient, and what made them."""

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
        """(V - shift) D + (the change of V along D) R, tangent."""
        function, layout = self.function, self.function.layout
        image = layout.product(self.V, D)
        image -= self.shift[:, None] * D
        change = function.change(self, D)
        if change is not None:
            image += layout.product(change, self.R)
        return function.geometry.tangent(self.R, image)


@dataclass(frozen=True, eq=False)
class FactoredLagrangian:
    """R -> L_lam(R R', y) / 2 on a surface; `eliminated` if the surface is the whole of Ax = b."""

    problem: Problem
    geometry: Geometry
    eliminated: bool
    layout: Layout
    y: Array
    lam: float

    def at(self, R: Array) -> FactorPoint:
        """The value and derivatives at R."""
        problem, f = self.problem, self.problem.f
        x = self.layout.point(R)
        Ax, w = problem.A(x), np.zeros(problem.A.size)
        # A linear f has one matrix: its product with R, needed below, gives its value as well.
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
        slack = self.layout.diagonal(V) - shift
        weights = np.maximum(slack, 1e-3 * float(np.abs(slack).max()) or 1.0)
        weights /= weights.mean()  # so that a radius means the same from one place to the next
        gradient = VR
        add_scaled_rows(gradient, -shift, R)
        return FactorPoint(self, R, x, value / 2, Mx, Ax, g, w, V, shift, gradient, weights)

    def settled(self, place: FactorPoint) -> bool:
        """Whether another dual or penalty would change nothing."""
        h = self.problem.h
        far = h.distance(place.Ax) > 1e-12 * (1.0 + norm(place.Ax[None, :]))
        if h.lipschitz < np.inf:  # finite everywhere: only its multiplier tells
            far = norm((place.w - self.y)[None, :]) > 1e-9 * (1.0 + norm(place.w[None, :]))
        return self.eliminated or not far or self.lam > MAX_LAM

    def change(self, place: FactorPoint, D: Array) -> Gradient | None:
        """The derivative of V as x moves along R D' + D R'; None where V does not change."""
        problem, f = self.problem, self.problem.f
        curved, priced = f.L > 0, not self.eliminated and problem.A.size > 0
        if not (curved or priced):
            return None
        size = norm(D)
        if size == 0.0:
            return None
        t = norm(place.R) / size
        along = self.layout.along(place.R, t * D)
        parts = []
        if curved:
            dM = f.M(along)
            slope = (f.gradient(place.Mx + PROBE * dM) - place.g) / (PROBE * t)
            parts.append(f.M.adjoint(slope))
        if priced:
            dA = problem.A(along)
            moved = multiplier(problem.h, place.Ax + PROBE * dA, self.y, self.lam)
            parts.append(problem.A.adjoint((moved - place.w) / (PROBE * t)))
        return parts[0] if len(parts) == 1 else add(*parts)


def surface_of(problem: Problem) -> tuple[Geometry, Array | None, Layout]:
    """The surface; d, if Ax = d diag(x) = b is all there is; and the layout of R."""
    X, d, b = problem.X, problem.A.diagonal_rows, problem.h.fixed
    layout = Layout.of(problem)
    if not isinstance(X, Spectral):
        spheres = tuple(Sphere(block.X.trace) for block in layout.blocks)
        return Blocks(tuple(block.every for block in layout.blocks), spheres), None, layout
    if d is not None and b is not None and np.all(b / d > 0) and X.n % d.size == 0:
        total = float((b / d).sum())
        slack = 1e-9 * X.trace
        if abs(total - X.trace) <= slack or (X.at_most and total <= X.trace):
            return UnitRows(b / d), d, Layout.exact(X)
    return Sphere(X.trace), None, layout


def scale_of(place: FactorPoint) -> float:
    """The size of the objective; that of a normalised problem is at most about 1."""
    return max(abs(2 * place.value), 1e-3)


def residual_of(place: FactorPoint) -> float:
    """|half the gradient| |R| relative to the size of the objective."""
    size = norm(place.R)
    return norm(place.gradient) * size / scale_of(place)
