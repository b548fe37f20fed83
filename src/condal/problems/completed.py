"""A completed matrix: a low-rank part, and row and column effects, which need no low rank."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from condal.linalg.points import Array, Indices, Outer
from condal.problems.answers import Answer, Figures, Picture, Rows
from condal.runtime.text import number

RANK_TOL = 1e-6  # relative to the largest singular value: smaller ones do not count

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


@dataclass(frozen=True, eq=False)
class Completed(Answer):
    """A completed matrix: a low-rank part plus row and column effects.

    Attributes
    ----------
    x : Outer
        The low-rank part.
    effects : Effects
        The mean and the row and column effects that were removed before the fit.
    bound : float, optional
        A proved lower bound on the objective.
    """

    x: Outer
    effects: Effects
    model: Any = None
    bound: float = -np.inf

    def picture(self) -> Picture:
        """Return the known and the completed entries of some rows and columns."""
        from condal.report import pictures

        model, (m, n) = self.model, self.shape
        i, j = pictures.sample(m), pictures.sample(n)
        places = [np.full(size, -1) for size in (m, n)]
        places[0][i], places[1][j] = np.arange(i.size), np.arange(j.size)
        rows, cols = places[0][model.rows], places[1][model.cols]
        sampled = (rows >= 0) & (cols >= 0)
        known = np.full((i.size, j.size), np.nan)
        values = model.values + self.effects.entries(model.rows, model.cols)
        known[rows[sampled], cols[sampled]] = values[sampled]
        return pictures.images(
            [("known", known), ("completed", self.entries(*np.meshgrid(i, j, indexing="ij")))],
            f"{i.size:,} of {m:,} rows and {j.size:,} of {n:,} columns.",
        )

    def rows(self) -> Rows:
        (m, n), known, rank = self.shape, self.model.values.size, self.rank
        return [
            ("matrix", f"{m:,} x {n:,}, rank {rank} plus means of rows and columns"),
            ("known", f"{known:,} entries, fitted to {self.misfit:.4g} (rmse)"),
            ("radius", f"{number(self.model.radius)}, the largest sum of singular values"),
        ]

    def figures(self) -> Figures:
        radius = float(self.model.radius)
        return {"rmse": self.misfit, "rank": float(self.rank), "radius": radius}

    @cached_property
    def rank(self) -> int:
        """The number of singular values of the low-rank part, without those up to rounding."""
        values = self.x.singular_values()
        return int(np.count_nonzero(values > RANK_TOL * values.max(initial=0.0)))

    @cached_property
    def misfit(self) -> float:
        """The root-mean-square error at the known entries."""
        model = self.model
        return float(np.sqrt(np.mean((self.x.entries(model.rows, model.cols) - model.values) ** 2)))

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n)."""
        return self.x.shape

    def entries(self, rows: Any, cols: Any) -> Array:
        """Return the entries at (rows_k, cols_k): predictions for unknown entries."""
        return self.effects.entries(rows, cols) + self.x.entries(rows, cols)

    def rmse(self, rows: Any, cols: Any, values: Any) -> float:
        """Return the root-mean-square difference from values at (rows_k, cols_k)."""
        return float(np.sqrt(np.mean((self.entries(rows, cols) - np.asarray(values)) ** 2)))

    def to_pandas(self) -> Any:
        """Return the whole matrix as a DataFrame, with the index and columns of the given one."""
        import pandas as pd

        names = None if self.model is None else self.model.names
        index, columns = (None, None) if names is None else names
        return pd.DataFrame(np.asarray(self), index=index, columns=columns)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.effects.whole() + np.asarray(self.x), dtype=dtype)

    def __repr__(self) -> str:
        return f"Completed(shape={self.shape}, rank<={self.x.rank})"
