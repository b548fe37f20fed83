"""Euclidean norms of vectors, rows and groups that neither overflow nor underflow."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.runtime.arguments import plain_array

MIN_SAFE_SQUARE = 1e-280  # a sum of squares above this has lost nothing to underflow


def stable_norm(v: Array) -> float:
    """Return |v|, with at most n + 4 roundings."""
    with np.errstate(over="ignore", under="ignore"):
        square = float(v @ v)
    if MIN_SAFE_SQUARE < square < inf:
        return sqrt(square)
    largest = float(np.abs(v).max(initial=0.0))
    if not 0.0 < largest < inf:
        return largest
    scaled = v / largest
    return largest * sqrt(float(scaled @ scaled))


def sum_roundings(v: Any) -> int:
    """Return the most roundings of a sum over v."""
    return int(getattr(v, "summands", v.size))


def row_norms(a: Any) -> Array:
    """Return |a_i| for each row of a dense or CSR matrix."""
    if sp.issparse(a):
        owner = np.repeat(np.arange(a.shape[0]), np.diff(a.indptr))
        return group_norms(a.data, owner, a.shape[0])
    with np.errstate(over="ignore", under="ignore"):
        squares = np.einsum("ij,ij->i", a, a)
    norms = np.sqrt(squares)
    for i in np.flatnonzero((squares <= MIN_SAFE_SQUARE) | (squares == inf)):
        norms[i] = stable_norm(a[i])
    return norms


def row_squares(a: Any) -> Array:
    """Return |a_i|^2 for each row of a sparse matrix, which must not overflow."""
    return np.asarray(a.multiply(a).sum(axis=1)).ravel()


def group_norms(v: Array, groups: Indices, count: int) -> Array:
    """Return |v_G| for each group G = 0 ... count - 1, with the roundings of `stable_norm`."""
    with np.errstate(over="ignore", under="ignore"):
        squares = np.bincount(groups, weights=v * v, minlength=count)
    norms = np.sqrt(squares)
    unsafe = (squares <= MIN_SAFE_SQUARE) | (squares == inf)
    again = np.flatnonzero(unsafe[groups] & (v != 0.0)) if unsafe.any() else ()
    if len(again):
        _write_scaled_norms(norms, v[again], groups[again])
    return norms


def _write_scaled_norms(norms: Array, v: Array, groups: Indices) -> None:
    """Compute the norms of these groups relative to their largest entries."""
    largest = np.zeros(norms.size)
    np.maximum.at(largest, groups, np.abs(v))
    finite = largest[groups] < inf
    v, groups = v[finite], groups[finite]
    shares = v / largest[groups]
    squares = np.bincount(groups, weights=shares * shares, minlength=norms.size)
    nonzero = squares > 0
    norms[nonzero] = largest[nonzero] * np.sqrt(squares[nonzero])


def group_indices(labels: Any) -> tuple[Indices, int]:
    """Return the group of each entry, numbered in the order of the labels, and their count."""
    given = plain_array(labels, "groups", "a whole number for each entry, such as [0, 0, 1]")
    if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iu":
        raise ProblemError(
            "groups must be a whole number for each entry, such as [0, 0, 1]; got "
            f"{given.dtype} of shape {given.shape}"
        )
    distinct, places = np.unique(given, return_inverse=True)
    return places.reshape(-1).astype(np.intp), int(distinct.size)
