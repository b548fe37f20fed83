"""What depends on A, P and the cones of a CVXPY problem alone.

Solves of a parametrised problem with the same coefficients share it: neither the elimination nor
the parts of a proof that concern the rows or the convexity of the objective are computed twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from cvxpy import settings

from condal.certificates.containment import smallest_eigenvalue
from condal.certificates.exact import is_psd
from condal.certificates.row_space import RowSpace
from condal.cvxpy.elimination import Elimination, eliminate
from condal.cvxpy.svec import Layout
from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.linalg.rounding import row_norms

MAX_NEGATIVE = 1e-8  # relative to the largest eigenvalue: rounding of a psd matrix
MAX_ACCEPTED = 4 * settings.EIGVAL_TOL  # what CVXPY takes for psd; P is twice its matrix
MIN_POSITIVE = 1e-15  # relative to the largest eigenvalue: less counts as 0
MAX_EXACT_SIDE = 40  # of a block that is factorised in fractions


@dataclass(frozen=True, eq=False)
class Structure:
    """The coefficients A and P, the cones, and what was computed from them.

    `handed` holds copies of the matrices as CVXPY hands them over, if those of a later solve may be
    compared with them.
    """

    A: Any = field(repr=False)
    layout: Layout
    P: Any = field(default=None, repr=False)
    kept: dict[str, Any] = field(default_factory=dict, repr=False)  # by engines
    handed: tuple[Any, Any] | None = field(default=None, repr=False)
    _eliminations: dict[str, tuple[Array, Array, Elimination]] = field(
        default_factory=dict, repr=False
    )

    def matches(self, A: Any, layout: Layout, P: Any) -> bool:
        """Return whether this is the structure of other data, as CVXPY hands them over."""
        if self.handed is None or self.layout != layout:
            return False
        return _equal(self.handed[0], A) and _equal(self.handed[1], P)

    @cached_property
    def columns(self) -> Any:
        """A in CSC."""
        return sp.csc_array(self.A)

    @cached_property
    def separators(self) -> RowSpace:
        """The rows A'."""
        C = self.columns
        return RowSpace(_canonical(sp.csr_array((C.data, C.indices, C.indptr), C.shape[::-1])))

    @cached_property
    def separating_rows(self) -> Indices:
        """The rows whose z may be nonzero where A'z = 0.

        A variable with one entry forces the z of its row to be 0. Rows of second-order cones and
        matrices stay.
        """
        A = self.A
        owner = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        kept = np.ones(A.shape[0], dtype=bool)
        plain = np.arange(A.shape[0]) < self.layout.zero + self.layout.nonneg
        while True:
            remaining = kept[owner] & (A.data != 0)
            counts = np.bincount(A.indices[remaining], minlength=A.shape[1])
            single = remaining & (counts[A.indices] == 1) & plain[owner]
            if not single.any():
                return np.flatnonzero(kept)
            kept[owner[single]] = False

    @cached_property
    def dual_rows(self) -> RowSpace:
        """The rows [P, A'] of the dual."""
        if self.P is None:
            return self.separators
        return RowSpace(_canonical(sp.hstack([self.P, self.separators.A], format="csr")))

    @cached_property
    def convex(self) -> bool:
        """Whether the objective is proved convex."""
        return is_convex(self.P)

    @cached_property
    def row_norms(self) -> Array:
        """The norms of the rows of A."""
        return row_norms(self.A)

    def elimination(self, name: str, A: Any, b: Array, c: Array, kinds: Indices) -> Elimination:
        """Return x in terms of s where Ax + s = b, for a part of the coefficients with a name."""
        if name in self._eliminations:
            old_b, old_c, known = self._eliminations[name]
            same = np.array_equal(b, old_b)
            if same and (known.unique or np.array_equal(c, old_c)):
                return known
            if known.unique:
                return known.with_right_side(sp.csr_array(A), b)
        known = eliminate(A, b, c, kinds)
        self._eliminations[name] = b, c, known
        return known


def _canonical(A: Any) -> Any:
    A = sp.csr_array(A)
    if not A.has_canonical_format:
        A = A.copy()
        A.sum_duplicates()
    return A


def _equal(A: Any, B: Any) -> bool:
    """Return whether two matrices in one compressed format have the same entries and places."""
    if A is None or B is None:
        return A is B
    return (A.format, A.shape) == (B.format, B.shape) and all(
        np.array_equal(getattr(A, name), getattr(B, name)) for name in ("indptr", "indices", "data")
    )


def is_convex(P: Any) -> bool:
    """Return whether P is proved psd: block by block positive definite, or exactly if small."""
    if P is None or P.nnz == 0:
        return True
    diagonal = P.diagonal()
    if np.count_nonzero(diagonal) == P.nnz:
        return bool((diagonal >= 0).all())
    return all(_is_psd(block) for _, block in _blocks(P))


def _is_psd(block: Array) -> bool:
    if len(block) == 1:
        return float(block[0, 0]) > 0
    return smallest_eigenvalue(block) > 0 or (len(block) <= MAX_EXACT_SIDE and is_psd(block))


def _blocks(P: Any) -> list[tuple[Indices, Array]]:
    """Return the connected blocks of P that have entries."""
    from scipy.sparse.csgraph import connected_components

    P = sp.csr_array(P)
    count, label = connected_components(P, directed=False)
    order = np.argsort(label, kind="stable")
    groups = np.split(order, np.searchsorted(label[order], np.arange(1, count)))
    blocks = [(group, P[group][:, group].toarray()) for group in groups]
    return [(group, block) for group, block in blocks if block.any()]


def root_of(P: Any) -> Any:
    """Return R with R R' = P, about."""
    rows, cols, data, count = [], [], [], 0
    for group, block in _blocks(P):
        values, vectors = np.linalg.eigh(0.5 * (block + block.T))
        if values[0] < -max(MAX_NEGATIVE * values[-1], MAX_ACCEPTED):
            raise ProblemError(
                "the quadratic objective is not convex: its matrix has the eigenvalue "
                f"{values[0]:.3g}; give one whose eigenvalues are nonnegative"
            )
        kept = values > MIN_POSITIVE * max(values[-1], 0.0)
        root = vectors[:, kept] * np.sqrt(values[kept])
        rows.append(np.repeat(group, root.shape[1]))
        cols.append(np.tile(count + np.arange(root.shape[1]), group.size))
        data.append(root.ravel())
        count += root.shape[1]
    where = np.concatenate(rows), np.concatenate(cols)
    return sp.csr_array((np.concatenate(data), where), (P.shape[0], count))
