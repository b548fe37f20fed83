"""Sparse factors of V - tau I: positive pivots prove a bound, a negative one shows a direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import splu

from condal.linalg.norms import UNIT_ROUNDOFF
from condal.linalg.points import Array, Indices
from condal.linalg.proof import Proof
from condal.linalg.symbolic import elimination
from condal.linalg.symmetric import Symmetric
from condal.runtime.meter import spend

MAX_DIRECTIONS = 4  # that start from the negative pivots of one factorisation
INVERSE_STEPS = 2  # of the Krylov space that improves them


@dataclass(frozen=True, eq=False)
class SparseFactors:
    """V - tau I = P' L U P by SuperLU without pivoting; U = D L' but for rounding."""

    V: Symmetric
    tau: float
    order: Indices
    L: Any
    U: Any
    solve: Any
    shift_error: float

    @classmethod
    def of(cls, V: Symmetric, tau: float) -> SparseFactors | None:
        """Factorise in the minimum degree order; None if a pivot is exactly 0."""
        matrix = V.to_sparse()
        order, _, flops = elimination(matrix)
        spend(flops)
        shifted = sp.csc_matrix(matrix - tau * sp.eye(V.n, format="csc"))
        shift_error = 2 * UNIT_ROUNDOFF * (np.abs(shifted.diagonal()).max() + abs(tau))
        try:
            factors = splu(
                sp.csc_matrix(shifted[order][:, order]),
                permc_spec="NATURAL",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True, "Equil": False},
            )
        except (RuntimeError, MemoryError):  # exactly singular, or larger than planned
            return None
        if not all(np.array_equal(p, np.arange(V.n)) for p in (factors.perm_r, factors.perm_c)):
            return None
        return cls(V, tau, order, factors.L, factors.U, factors.solve, shift_error)

    @property
    def entries(self) -> int:
        """The stored numbers of L."""
        return int(self.L.nnz)

    @property
    def pivots(self) -> Array:
        """The diagonal D of U."""
        return np.asarray(self.U.diagonal())

    def proof(self) -> Proof | None:
        """Prove tau less rounding, if all pivots are positive: L D L' is then positive definite."""
        pivots = self.pivots
        if not np.all((pivots > 0) & (pivots < np.inf)):
            return None
        return Proof(float(self.tau - self.error()), "sparse LDL' factorisation")

    def error(self) -> float:
        """Bound |V - tau I - L D L'|_2 for D = diag U.

        S + E = L U with |E| <= gamma_t |L||U| in any order of summation, row by row with t the
        entries of that row of L (Higham 2002, theorem 9.3), so |S - L D L'|_2 <= |E|_2 +
        | L (U - D L') |_2. Row and column sums of the computed factors bound both norms. Nothing is
        assumed about U except its entries.
        """
        pivots = self.pivots
        absolute = _absolute(self.L)
        rows = sp.csr_array(self.L)
        roundings = UNIT_ROUNDOFF * (np.diff(rows.indptr) + 4.0)  # two more for D L' below
        scaled = absolute.copy()
        scaled.data *= (roundings / (1 - roundings))[absolute.indices]
        backward = _product_norm(scaled, _absolute(self.U))
        rows.data *= pivots[rows.indices]  # L D, whose transpose stands in columns as U does
        asymmetry = _absolute(self.U - rows.T)
        error = backward + _product_norm(absolute, asymmetry)
        # The sums that bound the error are rounded themselves: a few percent covers that.
        return 1.05 * error + self.shift_error + self.V.assembly_error()

    def below(self) -> tuple[Array, Array] | None:
        """Return Ritz values of V below tau, ascending, and their orthonormal vectors.

        Each negative pivot d_j has a direction v = L'^-1 e_j with v'(LDL')v = d_j. It solves
        L U v = d_j L e_j, so rounding in later pivots may spoil it; the Ritz values show that. Few
        eigenvalues of (V - tau I)^-1 are negative, so its Krylov space soon holds their vectors.
        None if no value is below tau.
        """
        negative = np.flatnonzero(self.pivots < 0)[:MAX_DIRECTIONS]
        block = self.L[:, negative].toarray()
        spaces = []
        for _ in range(1 + INVERSE_STEPS):
            block = self.solve(block)
            block = block[:, np.isfinite(block).all(axis=0)]
            if block.shape[1] == 0:
                return None
            block = np.linalg.qr(block)[0]
            spaces.append(block)
        basis = np.empty((self.V.n, sum(space.shape[1] for space in spaces)))
        basis[self.order] = np.hstack(spaces)
        basis = np.linalg.qr(basis)[0]
        values, turned = eigh(basis.T @ (self.V @ basis), check_finite=False)
        low = values < self.tau
        return (values[low], basis @ turned[:, low]) if low.any() else None


def _absolute(a: Any) -> Any:
    """|a| with the indices of a, unsorted as they may be."""
    return sp.csc_array((np.abs(a.data), a.indices, a.indptr), a.shape)


def _product_norm(a: Any, b: Any) -> float:
    """sqrt(|ab|_1 |ab|_inf) >= |ab|_2 for non-negative a and b, without forming ab."""
    ones = np.ones(a.shape[0])
    return float(np.sqrt((a @ (b @ ones)).max() * (b.T @ (a.T @ ones)).max()))
