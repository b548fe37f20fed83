"""Programs over vectors on spheres whose rows are inner products of pairs.

    minimise    sum_i linear_i <e, r_i> + 2 sum_k cost_k <r_a, r_b>
    subject to  |r_i - centre e| = radius_i,   lower_k <= <r_a, r_b> <= upper_k,   (a, b) = pair k

over vectors r_1, ..., r_n, with a fixed unit vector e, the first axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log

import numpy as np

from condal.linalg.points import Array, normals_like
from condal.methods.spheres.pairs import Pairs

RANK, LOOSE_RANK = 3.2, 1.5  # times n^(1/3): the first number of columns, for an aim below
LOOSE_AIM = 5e-3  # and from here on
FIRST_LEAN = 0.5  # along e, of the first vectors, before they are scaled to length 1


@dataclass(frozen=True, eq=False)
class VectorProgram:
    """The data of such a program. A pair without bounds only has a cost."""

    n: int
    pairs: Pairs
    cost: Array
    lower: Array
    upper: Array
    linear: Array
    radius: Array
    centre: float

    @property
    def equality(self) -> bool:
        """Whether every pair has the inner product 0."""
        return not (self.lower.any() or self.upper.any())

    def random(self, rank: int, seed: int) -> Array:
        """Return random vectors on the spheres, which lean towards e."""
        R = normals_like(self.radius, seed, rank)
        R /= np.sqrt(rank)
        R[:, 0] += FIRST_LEAN
        return self.on_spheres(R)

    def on_spheres(self, U: Array) -> Array:
        """Return the points of the spheres in the directions of the rows of U from the centre."""
        sizes = np.sqrt(np.einsum("ij,ij->i", U, U))
        R = U * (self.radius / np.where(sizes > 0, sizes, 1.0))[:, None]
        R[sizes == 0, 0] = self.radius[sizes == 0]
        R[:, 0] += self.centre
        return R

    def with_columns(self, R: Array, more: int, share: float, seed: int) -> Array:
        """Return R with more columns, random and of this share of the length of each row."""
        new = normals_like(self.radius, [seed, R.shape[1]], more)
        new *= (share / np.sqrt(more)) * self.radius[:, None]
        U = np.hstack([R, new])
        U[:, 0] -= self.centre
        return self.on_spheres(U)

    def priced(self, p: Array, z: Array, rho: float) -> Array:
        """Return the multipliers z + rho (p - r) at the inner products p, r the nearest bounds.

        r is the point within the bounds nearest to p + z / rho.
        """
        if self.equality:
            return z + rho * p
        return z + rho * (p - np.clip(p + z / rho, self.lower, self.upper))

    def multipliers(self, R: Array, p: Array, w: Array) -> Array:
        """Return mu with sum_j (cost + w)_ij r_j + linear_i e / 2 = -mu_i (r_i - centre e).

        At a stationary R this is exact; otherwise it is the best multiple of r_i - centre e. p has
        the inner products of the pairs.
        """
        total, first = self.cost + w, R[:, 0].astype(np.float64)
        at_a, at_b = self.pairs.ends(first)
        along = 0.5 * self.linear * (first - self.centre)
        along += self.pairs.sums(total * (p - self.centre * at_b), total * (p - self.centre * at_a))
        mu: Array = -along / self.radius**2
        return mu


def first_rank(n: int, given: int | None, aim: float | None) -> int:
    """Return the number of columns to begin with, enough for a gap of `aim` on random graphs.

    With fewer, the objective is right to more digits than the bound.
    """
    usual = 4 * log(n + 1) + (n + 1) ** 0.25
    loose = aim is not None and aim >= LOOSE_AIM
    needed = (LOOSE_RANK if loose else RANK) * n ** (1 / 3)
    return min(n + 1, given or ceil(max(usual, needed)))
