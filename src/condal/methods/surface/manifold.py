"""The surface A(R R') = b: its objective, its derivatives, and the way back to it.

With a relaxation the rows may have errors, A(R R') + size e = b, at a cost: J J' is then never
singular, and each R has a point of the surface. It serves where multipliers are not unique.

Where the rows of J are dependent at a solution, many multipliers make S R = 0, and only some of
them make S psd: those of least squares may never prove the optimum. With the rows A(R R') + size e
= b and the objective <C, R R'> + |e|^2 / 2 + size <anchor, e>, the multiplier is the proximal step

    y = argmax (dual objective of y - size^2 |y - anchor|^2 / 2)

from the anchor: the method of multipliers, which converges to a multiplier that proves the optimum.
The infeasibility of R is size^2 |y - anchor|. J J' grows by size^2 I, so its equations are easy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, sqrt

import numpy as np

from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.methods.surface.gram import TIGHT, Gram
from condal.methods.surface.rows import SurfaceRows

FIRST_SIZE = 0.3  # times the root of the usual diagonal entry of J J'
LEAST_SIZE = 1e-3  # times the first
FASTER = 0.3  # ratio of the infeasibilities of two rounds, above which the size is halved
ROUND_SHARE = 0.3  # of the gap or the price: the residual at the end of a round
MAX_ROUND_RESIDUAL = 0.03
RETRACTION_TOL = 1e-3  # relative residual of the equations of a step back
BORDER_TOL = 1e-5  # the same, of the border
MAX_RETRACTIONS = 20  # Gauss-Newton steps
CHECK_EVERY = 10  # of these: whether those that are left may suffice
SLOW_CHORD = 0.02  # ratio of residuals above which J J' is formed again
FEASIBLE = 1e-13  # |A(R R') - b| on the surface
CLEARLY_FEASIBLE = 1e-9  # a larger residual of a retraction means that it failed


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The size of the errors, the anchor, and the infeasibility after the last round."""

    size: float
    anchor: Array
    least: float
    infeasibility: float = inf

    @classmethod
    def of(cls, diagonal: Array, anchor: Array) -> Relaxation:
        """Return the first relaxation, given the diagonal of J J' and a multiplier."""
        size = FIRST_SIZE * sqrt(float(np.median(diagonal)) or float(diagonal.max()) or 1.0)
        return cls(size, anchor, LEAST_SIZE * size)

    @cached_property
    def price(self) -> Array:
        """What an error costs."""
        return self.size * self.anchor

    def round_ends(self, residual: float, price: float, gap: float, aim: float) -> bool:
        """Whether a point is near enough to a solution of this round; all numbers are relative."""
        due = ROUND_SHARE * max(abs(price), min(gap, 1.0))
        return residual <= max(0.1 * aim, min(MAX_ROUND_RESIDUAL, due))

    def next_round(self, multiplier: Array, infeasibility: float) -> Relaxation:
        """Return the relaxation around another multiplier; smaller if the last round did little."""
        slow = infeasibility > FASTER * self.infeasibility
        size = max(self.least, 0.5 * self.size) if slow else self.size
        return replace(self, size=size, anchor=multiplier, infeasibility=infeasibility)


def dot(a: Array, b: Array) -> float:
    """<a, b>."""
    return float(np.vdot(a, b))


def norm(a: Array) -> float:
    """|a|."""
    return sqrt(dot(a, a))


@dataclass(frozen=True, eq=False)
class Surface:
    """The objective <C, R R'> on the surface of some rows, or on one with errors of these rows.

    A vector is that of the rows; with a relaxation, the errors e follow its slacks.
    """

    rows: SurfaceRows
    C: Symmetric
    relaxation: Relaxation | None = None

    def errors(self, D: Array) -> Array:
        """The errors of a vector: a view."""
        begin = self.rows.bounded.size
        return D[self.rows.n :].reshape(-1)[begin : begin + self.rows.size]

    def joined(self, R: Array, slacks: Array) -> Array:
        """The vector of R and slacks; its errors, if there are any, are those of the rows."""
        D = self.rows.joined(R, slacks)
        if self.relaxation is None:
            return D
        numbers, rank = self.rows.bounded.size + self.rows.size, R.shape[1]
        whole = np.zeros((self.rows.n - (-numbers // rank), rank))
        whole[: len(D)] = D
        missing = (self.rows.b - self.rows.values(D))[: self.rows.size]
        self.errors(whole)[:] = missing / self.relaxation.size
        return whole

    def along(self, R: Array, D: Array) -> Array:
        """J D."""
        return self._with_errors(self.rows.along(R, D), D)

    def adjoint_product(self, u: Array, R: Array) -> Array:
        """Half of J'u."""
        product = self.rows.adjoint_product(u, R)
        if self.relaxation is not None:
            self.errors(product)[:] = 0.5 * self.relaxation.size * u[: self.rows.size]
        return product

    def gram(self, R: Array, tol: float = TIGHT) -> Gram:
        """J J' at R, whose border has a residual of tol."""
        shift = 0.0 if self.relaxation is None else self.relaxation.size**2
        return Gram(self.rows, R, shift, tol)

    def cost(self, D: Array) -> Array:
        """Half of the Hessian of the objective times D: C D, 0 for slacks, e / 2 for errors."""
        product = self.rows.padded(self.C @ D[: self.rows.n], D)
        self.rows.restrict(product)
        if self.relaxation is not None:
            self.errors(product)[:] = 0.5 * self.errors(D)
        return product

    def half_gradient(self, R: Array) -> Array:
        """Half of the gradient of the objective."""
        half = self.cost(R)
        if self.relaxation is not None:
            self.errors(half)[:] += 0.5 * self.relaxation.price[: self.rows.size]
        return half

    def value(self, R: Array) -> float:
        """The objective: <C, R R'>, and the cost of the errors."""
        value = dot(self.cost(R), R)
        if self.relaxation is not None:
            value += float(self.relaxation.price[: self.rows.size] @ self.errors(R))
        return value

    def residual(self, R: Array) -> Array:
        """A(R R') - b, with slacks and errors."""
        return self._with_errors(self.rows.values(R), R) - self.rows.b

    def infeasibility(self, R: Array) -> Array:
        """A(R R') - b, with slacks."""
        return self.rows.values(R) - self.rows.b

    def _with_errors(self, image: Array, D: Array) -> Array:
        if self.relaxation is not None:
            image[: self.rows.size] += self.relaxation.size * self.errors(D)
        return image

    def retracted(
        self,
        R: Array,
        gram: Gram | None = None,
        tol: float = FEASIBLE,
        most: int = MAX_RETRACTIONS,
    ) -> Array | None:
        """R moved to the surface; None if at most `most` Gauss-Newton steps do not lead there.

        The first steps use `gram`, the J J' of a point of the surface nearby, for as long as they
        converge fast. None as well if the first of them is longer than the way from that point: the
        surface bends too much on the way for a tangent to tell anything.
        """
        R, size = self.approached(R, gram, tol, most)
        return R if size <= max(tol, CLEARLY_FEASIBLE) else None

    def approached(
        self,
        R: Array,
        gram: Gram | None = None,
        tol: float = FEASIBLE,
        most: int = MAX_RETRACTIONS,
    ) -> tuple[Array, float]:
        """R moved towards the surface by at most `most` Gauss-Newton steps, and |A(R R') - b|."""
        residual = self.residual(R)
        size = mark = float(np.linalg.norm(residual))
        reach = inf if gram is None else norm(R - gram.R)
        for k in range(most):
            if size <= tol:
                break
            if k and k % CHECK_EVERY == 0:  # far away the residual falls by about as much each time
                if (most - k) * (mark - size) < CHECK_EVERY * size:
                    break
                mark = size
            fresh = gram is None
            gram = self.gram(R, BORDER_TOL) if gram is None else gram
            D = -2 * self.adjoint_product(gram.solve(residual, RETRACTION_TOL), gram.R)
            if norm(D) > reach:
                break
            reach = inf
            moved = R + (self._best_length(residual, R, D) if fresh else 1.0) * D
            change = self.residual(moved)
            new = float(np.linalg.norm(change))
            if new < size:
                R, residual = moved, change
            elif fresh:
                break
            gram = None if new > SLOW_CHORD * size else gram
            size = min(new, size)
        return R, size

    def _best_length(self, residual: Array, R: Array, D: Array) -> float:
        """The t in (0, 1] of the smallest |A((R + tD)(R + tD)') - b|, which is quadratic in t."""
        slope, bend = self.along(R, D), self.rows.values(D)
        powers = np.array([bend, slope, residual])
        products = powers @ powers.T
        quartic = np.array([np.trace(products[::-1], k) for k in (-2, -1, 0, 1, 2)])
        roots = np.roots(np.polyder(quartic))
        lengths = np.append(roots.real[(roots.real > 0) & (roots.real < 1)], 1.0)
        return float(lengths[np.argmin(np.polyval(quartic, lengths))])
