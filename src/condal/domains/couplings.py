"""Couplings: distributions over pairs with given margins."""

from __future__ import annotations

import numpy as np

from condal.linalg.points import Array


def coupled(tables: Array, rows: Array, columns: Array) -> Array:
    """Tables near the given ones, without negative entries, that have these row and column sums.

    `tables` is m x p x q, `rows` m x p and `columns` m x q, the last two not negative and of the
    same sums. Rows and then columns that have too much are scaled down, and what is missing then is
    spread (Altschuler, Weed and Rigollet 2017): a table with the right sums stays as it is.
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
    """wanted / got, where that is less than 1."""
    return np.divide(wanted, got, out=np.ones_like(got), where=got > wanted)
