"""When columns of R are cut and grown: a policy that cannot cycle.

At a solution S X = 0: each direction u of the space has a zero of X or of u'Su. A direction whose
eigenvalue in X is small while u'Su is not is on its way out, and may be cut. A direction in the
null space of S is kept, however small its eigenvalue.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from condal.linalg.points import Array

CUT = 1e-2  # of the relative curvature: directions with smaller relative eigenvalues are cut
CLEARLY_POSITIVE = 3.0  # times the smallest eigenvalue of S: the curvature of a cut direction
MAX_CUT_MASS = 0.3  # of the gap: the share of the trace that a cut may remove
GROWN_SHARE = 0.1  # of the smallest eigenvalue of S: eigenvectors below it become columns
MAX_GROWN = 12  # columns at once
NEW_COLUMN = 0.1  # times the root of the gap: the norm of a new column
CLOSED = 1e-2  # of the square of a new slack: a smaller one is near 0
SIGNIFICANT = 1.0  # ratio of the gap to the residual from which R grows


@dataclass(frozen=True)
class RankPolicy:
    """The decisions on the rank, and what they remember.

    A cut needs half the gap of the last cut. So there are at most log2(first gap / last gap) cuts,
    and between two cuts the rank only grows, up to `most`: no sequence of ranks repeats.
    """

    most: int
    gap_of_last_cut: float = inf

    def kept(
        self, squares: Array, curvatures: Array, lowest: float, gap: float
    ) -> NDArray[np.bool_]:
        """The directions to keep, given the eigenvalues of X and u'Su for each eigenvector u.

        The smallest eigenvalue of S says how far from 0 the curvature of a null direction may be.
        """
        scale = float(np.abs(curvatures).max(initial=0.0))
        if not gap <= 0.5 * self.gap_of_last_cut or scale == 0.0:
            return np.ones(squares.size, dtype=bool)
        relative = squares / max(float(squares.max(initial=0.0)), 1e-300)
        leaving = relative < CUT * np.maximum(curvatures, 0.0) / scale
        leaving &= curvatures > CLEARLY_POSITIVE * abs(lowest)
        order = np.argsort(squares)
        mass = np.empty(squares.size)
        mass[order] = np.cumsum(np.where(leaving, squares, 0.0)[order])
        return np.asarray(~(leaving & (mass <= MAX_CUT_MASS * gap * squares.sum())))

    def grown(self, values: Array, rank: int, gap: float, residual: float) -> int:
        """The number of eigenvectors to append, given the smallest eigenvalues of S."""
        if values.size == 0 or not values[0] < 0 or gap <= SIGNIFICANT * residual:
            return 0
        low = int(np.count_nonzero(values < GROWN_SHARE * values[0]))
        return max(0, min(low, MAX_GROWN, self.most - rank))

    def column_norm(self, gap: float) -> float:
        """The norm of a new column, for an R of norm 1."""
        return NEW_COLUMN * sqrt(max(min(gap, 1.0), 1e-12))

    def opened(self, slacks: Array, values: Array, gap: float) -> Array:
        """The slacks, in which those near 0 are larger where S is negative: bounds to leave.

        Their squares share the square of the norm of a new column. `slacks` itself is returned if
        there are none.
        """
        wrong = np.maximum(-values, 0.0)
        total = float(wrong.sum())
        if total == 0.0:
            return slacks
        least = self.column_norm(gap) * np.sqrt(wrong / total)
        if not np.any(slacks**2 < CLOSED * least**2):
            return slacks
        return np.where(slacks**2 < CLOSED * least**2, least, slacks)

    def after_cut(self, gap: float) -> RankPolicy:
        """The policy after a cut."""
        return replace(self, gap_of_last_cut=gap)
