"""Rows of A that make up all others, and whether these ask for the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpstrf

from condal.linalg.norms import row_squares
from condal.linalg.points import Array, Indices
from condal.methods.projection.splitting_rows import gram_of

DEPENDENT = 1e-12  # of its square: what is left of a row beside those that make it up
CLASH = 1e-9  # of what a row can reach, and of the terms: how far b may be from that of others
KEPT = 10.0  # how much larger the last rows are made, so that they are kept rather than others


def independent(parts: Sequence[Any], b: Array, *, last: int) -> tuple[Indices, Array | None]:
    """Rows of A = (A_1, A_2, ...) that make up all others, in order, the `last` of all rows first
    of all; and a y of A'y = 0 with <b, y> = 1, if the others ask for something else.

    By a Cholesky factorisation of A A' with pivots.
    """
    m = b.size
    if m == 0:
        return np.arange(0), None
    norms = np.sqrt(sum(row_squares(A) for A in parts))
    factors = 1.0 / np.where(norms > 0, norms, 1.0)
    factors[m - last :] *= KEPT
    gram = sum(gram_of(sp.csr_array(A.multiply(factors[:, None]))).toarray() for A in parts)
    _, pivots, rank, _ = dpstrf(gram, tol=DEPENDENT, lower=1)
    kept, left = np.sort(pivots[:rank] - 1), np.sort(pivots[rank:] - 1)
    if not left.size:
        return kept, None
    factor = np.linalg.cholesky(gram[np.ix_(kept, kept)])
    ways = cho_solve((factor, True), gram[np.ix_(kept, left)])
    right = factors * b
    terms = 1.0 + np.abs(right[left]) + np.abs(ways).T @ np.abs(right[kept])
    off = right[left] - ways.T @ right[kept]
    worst = int(np.argmax(np.abs(off) - CLASH * terms))
    if abs(off[worst]) <= CLASH * terms[worst]:
        return kept, None
    clash = np.zeros(m)
    clash[left[worst]], clash[kept] = 1.0, -ways[:, worst]
    return kept, factors * clash / off[worst]
