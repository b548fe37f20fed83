"""Schur complements of sparse matrices: variables eliminated from a quadratic form, never formed.

The minimum of [t; x]'K[t; x] over t, for K = [[D, B], [B', P]] with D positive definite, is x'V x
with V = P - B'D^-1 B. V is dense; K is sparse, and its factors give products with V^-1, the inertia
of V and proofs of its eigenvalues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from math import log2
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.factorisations import SparseFactors
from condal.linalg.points import Array
from condal.linalg.sparse import diagonal_matrix
from condal.linalg.symmetric import Symmetric
from condal.linalg.terms import Term
from condal.runtime.meter import PRODUCT_FLOPS, check_cancelled, spend

INVERSE_STEPS = 8  # that estimate the smallest eigenvalue of D
PROVED_SHARE = 0.5  # of the estimate: what is proved


@dataclass(frozen=True, eq=False)
class Eliminated:
    """The sparse rows D, k x k and positive definite, and B, k x n, of eliminated variables.

    k may be 0.
    """

    D: Any
    B: Any

    def __post_init__(self) -> None:
        # Products add up in the order of the indices, and SciPy 1.10 may sort them later, in place.
        for matrix in (self.D, self.B):
            matrix.sort_indices()

    @cached_property
    def _factors(self) -> SparseFactors:
        factors = SparseFactors.of(Symmetric(self.D.shape[0], sparse=(self.D,)), 0.0)
        if factors is None or not np.all(factors.pivots > 0):
            raise FloatingPointError("the matrix of eliminated variables is not positive definite")
        return factors

    def solve(self, b: Array) -> Array:
        """Return D^-1 b."""
        return ordered_solve(self._factors)(b) if len(b) else b

    @cached_property
    def least(self) -> float:
        """A proved lower bound on the smallest eigenvalue of D; inf for k = 0, -inf if unproved."""
        if self.D.shape[0] == 0:
            return np.inf
        v = np.random.default_rng(0).standard_normal(self.D.shape[0])
        for _ in range(INVERSE_STEPS):
            v = self.solve(v / np.linalg.norm(v))
        estimate = 1.0 / float(np.linalg.norm(v))
        factors = SparseFactors.of(self._factors.V, PROVED_SHARE * estimate)
        proof = None if factors is None else factors.proof()
        return -np.inf if proof is None else proof.value


@dataclass(frozen=True, eq=False)
class SchurTerm(Term):
    """-weight B'D^-1 B."""

    order = 7
    has_entries = False
    eliminated: Eliminated
    weight: float = 1.0

    def add_product(self, out: Array | None, v: Array) -> Array:
        B = self.eliminated.B
        image = np.asarray(B.T @ self.eliminated.solve(np.asarray(B @ v)))
        image *= -self.weight
        return image if out is None else np.add(out, image, out=out)

    def add_dense(self, out: Array | None) -> Array:
        return self.add_product(out, np.eye(self.eliminated.B.shape[1]))

    def scaled(self, c: float) -> SchurTerm:
        return replace(self, weight=c * self.weight)

    def diagonal(self) -> Array:
        """Zeros: the diagonal is unknown."""
        return np.zeros(self.eliminated.B.shape[1])

    def absolute_product(self, v: Array) -> Array:
        return np.full(v.size, np.inf)

    def arrays(self) -> Iterable[Array]:
        return self.eliminated.D.data, self.eliminated.B.data


@dataclass(frozen=True, eq=False)
class Augmented:
    """The parts of K = [[D, B], [B', P]], for an operator V = P - B'D^-1 B.

    D includes the weight of the Schur term.
    """

    V: Symmetric
    eliminated: Eliminated
    weight: float
    P: Any
    assembly_error: float  # of P

    @classmethod
    def of(cls, V: Symmetric) -> Augmented | None:
        """Return the parts of V; None unless V is sparse but for one Schur term."""
        schur = [term for term in V.terms if isinstance(term, SchurTerm)]
        rest = Symmetric(V.n, [term for term in V.terms if not isinstance(term, SchurTerm)])
        if len(schur) != 1 or not schur[0].weight > 0 or not rest.factorable:
            return None
        return cls(V, schur[0].eliminated, schur[0].weight, rest.to_sparse(), rest.assembly_error())

    @property
    def k(self) -> int:
        """The number of eliminated variables."""
        return int(self.eliminated.D.shape[0])

    @cached_property
    def D(self) -> Any:
        """D over the weight of the Schur term, rounded."""
        return self.eliminated.D if self.weight == 1.0 else self.eliminated.D / self.weight

    def solve(self, b: Array) -> Array:
        """Return D^-1 b."""
        return self.weight * self.eliminated.solve(b)

    @property
    def least(self) -> float:
        """A proved lower bound on the smallest eigenvalue of D, as for `Eliminated`."""
        return self.eliminated.least / self.weight * (1 - 1e-12)

    @cached_property
    def unit(self) -> float:
        """A power of 2: in this unit, the entries of D are about as large as those of P."""
        ratio = self.P.diagonal().max() / self.D.diagonal().max() if self.k else 1.0
        return float(2.0 ** round(0.5 * log2(ratio))) if ratio > 0 else 1.0

    def matrix(self, *, shrink: float = 0.0, shift: float = 0.0) -> Any:
        """Return [[(1 - shrink) D, B], [B', P + shift I]], with t in its unit."""
        P = sp.csc_array(self.P + diagonal_matrix(np.full(self.V.n, shift)))
        if self.k == 0:
            return P
        D, B = (1.0 - shrink) * self.unit**2 * self.D, self.unit * self.eliminated.B
        return sp.csc_array(sp.bmat([[D, B], [B.T, P]], format="csc"))

    def factors(self, *, shrink: float = 0.0, shift: float = 0.0) -> SparseFactors | None:
        """Return the sparse factors of `matrix`; None if a pivot is exactly 0."""
        K = self.matrix(shrink=shrink, shift=shift)
        return SparseFactors.of(Symmetric(K.shape[0], sparse=(K,)), 0.0)

    def inverse(self, factors: SparseFactors) -> Callable[[Array], Array]:
        """Return the products with (V + shift I)^-1, for the factors of an unshrunk matrix."""
        solve, k = ordered_solve(factors), self.k

        def product(b: Array) -> Array:
            padded = np.zeros((k + len(b), *b.shape[1:]))
            padded[k:] = b
            return solve(padded)[k:]

        return product

    def positive_factors(self, shift: float, most: float) -> SparseFactors | None:
        """Return the factors for the first shift, each 30 times the one before, at which all
        pivots are positive; None if there is none up to `most`."""
        while shift <= most:
            check_cancelled()
            factors = self.factors(shift=shift)
            if factors is not None and np.all(factors.pivots > 0):
                return factors
            shift *= 30.0
        return None


def ordered_solve(factors: SparseFactors) -> Callable[[Array], Array]:
    """Return the products with the inverse of the matrix that was factorised."""
    order, work = factors.order, 2 * PRODUCT_FLOPS * factors.entries

    def solve(b: Array) -> Array:
        spend(work * (b.size // max(1, len(b))))
        out = np.empty(b.shape)
        out[order] = factors.solve(b[order])
        return out

    return solve
