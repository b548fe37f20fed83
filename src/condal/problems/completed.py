"""A completed matrix, the answer of matrix completion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.linalg.points import Array, Outer
from condal.problems.answers import Drawn
from condal.problems.row_column_effects import Effects

if TYPE_CHECKING:
    from condal.report.pictures import Picture


@dataclass(frozen=True, eq=False)
class Completed(Drawn):
    """A completed matrix: a low-rank part plus row and column effects.

    Attributes
    ----------
    x : Outer
        The low-rank part.
    effects : Effects
        The mean and the row and column effects that were removed before the fit.
    model : MatrixCompletion, optional
        The model of the known entries.
    """

    x: Outer
    effects: Effects
    model: Any = None

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

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n)."""
        return self.x.shape

    def entries(self, rows: Any, cols: Any) -> Array:
        """Return the entries at (rows_k, cols_k): predictions for unknown entries."""
        return self.effects.entries(rows, cols) + self.x.entries(rows, cols)

    def rmse(self, rows: Any, cols: Any, values: Any) -> float:
        """Return the root-mean-square difference from values at (rows_k, cols_k).

        Parameters
        ----------
        rows, cols : array_like of int
            The positions.
        values : array_like
            The values to compare with.

        Returns
        -------
        float
            The root-mean-square error.
        """
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
