"""The fully corrective step: L_lam(., y) minimised over the hull of the atoms that x is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices, Point
from condal.methods import simplex_qp
from condal.methods.lagrangian import multiplier, slope_along, zero_of
from condal.types import AtomStorage, Storage

if TYPE_CHECKING:
    from condal.methods.primal_step import Segment
    from condal.problem import Problem

NEWTON_STEPS = 50
DROPPED = 1e-12  # a weight of no account
ROUNDING = 1e-14  # a gap of no account, of what the gradient adds up
PROBE = 1e-7  # how far to look for the curvature, of the size of what is looked at


@dataclass(frozen=True, eq=False)
class Hull:
    """The images of the atoms, a column an atom: MS and AS, in the order of the storage."""

    MS: Array
    AS: Array

    @classmethod
    def of(cls, problem: Problem, x: Storage) -> Hull:
        """The hull of the atoms that x holds, none or those of a warm start."""
        if not isinstance(x, AtomStorage):
            raise ProblemError(
                "a fully corrective step weighs the atoms anew, and needs a storage that keeps "
                f"them: leave storage out, or pass condal.storage.Atoms(); got {type(x).__name__}"
            )
        empty = cls(np.empty((problem.f.M.size, 0)), np.empty((problem.A.size, 0)))
        return empty._with(problem, x.whole())

    def corrected(
        self, x: AtomStorage, segment: Segment, eta: float
    ) -> tuple[Array, Hull, Array, Array]:
        """Minimise L_lam(., y) over the hull of the atoms of x and s, from x + eta (s - x).

        Return the weights of all atoms, the hull of those with positive weight, and the images of
        the minimiser. x itself does not move.
        """
        problem, y, lam, gap = segment.problem, segment.y, segment.lam, segment.atom.gap
        new_atoms = x.split(segment.atom.s)
        new, old = len(new_atoms), 0 if eta == 1.0 else x.weights.size  # as x.move(s, eta) does
        hull = Hull(self.MS[:, :old], self.AS[:, :old])._with(problem, new_atoms)
        blocks = np.append(x.blocks[:old], np.arange(new))
        theta = np.append(x.weights[:old] * (1 - eta), np.full(new, eta))
        theta = hull._merged(blocks, theta)
        if gap <= ROUNDING * lam * float(np.abs(hull.AS).max(initial=1.0)) and old:
            theta[old:] = 0.0  # rounding chose this atom: it would never leave
            theta /= np.bincount(blocks, weights=theta)[blocks]
        theta = hull._best(problem, blocks, theta, y, lam, gap)
        active = theta > 0
        images = hull.MS @ theta, hull.AS @ theta
        return theta, Hull(hull.MS[:, active], hull.AS[:, active]), *images

    def _with(self, problem: Problem, atoms: tuple[Point, ...]) -> Hull:
        MS = [self.MS, *(problem.f.M(s)[:, None] for s in atoms)]
        AS = [self.AS, *(problem.A(s)[:, None] for s in atoms)]
        return Hull(np.hstack(MS), np.hstack(AS))

    def _merged(self, blocks: Indices, theta: Array) -> Array:
        """The weights, those of an atom that was there already put on its first appearance."""
        both = np.vstack([self.MS, self.AS])
        squares = np.einsum("ij,ij->j", both, both)
        apart = squares[:, None] + squares[None, :] - 2 * both.T @ both
        same = (apart <= 1e-13 * squares.max(initial=0.0)) & (blocks[:, None] == blocks[None, :])
        first = np.argmax(same, axis=0)
        return np.asarray(np.bincount(first, weights=theta, minlength=theta.size), dtype=np.float64)

    def _best(
        self, problem: Problem, blocks: Indices, theta: Array, y: Array, lam: float, gap: float
    ) -> Array:
        """The weights that minimise L_lam(S theta, y), to a millionth of the gap that s showed.

        Newton's method: the curvature where it stands makes a quadratic program over the simplex,
        and a line search towards its solution does the rest. One step is enough where L is
        quadratic over the hull, as it is for a linear objective and Ax = b.
        """
        Mx, Ax = self.MS @ theta, self.AS @ theta
        least = inf
        for _ in range(NEWTON_STEPS):
            w = multiplier(problem.h, Ax, y, lam)
            gradient = self.MS.T @ problem.f.gradient(Mx) + self.AS.T @ w
            left = _gap(gradient, blocks, theta)
            # Where rounding keeps the gap from falling, more steps are of no use.
            if left <= 1e-6 * abs(gap) or (left <= 1e-3 * abs(gap) and left >= 0.5 * least):
                break
            least = min(least, left)
            H = self._curvature(problem, Mx, Ax, y, lam)
            target = simplex_qp.minimise(H, gradient - H @ theta, blocks, theta)
            target[target < DROPPED] = 0.0
            dM, dA = self.MS @ target - Mx, self.AS @ target - Ax
            step = zero_of(slope_along(problem, Mx, dM, Ax, dA, y, lam))
            if step == 0.0:
                break
            theta = target if step == 1.0 else theta + step * (target - theta)
            Mx, Ax = Mx + step * dM, Ax + step * dA
        return theta

    def _curvature(self, problem: Problem, Mx: Array, Ax: Array, y: Array, lam: float) -> Array:
        """S'(grad^2 L)S, from differences of the gradient of phi and of the multiplier."""
        f, h = problem.f, problem.h
        H = np.zeros((self.MS.shape[1], self.MS.shape[1]))
        if f.L > 0:
            far = PROBE * _largest(self.MS)
            g = f.gradient(Mx)
            H += self.MS.T @ _columns(lambda u: (f.gradient(Mx + far * u) - g) / far, self.MS)
        if h.size:
            far = PROBE * max(_largest(self.AS), _largest(Ax))
            w = multiplier(h, Ax, y, lam)
            if h.separable:  # then the derivative of w is diagonal, and one look shows all of it
                slopes = (multiplier(h, Ax + far, y, lam) - w) / far
                H += self.AS.T @ (slopes[:, None] * self.AS)
            else:
                H += self.AS.T @ _columns(
                    lambda u: (multiplier(h, Ax + far * u, y, lam) - w) / far, self.AS
                )
        return 0.5 * (H + H.T)


def _gap(gradient: Array, blocks: Indices, theta: Array) -> float:
    """The Frank-Wolfe gap over the hull."""
    least = sum(float(gradient[blocks == b].min()) for b in np.unique(blocks))
    return float(gradient @ theta) - least


def _largest(a: Array) -> float:
    return float(np.abs(a).max(initial=0.0)) or 1.0


def _columns(derivative: Callable[[Array], Array], S: Array) -> Array:
    """The derivative along each column of S, taken along a column of largest entry 1."""
    sizes = [_largest(column) for column in S.T]
    return np.column_stack(
        [size * derivative(column / size) for column, size in zip(S.T, sizes, strict=True)]
    )
