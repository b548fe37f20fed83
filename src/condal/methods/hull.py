"""The fully corrective step: L_lam(., y) minimised over the hull of the atoms of x."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices, Point
from condal.methods.lagrangian import multiplier, slope_along, zero_of
from condal.types import AtomStorage, Storage

if TYPE_CHECKING:
    from condal.methods.lagrangian import Segment
    from condal.problem import Problem

RIDGE = 1e-14  # of the largest entry of H and c: makes the minimiser unique
NEWTON_STEPS = 50
NEGLIGIBLE_WEIGHT = 1e-12
GAP_ROUNDING = 1e-14  # of the terms of the gradient: a gap below it is rounding
PROBE = 1e-7  # relative step of the differences that estimate the curvature


def minimised(H: Array, c: Array, blocks: Indices, t: Array) -> Array:
    """Minimise (1/2) t'Ht + c't over t >= 0 with a sum of 1 over each block, by active sets.

    It starts from the feasible point t; `blocks` is the block of each entry.

    Each step solves the equations of the free entries. If the solution is positive, it is accepted
    and the entry of the most negative multiplier becomes free. Otherwise t moves towards it until
    an entry vanishes, which then stays at 0. The value falls, so no active set repeats.
    """
    m = c.size
    size = max(float(np.abs(np.diagonal(H)).max(initial=0.0)), float(np.abs(c).max(initial=0.0)))
    H = H + RIDGE * (size or 1.0) * np.eye(m)
    sums = (blocks[None, :] == np.unique(blocks)[:, None]).astype(np.float64)
    noise = 1e-12 * (float(np.abs(c).max(initial=0.0)) + float(np.abs(H @ t).max(initial=0.0)))
    t = t.copy()
    free = t > 0
    for _ in range(20 * m + 20):
        solution, prices = _equality(H, c, sums, free)
        falling = free & (solution < 0)
        if falling.any():
            ratio = t[falling] / (t[falling] - solution[falling])
            first = int(np.argmin(ratio))
            t = t + float(ratio[first]) * (solution - t)
            vanished = np.flatnonzero(falling)[first]
            t[vanished] = 0.0
            free[vanished] = False
            t = np.maximum(t, 0.0)
            continue
        t = solution
        reduced = np.where(free, 0.0, H @ t + c + sums.T @ prices)
        entering = int(np.argmin(reduced))
        if reduced[entering] >= -noise:
            break
        free[entering] = True
    return np.asarray(t / (sums.T @ (sums @ t)))


def _equality(H: Array, c: Array, sums: Array, free: Any) -> tuple[Array, Array]:
    """The minimiser over the free entries with fixed sums, and the multipliers of the sums."""
    index = np.flatnonzero(free)
    f, b = index.size, sums.shape[0]
    system = np.zeros((f + b, f + b))
    system[:f, :f] = H[np.ix_(index, index)]
    system[:f, f:] = sums[:, index].T
    system[f:, :f] = sums[:, index]
    # Weights and prices differ in scale: the scale of H is divided out of both halves.
    scale = max(float(np.abs(np.diagonal(system)[:f]).max(initial=0.0)), 1e-300)
    system[:f, :f] /= scale
    right = np.concatenate([-c[index] / scale, np.ones(b)])
    try:
        solved = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        solved = np.linalg.lstsq(system, right, rcond=None)[0]
    t = np.zeros(c.size)
    t[index] = solved[:f]
    return t, solved[f:] * scale


@dataclass(frozen=True, eq=False)
class Hull:
    """The images of the atoms, one column per atom: MS and AS, in the order of the storage."""

    MS: Array
    AS: Array

    @classmethod
    def of(cls, problem: Problem, x: Storage) -> Hull:
        """Return the hull of the atoms in x: none, or those of a warm start."""
        if not isinstance(x, AtomStorage):
            raise ProblemError(
                "a fully corrective step sets new weights for the atoms, and needs a storage that "
                "keeps them: leave storage out, or pass condal.storage.Atoms(); got "
                f"{type(x).__name__}"
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
        if gap <= GAP_ROUNDING * lam * float(np.abs(hull.AS).max(initial=1.0)) and old:
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
        """The weights, with those of repeated atoms added to the first appearance."""
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

        Newton's method: the local curvature gives a quadratic program over the simplex, and a line
        search goes towards its solution. One step is enough where L is quadratic over the hull, as
        for a linear objective and Ax = b.
        """
        Mx, Ax = self.MS @ theta, self.AS @ theta
        least = inf
        for _ in range(NEWTON_STEPS):
            w = multiplier(problem.h, Ax, y, lam)
            gradient = self.MS.T @ problem.f.gradient(Mx) + self.AS.T @ w
            hull_gap = _gap(gradient, blocks, theta)
            # More steps do not help once rounding keeps the gap from falling.
            stalled = hull_gap <= 1e-3 * abs(gap) and hull_gap >= 0.5 * least
            if hull_gap <= 1e-6 * abs(gap) or stalled:
                break
            least = min(least, hull_gap)
            H = self._curvature(problem, Mx, Ax, y, lam)
            target = minimised(H, gradient - H @ theta, blocks, theta)
            target[target < NEGLIGIBLE_WEIGHT] = 0.0
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
            t = PROBE * _largest(self.MS)
            g = f.gradient(Mx)
            H += self.MS.T @ _columns(lambda u: (f.gradient(Mx + t * u) - g) / t, self.MS)
        if h.size:
            t = PROBE * max(_largest(self.AS), _largest(Ax))
            w = multiplier(h, Ax, y, lam)
            if h.separable:  # the derivative of w is diagonal: one difference gives all of it
                slopes = (multiplier(h, Ax + t, y, lam) - w) / t
                H += self.AS.T @ (slopes[:, None] * self.AS)
            else:
                H += self.AS.T @ _columns(
                    lambda u: (multiplier(h, Ax + t * u, y, lam) - w) / t, self.AS
                )
        return 0.5 * (H + H.T)


def _gap(gradient: Array, blocks: Indices, theta: Array) -> float:
    """The Frank-Wolfe gap over the hull."""
    least = sum(float(gradient[blocks == b].min()) for b in np.unique(blocks))
    return float(gradient @ theta) - least


def _largest(a: Array) -> float:
    return float(np.abs(a).max(initial=0.0)) or 1.0


def _columns(derivative: Callable[[Array], Array], S: Array) -> Array:
    """The derivative along each column of S, taken along the column scaled to largest entry 1."""
    scales = [_largest(column) for column in S.T]
    return np.column_stack(
        [scale * derivative(column / scale) for column, scale in zip(S.T, scales, strict=True)]
    )
