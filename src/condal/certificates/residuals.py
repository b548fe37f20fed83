"""Residuals, inner products and norms with bounds on their rounding errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.certificates.exact import rounded_residual
from condal.certificates.row_space import TINY, WIDE, WIDE_UNIT
from condal.linalg.points import Array

MAX_SMALL_TERMS = 20_000  # of a system whose residual is rounded only once throughout
MAX_EXACT_TERMS = 200_000  # products that are added up without rounding


def residual(t: Array, M: Any, v: Array) -> tuple[Array, Array]:
    """Return t - M v rounded to doubles, and a bound on its error, entry by entry.

    The entries of a small system, and the entries of a larger one that may be 0, are rounded once:
    their signs are exact, and an entry that is a double has no error.
    """
    M = sp.csr_array(M)
    wide = sp.csr_array((M.data.astype(WIDE), M.indices, M.indptr), M.shape)
    residual = t.astype(WIDE) - wide @ v.astype(WIDE)
    lengths = np.diff(M.indptr) + 1
    with np.errstate(over="ignore"):  # an infinite error proves nothing
        r = residual.astype(np.float64)
        terms = np.abs(t) + abs(M) @ np.abs(v)
    error = 1.01 * (lengths + 1) * WIDE_UNIT * terms + TINY
    unclear = np.abs(residual) <= 4 * error
    error += np.spacing(np.abs(r))
    if lengths.sum() <= MAX_SMALL_TERMS:
        unclear[:] = True
    products = np.bincount(
        np.repeat(np.arange(r.size), lengths - 1), (M.data != 0) & (v[M.indices] != 0), r.size
    )
    r, error = np.where(products == 0, t, r), np.where(products == 0, 0.0, error)
    unclear = np.flatnonzero(unclear & (products > 0))
    if lengths[unclear].sum() <= MAX_EXACT_TERMS:
        r[unclear], error[unclear] = rounded_residual((M, v), t, unclear)
    return r, error


def dot(a: Array, v: Array) -> tuple[float, float]:
    """Return <a, v> and a bound on its error."""
    value = float(a.astype(WIDE) @ v.astype(WIDE))
    terms = float(np.abs(a) @ np.abs(v))
    return value, 1.01 * (a.size + 2) * WIDE_UNIT * terms + float(np.spacing(abs(value))) + TINY


def column_norms(A: Any) -> Array:
    """Return the norm of each column, rounded up; no square under- or overflows."""
    if not A.shape[0]:
        return np.zeros(A.shape[1])
    # The inverse of a normal number is finite.
    largest = np.maximum(powers_of_two(abs(A).max(axis=0).toarray().ravel()), TINY)
    scaled = sp.csr_array(A * (1.0 / largest)[None, :])
    squares = np.asarray(scaled.multiply(scaled).sum(axis=0)).ravel()
    return np.asarray(np.sqrt(squares) * largest * (1 + 1e-12))


def powers_of_two(v: Array) -> Array:
    """Return the largest power of 2 not above each number, 1 for 0."""
    return np.where(v > 0, 2.0 ** np.floor(np.log2(np.where(v > 0, v, 1.0))), 1.0)
