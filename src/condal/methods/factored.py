"""The augmented Lagrangian over the factor R of x = R R', its derivatives and its surface."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condal.lagrangian import lagrangian, multiplier
from condal.methods.geometry import Geometry, Rows, Sphere
from condal.methods.trust_region import dot, norm
from condal.operators import Symmetric, add
from condal.passes import add_scaled_rows
from condal.points import Array, LowRank, symmetric_product
from condal.problem import Problem
from condal.types import Spectral

MAX_LAM = 1e10  # past it a larger penalty changes nothing but rounding
PROBE = 1e-7  # how far to look for a derivative, of the size of what is looked at


@dataclass(frozen=True, eq=False)
class Place:
    """L_lam(R R', y) at R: half its value, half its gradient, and what made them."""

    function: FactoredLagrangian
    R: Array
    x: LowRank
    value: float
    Mx: Array
    Ax: Array
    g: Array
    w: Array
    V: Symmetric
    shift: Array
    gradient: Array
    weights: Array

    def hessian(self, D: Array) -> Array:
        """(V - shift) D + (the change of V along D) R, tangent."""
        function = self.function
        image = function.padded(self.V @ function.matrix(D))
        image -= self.shift[:, None] * D
        change = function.change(self, function.matrix(D))
        if change is not None:
            image += function.padded(change @ self.x.U)
        return function.geometry.tangent(self.R, image)


@dataclass(frozen=True, eq=False)
class FactoredLagrangian:
    """R -> L_lam(R R', y) / 2 on a surface; `eliminated` if the surface is the whole of Ax = b.

    Where the trace is a bound, `slack`, R has a row more than x, whose square is what x leaves of
    it.
    """

    problem: Problem
    geometry: Geometry
    eliminated: bool
    slack: bool
    y: Array
    lam: float

    def matrix(self, R: Array) -> Array:
        """The rows of R that x is made of."""
        return R[:-1] if self.slack else R

    def padded(self, U: Array) -> Array:
        """U, with zeros for the row of the slack."""
        return np.vstack([U, np.zeros((1, U.shape[1]))]) if self.slack else U

    def at(self, R: Array) -> Place:
        """The value and derivatives at R."""
        problem, f = self.problem, self.problem.f
        x = LowRank(self.matrix(R), np.ones(R.shape[1]))
        Ax, w = problem.A(x), np.zeros(problem.A.size)
        # A linear f has one matrix: its product with R, needed below, gives its value as well.
        linear = self.eliminated and f.L == 0 and f.M.size == 1 and f.gradient(np.zeros(1))[0] != 0
        Mx = np.zeros(1) if linear else f.M(x)
        g = f.gradient(Mx)
        V = f.M.adjoint(g)
        if not self.eliminated:
            w = multiplier(problem.h, Ax, self.y, self.lam)
            V = add(V, problem.A.adjoint(w))
        assert isinstance(V, Symmetric)
        VR = self.padded(V @ x.U)
        if linear:
            Mx = np.array([dot(VR, R) / g[0]])
        full = not self.eliminated
        value = lagrangian(problem, Mx, Ax, self.y, self.lam) if full else f.value(Mx)
        shift = self.geometry.shift(R, VR)
        diagonal = V.diagonals()[0]
        slack = (np.append(diagonal, 0.0) if self.slack else diagonal) - shift
        weights = np.maximum(slack, 1e-3 * float(np.abs(slack).max()) or 1.0)
        gradient = VR
        add_scaled_rows(gradient, -shift, R)
        return Place(self, R, x, value / 2, Mx, Ax, g, w, V, shift, gradient, weights)

    def settled(self, place: Place) -> bool:
        """Whether another dual or penalty would change nothing."""
        h = self.problem.h
        far = h.distance(place.Ax) > 1e-12 * (1.0 + norm(place.Ax[None, :]))
        if h.lipschitz < np.inf:  # finite everywhere: only its multiplier tells
            far = norm((place.w - self.y)[None, :]) > 1e-9 * (1.0 + norm(place.w[None, :]))
        return self.eliminated or not far or self.lam > MAX_LAM

    def change(self, place: Place, D: Array) -> Symmetric | None:
        """The derivative of V as x moves along R D' + D R'; None where V does not change."""
        problem, f = self.problem, self.problem.f
        curved, priced = f.L > 0, not self.eliminated and problem.A.size > 0
        if not (curved or priced):
            return None
        size = norm(D)
        if size == 0.0:
            return None
        t = norm(place.R) / size
        along = symmetric_product(place.x.U, t * D)
        parts = []
        if curved:
            dM = f.M(along)
            slope = (f.gradient(place.Mx + PROBE * dM) - place.g) / (PROBE * t)
            parts.append(f.M.adjoint(slope))
        if priced:
            dA = problem.A(along)
            moved = multiplier(problem.h, place.Ax + PROBE * dA, self.y, self.lam)
            parts.append(problem.A.adjoint((moved - place.w) / (PROBE * t)))
        total = parts[0] if len(parts) == 1 else add(*parts)
        assert isinstance(total, Symmetric)
        return total


def surface_of(problem: Problem) -> tuple[Geometry, Array | None, bool]:
    """The surface; d, if Ax = d diag(x) = b is all there is; whether the trace has slack."""
    X, d, b = problem.X, problem.A.diagonal_rows, problem.h.fixed
    assert isinstance(X, Spectral)
    if d is not None and b is not None and np.all(b / d > 0):
        total = float((b / d).sum())
        slack = 1e-9 * X.trace
        if abs(total - X.trace) <= slack or (X.at_most and total <= X.trace):
            return Rows(b / d), d, False
    return Sphere(X.trace), None, X.at_most


def scale_of(place: Place) -> float:
    """The size of the objective; that of a normalised problem is at most about 1."""
    return max(abs(2 * place.value), 1e-3)


def residual_of(place: Place) -> float:
    """|half the gradient| |R| relative to the size of the objective."""
    size = norm(place.R)
    return norm(place.gradient) * size / scale_of(place)
