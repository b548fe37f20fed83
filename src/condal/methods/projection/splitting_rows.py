"""The rows of A as vectors: which of them are orthogonal to each other, and which are tied.

Taking out the tied rows L leaves orthogonal ones. The tied ones make a system of equations, which
falls into parts that no entry of x joins: the sum of the squares of their sizes is what the system
may come to, once it is factored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.types import Proximable

if TYPE_CHECKING:
    from condal.problem import Problem

MOST_ENTRIES = 1.5e7  # of A: some 75 bytes each while its rows are sorted, a gigabyte
MOST_SYSTEM = 2.5e7  # numbers of a factored system: 5000 rows, all of them tied
MAX_BYTES = 2**30  # of a full A
ORTHOGONAL = 1e-12  # cosine below which rows are
SPARSE_COST = 500  # of a multiplication among sparse numbers, against one of a full product


def matrix_of(problem: Problem, n: int) -> Any:
    """A as a CSR array; ProblemError where h(A .) has no proximal point that can be computed."""
    A = problem.A.as_matrix() if problem.A.size else sp.csr_array((0, n * n))
    if A is None or not problem.h.separable:
        hidden = "a set without coordinates"
        if A is None:
            hidden = "an A that an operator hides, or one too large to write down"
        raise ProblemError(
            "the splitting method needs A as a matrix and K by coordinates: this problem has "
            f"{hidden}; use condal.CGAL()"
        )
    return A


def fits(problem: Problem) -> bool:
    """Whether A is known, small enough to write down, and its tied rows few enough to factor."""
    if not problem.A.size:
        return True
    if problem.A.size > MOST_ENTRIES:
        return False
    A = problem.A.as_matrix()
    return A is not None and A.nnz <= MOST_ENTRIES and _system(A, problem.h) <= MOST_SYSTEM


def equations(h: Proximable) -> Any:
    """Which coordinates h fixes."""
    equal = np.zeros(h.size, dtype=bool)
    for here, part in h.pieces:
        equal[here] = part.fixed is not None
    return equal


def tied_rows(gram: Any, equal: Any) -> Any:
    """The rows to take out so that those that stay are orthogonal: first of all equations."""
    crowded = np.diff(gram.indptr) > 1
    tied = crowded & equal
    stay = np.flatnonzero(~tied)
    left = sp.csr_array(sp.csr_array(gram[stay])[:, stay])
    tied[stay[np.diff(left.indptr) > 1]] = True
    return tied


def gram_of(B: Any) -> Any:
    """BB', without what is 0 but for rounding."""
    p, size = B.shape
    work = float((np.bincount(B.indices, minlength=1).astype(np.float64) ** 2).sum())
    if p * work and SPARSE_COST * work > p * p * size and 8 * p * size <= MAX_BYTES:
        full = B.toarray()
        gram = sp.csr_array(full @ full.T)
    else:
        gram = sp.csr_array(B @ B.T)
    gram.data[np.abs(gram.data) <= ORTHOGONAL] = 0.0
    gram.eliminate_zeros()
    return gram


def _system(A: Any, h: Proximable) -> float:
    """A bound on the numbers of the factored system of the tied rows, from where A has entries.

    No product of rows is taken: rows without a common entry are orthogonal, and tied rows that
    others do not join, by entries in common, are solved for apart.
    """
    p, size = A.shape
    owner = np.repeat(np.arange(p, dtype=np.int32), np.diff(A.indptr))
    tied = _crowded(A.indices, owner, p) & equations(h)
    left = ~tied[owner]
    tied |= _crowded(A.indices[left], owner[left], p)
    whole = float(tied.sum()) ** 2
    at_one_entry = float(np.bincount(A.indices[tied[owner]], minlength=1).max())
    if whole <= MOST_SYSTEM or at_one_entry**2 > MOST_SYSTEM:  # no need to look for the parts
        return whole
    from scipy.sparse.csgraph import connected_components

    joins = sp.coo_array(
        (np.ones(A.nnz, dtype=np.int8), (owner, p + A.indices.astype(np.int64))),
        shape=(p + size, p + size),
    )
    _, part = connected_components(joins, directed=False)
    return float((np.bincount(part[:p][tied]).astype(np.float64) ** 2).sum())


def _crowded(places: Any, owner: Any, p: int) -> Any:
    """Which rows have an entry where another row has one."""
    shared = np.bincount(places, minlength=1)[places] > 1
    crowded = np.zeros(p, dtype=bool)
    crowded[owner[shared]] = True
    return crowded
