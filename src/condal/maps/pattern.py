"""Sparse gradients that change their numbers and not their pattern."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import Array


@dataclass(frozen=True, eq=False)
class Pattern:
    """A CSR array of fixed pattern whose data are `spread` y, a fixed sparse combination of y.

    Where no entry is seen twice that is factor * y[which].
    """

    blank: Any
    spread: Any

    @classmethod
    def of(cls, n: int, rows: Any, cols: Any) -> Pattern:
        """y_k split between (rows_k, cols_k) and (cols_k, rows_k)."""
        both = np.concatenate([rows, cols]), np.concatenate([cols, rows])
        slots, where = np.unique(both[0] * n + both[1], return_inverse=True)
        p = rows.size
        halves = sp.coo_array(
            (np.full(2 * p, 0.5), (where.ravel(), np.tile(np.arange(p), 2))), shape=(slots.size, p)
        )
        indptr = np.searchsorted(slots, np.arange(n + 1) * n)
        small = np.int32 if max(slots.size, n) < 2**31 else np.int64
        places = (slots % n).astype(small), indptr.astype(small)
        blank = sp.csr_array((np.zeros(slots.size), *places), shape=(n, n))
        blank.has_canonical_format = True  # which saves every sum the question
        return cls(blank, sp.csr_array(halves))

    @property
    def terms(self) -> int:
        """How many y an entry is made of, at most."""
        return int(np.diff(self.spread.indptr).max(initial=0))

    @cached_property
    def _single(self) -> tuple[Array, Any] | None:
        """(factor, which), where every entry of the pattern has one y."""
        if self.terms > 1 or self.spread.nnz < self.spread.shape[0]:
            return None
        return self.spread.data, self.spread.indices.astype(np.intp)

    def after(self, first: Any) -> Pattern:
        """The same pattern, filled from `first` y."""
        return Pattern(self.blank, sp.csr_array(self.spread @ first))

    def fill(self, y: Array) -> Any:
        """The matrix of y."""
        if y.shape != (self.spread.shape[1],):
            raise ProblemError(f"a dual of {self.spread.shape[1]} numbers is wanted; got {y.size}")
        filled = copy(self.blank)  # its indices are shared: nothing is sorted or checked again
        if self._single is None:
            filled.data = self.spread @ y
        else:
            factor, which = self._single
            filled.data = np.take(y, which, mode="clip")
            filled.data *= factor
        return filled
