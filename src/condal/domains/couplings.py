"""Couplings: distributions over pairs with given margins."""

from __future__ import annotations

import numpy as np

from condal.linalg.points import Array


def coupled(tables: Array, rows: Array, columns: Array) -> Array:
    """Return nonnegative tables near the given ones that have these row and column sums.

    `tables` is m x p x q, `rows` m x p and `columns` m x q, the last two nonnegative and of equal
    sums. Rows and then columns with too large a sum are scaled down, and the deficit is spread
    (Altschuler, Weed and Rigollet 2017). A table with the right sums is unchanged.
    """
    tables = np.maximum(tables, 0.0)
    tables = tables * _less(rows, tables.sum(axis=2))[:, :, None]
    tables = tables * _less(columns, tables.sum(axis=1))[:, None, :]
    short = np.maximum(rows - tables.sum(axis=2), 0.0)
    lacks = np.maximum(columns - tables.sum(axis=1), 0.0)
    total = short.sum(axis=1)
    shares = np.divide(lacks, total[:, None], out=np.zeros_like(lacks), where=total[:, None] > 0)
    return np.asarray(tables + short[:, :, None] * shares[:, None, :])


def _less(wanted: Array, got: Array) -> Array:
    """Return wanted / got, at most 1."""
    return np.divide(wanted, got, out=np.ones_like(got), where=got > wanted)
