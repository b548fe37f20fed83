"""The rows of A: which are orthogonal to each other, and which are tied.

Without the tied rows L, the others are orthogonal. The tied rows make a system of equations, which
splits into parts that share no entry of x. The sum of the squares of the sizes of the parts bounds
the size of the factored system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.types import Proximable

if TYPE_CHECKING:
    from condal.problem import Problem

MAX_ENTRIES = 1.5e7  # of A: about 75 bytes each while its rows are sorted, a gigabyte
MAX_SYSTEM = 2.5e7  # numbers of a factored system: 5000 rows, all of them tied
MAX_DENSE_BYTES = 2**30  # of a full A
ORTHOGONAL = 1e-12  # cosine below which rows are orthogonal
SPARSE_COST = 500  # of a multiplication in a sparse product, relative to a dense one


def matrix_of(problem: Problem, n: int) -> Any:
    """Return A as a CSR array; raise ProblemError unless h(A .) has a computable proximal point."""
    A = problem.A.as_matrix() if problem.A.size else sp.csr_array((0, n * n))
    if A is None or not problem.h.separable:
        obstacle = "a set without coordinates"
        if A is None:
            obstacle = "an A that an operator hides, or one too large to write down"
        raise ProblemError(
            "the splitting method needs A as a matrix and K by coordinates: this problem has "
            f"{obstacle}; use condal.CGAL()"
        )
    return A


def fits(problem: Problem) -> bool:
    """Whether A is known and small enough, and its tied rows are few enough to factor."""
    if not problem.A.size:
        return True
    if problem.A.size > MAX_ENTRIES:
        return False
    A = problem.A.as_matrix()
    return A is not None and A.nnz <= MAX_ENTRIES and _system(A, problem.h) <= MAX_SYSTEM


def equations(h: Proximable) -> Any:
    """Return the mask of the coordinates that h fixes."""
    equal = np.zeros(h.size, dtype=bool)
    for rows, piece in h.pieces:
        equal[rows] = piece.fixed is not None
    return equal


def tied_rows(gram: Any, equal: Any) -> Any:
    """Return the rows to take out so that the others are orthogonal; equations first."""
    crowded = np.diff(gram.indptr) > 1
    tied = crowded & equal
    others = np.flatnonzero(~tied)
    rest = sp.csr_array(sp.csr_array(gram[others])[:, others])
    tied[others[np.diff(rest.indptr) > 1]] = True
    return tied


def gram_of(B: Any) -> Any:
    """Return BB', with rounding errors of 0 removed."""
    p, size = B.shape
    work = float((np.bincount(B.indices, minlength=1).astype(np.float64) ** 2).sum())
    if p * work and SPARSE_COST * work > p * p * size and 8 * p * size <= MAX_DENSE_BYTES:
        full = B.toarray()
        gram = sp.csr_array(full @ full.T)
    else:
        gram = sp.csr_array(B @ B.T)
    gram.data[np.abs(gram.data) <= ORTHOGONAL] = 0.0
    gram.eliminate_zeros()
    return gram


def _system(A: Any, h: Proximable) -> float:
    """A bound on the size of the factored system of the tied rows, from the pattern of A.

    It takes no product of rows: rows without a common entry are orthogonal, and groups of tied rows
    without common entries are solved separately.
    """
    p, size = A.shape
    owner = np.repeat(np.arange(p, dtype=np.int32), np.diff(A.indptr))
    tied = _crowded(A.indices, owner, p) & equations(h)
    rest = ~tied[owner]
    tied |= _crowded(A.indices[rest], owner[rest], p)
    whole = float(tied.sum()) ** 2
    at_one_entry = float(np.bincount(A.indices[tied[owner]], minlength=1).max())
    if whole <= MAX_SYSTEM or at_one_entry**2 > MAX_SYSTEM:  # the parts do not matter
        return whole
    from scipy.sparse.csgraph import connected_components

    joins = sp.coo_array(
        (np.ones(A.nnz, dtype=np.int8), (owner, p + A.indices.astype(np.int64))),
        shape=(p + size, p + size),
    )
    _, part = connected_components(joins, directed=False)
    return float((np.bincount(part[:p][tied]).astype(np.float64) ** 2).sum())


def _crowded(places: Any, owner: Any, p: int) -> Any:
    """The mask of the rows that share an entry with another row."""
    shared = np.bincount(places, minlength=1)[places] > 1
    crowded = np.zeros(p, dtype=bool)
    crowded[owner[shared]] = True
    return crowded
