"""What is known of a matrix without its rank: a mean, and what rows and columns are above it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from condal.linalg.points import Array, Indices

Fit: TypeAlias = Literal["none", "means", "robust"]
SHRINK = 5.0  # entries of which a row's or a column's effect must come before half of it counts
ROUNDS = 10


@dataclass(frozen=True, eq=False)
class Effects:
    """x_ij ~ mean + rows_i + cols_j."""

    mean: float
    rows: Array
    cols: Array
    fit: Fit = "means"

    @classmethod
    def of(cls, shape: tuple[int, int], i: Indices, j: Indices, values: Array, fit: Fit) -> Effects:
        """Fitted to values at (i, j) in turn, each effect shrunk as if SHRINK entries of 0 were
        added; 0 if there are to be none.

        If the fit is to be robust, the mean is the median, and values far from it are brought near:
        to 3 times the median distance, or the mean distance where most are equal.
        """
        if fit == "none":
            return cls(0.0, np.zeros(shape[0]), np.zeros(shape[1]), fit)
        mean = float(values.mean())
        if fit == "robust":
            mean = float(np.median(values))
            far = np.abs(values - mean)
            reach = 3 * (float(np.median(far)) or float(far.mean()))
            values = np.clip(values, mean - reach, mean + reach)
        rows, cols = np.zeros(shape[0]), np.zeros(shape[1])
        in_row, in_col = np.bincount(i, minlength=shape[0]), np.bincount(j, minlength=shape[1])
        for _ in range(ROUNDS):
            left = values - mean - cols[j]
            rows = np.bincount(i, weights=left, minlength=shape[0]) / (in_row + SHRINK)
            left = values - mean - rows[i]
            cols = np.bincount(j, weights=left, minlength=shape[1]) / (in_col + SHRINK)
        return cls(mean, rows, cols, fit)

    def entries(self, i: Any, j: Any) -> Array:
        """mean + rows_i + cols_j at (i_k, j_k)."""
        return np.asarray(self.mean + self.rows[i] + self.cols[j])

    def whole(self) -> Array:
        """All of them."""
        return self.mean + self.rows[:, None] + self.cols
