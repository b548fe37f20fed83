"""Violations of the constraints of a CVXPY problem: their sizes, and what they are worth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from condal.cvxpy.forms import CvxpyProblem
from condal.cvxpy.svec import Layout, smat, triangle
from condal.linalg.norms import row_norms, stable_norm
from condal.linalg.points import Array


@dataclass(frozen=True, eq=False)
class Violations:
    """The distances of b - Ax from each equation, inequality and block of K."""

    problem: CvxpyProblem

    def of(self, x: Array) -> Array:
        """Return the violation of each equation, inequality and block at x."""
        return _distances(self.problem.layout, self.problem.b - self.problem.A @ x)

    def infeasibility(self, x: Array) -> float:
        """Return the distance of b - Ax from K, relative to the data."""
        return self.relative(self.of(x))

    def relative(self, violations: Array) -> float:
        """Return the size of violations, relative to the data.

        It is the larger of two numbers: their norm over max(1, the distance of b from K), and the
        largest violation of a row or block over the norm of its coefficients and its b.
        """
        worst = float((violations / self._units).max(initial=0.0))
        whole = stable_norm(violations)
        if whole > worst:  # a large b may forgive it
            whole /= max(1.0, stable_norm(_distances(self.problem.layout, self.problem.b)))
        return max(whole, worst)

    def price(self, violations: Array, z: Array) -> float:
        """Return the sum of the violations of rows and blocks, each times the norm of its z."""
        layout = self.problem.layout
        weighted = np.abs(z) / np.sqrt(layout.multiplicity)
        return float(violations @ _by_block(layout, weighted, np.hypot))

    @cached_property
    def _units(self) -> Array:
        """The size of each row or block; 1 for an empty one."""
        problem = self.problem
        sizes = np.maximum(problem.structure.row_norms, np.abs(problem.b))
        units = _by_block(problem.layout, sizes, np.maximum)
        return np.where(units > 0, units, 1.0)


def _distances(layout: Layout, v: Array) -> Array:
    """Return the distance of v from each equation, inequality and block."""
    begin = layout.zero + layout.nonneg
    plain = [np.abs(v[: layout.zero]), np.maximum(-v[layout.zero : begin], 0.0)]
    blocks = []
    for n, group in groupby(layout.soc):
        end = begin + n * len(list(group))
        cones = v[begin:end].reshape(-1, n)
        head, width = cones[:, 0], row_norms(cones[:, 1:])
        outside = np.maximum(width - head, 0.0) / np.sqrt(2.0) if n > 1 else np.maximum(-head, 0.0)
        blocks.append(np.where(width < -head, np.hypot(head, width), outside))
        begin = end
    for n, group in groupby(layout.psd):
        end = begin + triangle(n) * len(list(group))
        values = np.linalg.eigvalsh(smat(v[begin:end].reshape(-1, triangle(n)), n))
        blocks.append(row_norms(np.minimum(values, 0.0)))
        begin = end
    return np.concatenate([*plain, *blocks])


def _by_block(layout: Layout, sizes: Array, operation: np.ufunc) -> Array:
    """Return the sizes of equations and inequalities, and those of blocks by an operation."""
    begin = layout.zero + layout.nonneg
    lengths = [*layout.soc, *map(triangle, layout.psd)]
    if not lengths:
        return sizes[:begin]
    starts = begin + np.concatenate([[0], np.cumsum(lengths[:-1])]).astype(np.int64)
    return np.concatenate([sizes[:begin], operation.reduceat(sizes, starts)])
