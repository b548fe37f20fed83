"""Newton's method on the surface A(R R') = b: points, tangent spaces, steps and retractions.

At a point R of the surface the multiplier is y = (J J')^-1 J (2 C R), the slack is S = C - A'y, the
gradient is 2 S R, and the Hessian maps a tangent D to the tangent part of 2 S D. A step minimises
the quadratic model over the tangent D of a trust region, by conjugate gradients (Steihaug 1983),
and returns to the surface by Gauss-Newton steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt

import numpy as np

from condal.linalg.blocked import add_multiple
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.methods.surface.gram import Gram
from condal.methods.surface.manifold import FEASIBLE, Surface, dot, norm

MULTIPLIER_TOL = 1e-6  # relative residual of the equations of the multiplier
REGULARISED_TOL = 1e-6  # the same, of a regularised one
DAMPING = 1e-6  # of the largest entry of J J': rows far below it keep their multiplier
# The same, of a projection onto the tangent space, as a share of the residual of the point.
TANGENT_SHARE, TANGENT_TOL, LEAST_TANGENT_TOL = 0.1, 1e-3, 1e-5
MAX_INNER_STEPS = 200
PATH_RADII = 4  # radii, each a quarter of the one before, at which a step is kept
FORCING, LEAST_FORCING = 0.1, 1e-2  # of the gradient: the residual of a subproblem
SUPERLINEAR = 100.0  # ratio of the forcing term to the residual near a solution
PRICE_SHARE = 1e-3  # of the predicted gain: the price of the infeasibility that a step may leave
ACCEPTED_RATIO = 0.05
ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class SurfacePoint:
    """A point R of a surface, its multiplier and its derivatives.

    `near` is a multiplier nearby. Rows that vanish at R do not determine theirs and keep it.
    """

    surface: Surface
    R: Array
    near: Array

    @cached_property
    def gram(self) -> Gram:
        """J J' at R."""
        return self.surface.gram(self.R)

    @cached_property
    def _half_gradient(self) -> Array:
        return self.surface.half_gradient(self.R)

    @cached_property
    def value(self) -> float:
        """<C, R R'>."""
        n = self.surface.rows.n
        return dot(self._half_gradient[:n], self.R[:n])

    @cached_property
    def multiplier(self) -> Array:
        """y with J (2 (C - A'y) R) = 0."""
        surface = self.surface
        rest = 2 * (self._half_gradient - surface.adjoint_product(self.near, self.R))
        damping = DAMPING if surface.relaxation is None else 0.0
        return self.near + self.gram.solve(surface.along(self.R, rest), MULTIPLIER_TOL, damping)

    def regularised(self, damping: float) -> Array:
        """The y of the smallest |2 (C - A'y) R|^2 + damping |y|^2, up to the scale of J J'.

        Rows that R hardly determines have a small y here. That of `multiplier` amplifies the
        gradient in them, and may make S far less psd than the gradient is large.
        """
        image = self.surface.along(self.R, 2 * self._half_gradient)
        return self.gram.solve(image, REGULARISED_TOL, damping)

    @cached_property
    def axes(self) -> tuple[Array, Array]:
        """The eigenvectors of R R' for its nonzero eigenvalues, and the roots of these."""
        axes, roots, _ = np.linalg.svd(self.R[: self.surface.rows.n], full_matrices=False)
        return axes, roots

    @cached_property
    def _matrix(self) -> Symmetric:
        return self.surface.rows.slack_matrix(self.surface.C, self.multiplier)

    def slack(self, D: Array) -> Array:
        """S D = (C - A'y) D; S is diagonal for the slacks."""
        rows = self.surface.rows
        product = rows.padded(self._matrix @ D[: rows.n], D)
        if self.surface.relaxation is not None:
            self.surface.errors(product)[:] = 0.5 * self.surface.errors(D)
        rows.slacks(product)[:] = self.slack_values * rows.slacks(D)
        rows.restrict(product)
        return product

    @cached_property
    def slack_values(self) -> Array:
        """The diagonal of S for the slacks."""
        rows = self.surface.rows
        return -(rows.signs * self.multiplier)[rows.bounded]

    @cached_property
    def gradient(self) -> Array:
        """2 S R."""
        half = self._half_gradient - self.surface.adjoint_product(self.multiplier, self.R)
        return self.tangent(2 * half, MULTIPLIER_TOL)

    def tangent(self, V: Array, tol: float) -> Array:
        """V - J'(J J')^-1 J V."""
        u = self.gram.solve(self.surface.along(self.R, V), tol)
        product = self.surface.adjoint_product(-2 * u, self.R)
        product += V
        return product

    def hessian(self, D: Array) -> Array:
        """The tangent part of 2 S D."""
        product = self.slack(D)
        product *= 2.0
        tol = max(LEAST_TANGENT_TOL, min(TANGENT_TOL, TANGENT_SHARE * self.residual))
        return self.tangent(product, tol)

    @cached_property
    def residual(self) -> float:
        """|gradient| relative to the objective."""
        return norm(self.gradient) / max(abs(self.value), 1e-3)

    def priced(self, R: Array) -> float:
        """The objective with what R misses of the surface at the price y."""
        return self.surface.value(R) - float(self.multiplier @ self.surface.residual(R))

    @cached_property
    def price(self) -> float:
        """What the infeasibility of R costs at its own multiplier."""
        return self.price_of(self.multiplier)

    def price_of(self, y: Array) -> float:
        """<y, A(R R') - b>, slacks included: 0 but for rounding, or for errors of a relaxation."""
        return float(y @ self.surface.infeasibility(self.R))


@dataclass(frozen=True, eq=False)
class NewtonStep:
    """The point after a step (the old one if refused), and the next radius.

    `stuck` means that rounding hides any progress.
    """

    point: SurfacePoint
    radius: float
    accepted: bool
    stuck: bool
    inner: int = 0
    ratio: float = 1.0


def newton_step(point: SurfacePoint, radius: float) -> NewtonStep:
    """Take one step of the trust region; where it fails, a shorter one on the same path."""
    path, inner = _subproblem(point, radius)
    unit = max(abs(point.value), 1e-3)
    if path[0].predicted <= ROUNDING * unit:
        return _settling_step(point, path[0].D, radius, inner)
    price = max(float(np.linalg.norm(point.multiplier)), 1e-3)
    before, ratio = point.priced(point.R), -inf
    for trial in path:
        tol = max(FEASIBLE, min(1e-6, PRICE_SHARE * trial.predicted / price))
        R = point.surface.retracted(point.R + trial.D, point.gram, tol)
        gain = -inf if R is None else before - point.priced(R)
        ratio = gain / max(trial.predicted, 1e-300)
        length = norm(trial.D)
        if R is not None and ratio > ACCEPTED_RATIO:
            edge = length if trial.at_edge else radius
            radius = 0.5 * length if ratio < 0.25 else 2.5 * edge if ratio > 0.7 else edge
            new = SurfacePoint(point.surface, R, point.multiplier)
            return NewtonStep(new, min(radius, 1.0), True, False, inner, ratio)
        radius = 0.25 * length
    return NewtonStep(point, radius, False, radius < ROUNDING, inner, ratio)


def _settling_step(point: SurfacePoint, D: Array, radius: float, inner: int) -> NewtonStep:
    """A step whose gain rounding hides: it is taken if the gradient falls."""
    R = point.surface.retracted(point.R + D, point.gram)
    new = point if R is None else SurfacePoint(point.surface, R, point.multiplier)
    falls = norm(new.gradient) < 0.5 * norm(point.gradient)
    return NewtonStep(new if falls else point, radius, falls, not falls, inner)


@dataclass(frozen=True, eq=False)
class _Trial:
    """A tangent step, its predicted gain, and whether it is on the edge of a trust region."""

    D: Array
    predicted: float
    at_edge: bool


def _subproblem(point: SurfacePoint, radius: float) -> tuple[list[_Trial], int]:
    """The steps to try, longest first, and the number of products.

    The path of conjugate gradients crosses the spheres of smaller radii on its way: the step on
    such a sphere is the one of a trust region of that radius.
    """
    gradient = point.gradient
    total, residual = np.zeros(gradient.shape), gradient.copy()
    direction, squares = -residual, dot(residual, residual)
    aim = sqrt(squares) * min(FORCING, max(LEAST_FORCING, SUPERLINEAR * point.residual))
    trials: list[_Trial] = []
    radii = [radius / 4**k for k in range(PATH_RADII)]
    inner, at_edge = 0, squares == 0.0

    def trial(D: Array, model: Array, edge: bool) -> _Trial:
        return _Trial(D, -0.5 * (dot(gradient, D) + dot(model, D)), edge)

    while inner < MAX_INNER_STEPS and not at_edge:
        product = point.hessian(direction)
        inner += 1
        curvature, length = dot(direction, product), dot(direction, direction)
        cross, size = dot(total, direction), dot(total, total)
        t = squares / curvature if curvature > 1e-14 * length else inf
        while radii and not size + t * (2 * cross + t * length) < radii[-1] ** 2:
            room = max(radii.pop() ** 2 - size, 0.0)
            edge = (-cross + sqrt(cross**2 + length * room)) / length
            trials.append(trial(total + edge * direction, residual + edge * product, True))
        at_edge = not radii
        if at_edge:
            break
        add_multiple(total, direction, t)
        add_multiple(residual, product, t)
        squares, before = dot(residual, residual), squares
        if sqrt(squares) <= aim:
            break
        direction *= squares / before
        direction -= residual
    if not at_edge or not trials:
        trials.append(trial(total, residual, False))
    return trials[::-1], inner
