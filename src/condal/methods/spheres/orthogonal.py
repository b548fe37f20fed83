"""Vectors made orthogonal in given pairs, one after the other.

Each vector is projected onto the complement of its neighbours that come before it, which do not
move any more, so one pass is enough. Long vectors come first: short ones matter less. Vectors whose
neighbours of before are final do not depend on each other, so they are projected at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices
from condal.runtime.meter import check_cancelled

BLOCK_NUMBERS = 2**18  # of the gathered neighbours of some vectors, which stay in the cache
REFINEMENTS = 3  # of a projection, whose first result is as inexact as an inverse
REGULARISATION = 1e-14  # of the inner products of unit vectors, per vector: they may be singular
SMALL_EIGENVALUE = 1e-12  # of these products, relative: smaller ones count as 0
ORTHOGONAL = 1e-13  # |cosine|: a vector with a larger one to a neighbour becomes 0


def orthogonalise(R: Array, a: Indices, b: Indices) -> None:
    """Make the rows a_k and b_k of R orthogonal for all k, in place.

    No row gets longer. One that depends on its neighbours, or almost, becomes 0.
    """
    place = np.empty(len(R), dtype=np.int64)
    place[np.argsort(-np.einsum("ij,ij->i", R, R), kind="stable")] = np.arange(len(R))
    later = place[a] > place[b]
    owner, before = np.where(later, a, b), np.where(later, b, a)
    shape = (len(R), len(R))
    earlier = sp.csr_array((np.ones(a.size, dtype=np.int8), (owner, before)), shape=shape)
    counts = np.diff(earlier.indptr)
    for rows in _levels(earlier):
        check_cancelled()
        rows = rows[np.argsort(counts[rows], kind="stable")]
        changes = np.flatnonzero(np.diff(counts[rows])) + 1
        for begin, end in pairwise([0, *changes.tolist(), rows.size]):
            count = int(counts[rows[begin]])
            step = max(1, BLOCK_NUMBERS // (count * R.shape[1]))
            for first in range(begin, end, step):
                some = rows[first : min(first + step, end)]
                slots = earlier.indptr[some][:, None] + np.arange(count)
                R[some] = _projected(R[some], R[earlier.indices[slots]])


def _levels(earlier: sp.csr_array) -> Iterator[Indices]:
    """Yield the rows with entries such that those that a row refers to are yielded before it."""
    left, following = np.diff(earlier.indptr), sp.csr_array(earlier.T)
    final = np.flatnonzero(left == 0)
    while final.size:
        fewer = np.bincount(following[final].indices, minlength=left.size)
        left = left - fewer
        final = np.flatnonzero((left == 0) & (fewer > 0))
        if final.size:
            yield final


def _projected(own: Array, near: Array) -> Array:
    """Return the rows of `own`, orthogonal to their neighbours; `near` is overwritten."""
    sizes = np.sqrt(np.einsum("kij,kij->ki", near, near))
    near /= np.where(sizes > 0, sizes, 1.0)[:, :, None]
    products, count = np.matmul(near, near.transpose(0, 2, 1)), near.shape[1]
    products[:, np.arange(count), np.arange(count)] = 1.0 + REGULARISATION * count
    projected, exact = _refined(own, near, np.linalg.inv(products))
    if not exact.all():  # the neighbours of some almost depend on each other
        some = ~exact
        inverse = np.linalg.pinv(products[some], rcond=SMALL_EIGENVALUE, hermitian=True)
        again, exact = _refined(own[some], near[some], inverse)
        projected[some] = np.where(exact[:, None], again, 0.0)
    return projected


def _refined(own: Array, near: Array, inverse: Array) -> tuple[Array, Any]:
    """Return the projections by an inverse of the inner products, and which are orthogonal."""
    for _ in range(REFINEMENTS):
        along = np.matmul(inverse, np.matmul(near, own[:, :, None]))
        own = own - np.matmul(along.transpose(0, 2, 1), near)[:, 0, :]
    left = np.abs(np.matmul(near, own[:, :, None])[:, :, 0]).max(axis=1)
    return own, left <= ORTHOGONAL * np.sqrt(np.einsum("ij,ij->i", own, own))
