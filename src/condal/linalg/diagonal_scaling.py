"""Bounds over psd matrices of known diagonal, by the spectrum of V scaled by its own diagonal.

For any D = Diag(d) > 0 and psd x, <V, x> >= lambda_min(D^-1/2 V D^-1/2) <D, x>. Where diag x = b is
fixed, <D, x> = sum d_i b_i is known, whatever the sign of lambda_min. This holds for no other
domain: where only the trace is known, <D, x> may be anywhere between the least and the largest d_i
times the trace, and D = I is best.

A Lanczos proof loses a share of the spread of the spectrum. On a graph with hubs, the spread of V
is the largest degree. With D near diag V the spread is about 2, and sum d_i b_i is about the sum of
the degrees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from condal.linalg.norms import gamma
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric

POWER = 0.75  # D near diag(V)^POWER: 1 has the least spread, but is worse for an inexact dual
MAX_EXPONENT = 40  # of 2 in D^1/2, beside that of the median
HUB_EXPONENT = 2  # of the largest: less gains little
MIN_DIAGONAL = 1e-3  # of the mean: less counts as this


@dataclass(frozen=True, eq=False)
class DiagonalScaling:
    """D^-1/2 V D^-1/2 without rounding, as D consists of powers of 4, and `total` = <D, x>."""

    scaled: Symmetric
    root: Array  # the diagonal of D^-1/2
    total: float
    error: float  # of <V, x>, by the assembly of V

    @classmethod
    def of(cls, V: Symmetric, diagonal: Array) -> DiagonalScaling | None:
        """Scale V for the psd x of this diagonal; None where it is of no use or not sparse."""
        values = V.diag()
        mean = float(values.mean())
        if not V.factorable or not 0 < mean < np.inf or not np.all(diagonal >= 0):
            return None
        exponents = 0.5 * POWER * np.log2(np.maximum(values, MIN_DIAGONAL * mean) / mean)
        exponents = np.clip(np.round(exponents - np.median(exponents)), -MAX_EXPONENT, MAX_EXPONENT)
        if exponents.max() < HUB_EXPONENT:
            return None
        root = np.exp2(-exponents)
        matrix = sp.coo_array(V.to_sparse())
        matrix.data *= root[matrix.row] * root[matrix.col]
        total = float(diagonal @ np.exp2(2 * exponents))
        error = V.assembly_error() * float(diagonal.sum())
        return cls(Symmetric(V.n, sparse=(sp.csr_array(matrix),)), root, total, error)

    def bound(self, least: float) -> float:
        """Return a bound on <V, x>, given one on the smallest eigenvalue of the scaled V."""
        product = least * self.total
        return product - gamma(self.scaled.n + 8) * abs(product) - 1.05 * self.error
