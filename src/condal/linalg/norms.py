"""Euclidean norms, of all entries or of groups of them, whose squares may overflow or underflow."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.runtime.arguments import plain_array

LEAST = 1e-280  # a sum of squares above this has lost nothing that counts to underflow


def stable_norm(v: Array) -> float:
    """|v|; n + 4 roundings at most."""
    with np.errstate(over="ignore", under="ignore"):
        square = float(v @ v)
    if LEAST < square < inf:
        return sqrt(square)
    largest = float(np.abs(v).max(initial=0.0))
    if not 0.0 < largest < inf:
        return largest
    scaled = v / largest
    return largest * sqrt(float(scaled @ scaled))


def sum_roundings(v: Any) -> int:
    """How many roundings a sum over v takes at most."""
    return int(getattr(v, "summands", v.size))


def row_norms(a: Any) -> Array:
    """|a_i| for each row of a dense or CSR matrix."""
    if sp.issparse(a):
        owner = np.repeat(np.arange(a.shape[0]), np.diff(a.indptr))
        return group_norms(a.data, owner, a.shape[0])
    with np.errstate(over="ignore", under="ignore"):
        squares = np.einsum("ij,ij->i", a, a)
    found = np.sqrt(squares)
    for i in np.flatnonzero((squares <= LEAST) | (squares == inf)):
        found[i] = stable_norm(a[i])
    return found


def row_squares(a: Any) -> Array:
    """|a_i|^2 for each row of a sparse matrix, of numbers whose squares are numbers too."""
    return np.asarray(a.multiply(a).sum(axis=1)).ravel()


def group_norms(v: Array, groups: Indices, count: int) -> Array:
    """|v_G| for each group G = 0 ... count - 1; as many roundings as `length` of the group has."""
    with np.errstate(over="ignore", under="ignore"):
        squares = np.bincount(groups, weights=v * v, minlength=count)
    found = np.sqrt(squares)
    unsafe = (squares <= LEAST) | (squares == inf)
    if unsafe.any():  # as groups of zeros are, of which nothing is asked again
        again = np.flatnonzero(unsafe[groups] & (v != 0.0))
        if again.size:
            _scaled(found, v[again], groups[again])
    return found


def _scaled(found: Array, v: Array, groups: Indices) -> None:
    """The lengths of some groups, each by way of its largest entry, written where they belong."""
    largest = np.zeros(found.size)
    np.maximum.at(largest, groups, np.abs(v))
    finite = largest[groups] < inf
    v, groups = v[finite], groups[finite]
    shares = v / largest[groups]
    squares = np.bincount(groups, weights=shares * shares, minlength=found.size)
    here = squares > 0
    found[here] = largest[here] * np.sqrt(squares[here])


def group_indices(labels: Any) -> tuple[Indices, int]:
    """The group of each entry, 0, 1, ... in the order of their labels, and how many there are."""
    given = plain_array(labels, "groups", "a whole number for each entry, such as [0, 0, 1]")
    if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iu":
        raise ProblemError(
            "groups must be a whole number for each entry, such as [0, 0, 1]; got "
            f"{given.dtype} of shape {given.shape}"
        )
    found, places = np.unique(given, return_inverse=True)
    return places.reshape(-1).astype(np.intp), int(found.size)
