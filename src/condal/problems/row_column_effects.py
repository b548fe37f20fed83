"""A mean plus row and column effects: the part of a matrix that needs no low rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from condal.linalg.points import Array, Indices

Fit: TypeAlias = Literal["none", "means", "robust"]
SHRINKAGE = 5.0  # entries of a row or column at which half of its mean residual counts
FITTING_ROUNDS = 10


@dataclass(frozen=True, eq=False)
class Effects:
    """x_ij ~ mean + rows_i + cols_j."""

    mean: float
    rows: Array
    cols: Array
    fit: Fit = "means"

    @classmethod
    def of(cls, shape: tuple[int, int], i: Indices, j: Indices, values: Array, fit: Fit) -> Effects:
        """Fit the effects to values at (i, j) in turn; they are 0 for the fit "none".

        Each effect is shrunk as if SHRINKAGE further entries were 0. A robust fit uses the median
        as the mean and clips values far from it, at 3 times the median distance (the mean distance
        if most values are equal).
        """
        if fit == "none":
            return cls(0.0, np.zeros(shape[0]), np.zeros(shape[1]), fit)
        mean = float(values.mean())
        if fit == "robust":
            mean = float(np.median(values))
            distances = np.abs(values - mean)
            cutoff = 3 * (float(np.median(distances)) or float(distances.mean()))
            values = np.clip(values, mean - cutoff, mean + cutoff)
        rows, cols = np.zeros(shape[0]), np.zeros(shape[1])
        in_row, in_col = np.bincount(i, minlength=shape[0]), np.bincount(j, minlength=shape[1])
        for _ in range(FITTING_ROUNDS):
            residual = values - mean - cols[j]
            rows = np.bincount(i, weights=residual, minlength=shape[0]) / (in_row + SHRINKAGE)
            residual = values - mean - rows[i]
            cols = np.bincount(j, weights=residual, minlength=shape[1]) / (in_col + SHRINKAGE)
        return cls(mean, rows, cols, fit)

    def entries(self, i: Any, j: Any) -> Array:
        """mean + rows_i + cols_j at (i_k, j_k)."""
        return np.asarray(self.mean + self.rows[i] + self.cols[j])

    def whole(self) -> Array:
        """Return the full matrix of effects."""
        return self.mean + self.rows[:, None] + self.cols
