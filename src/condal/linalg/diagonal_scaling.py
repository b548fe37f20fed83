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

from condal.linalg.norms import UNIT_ROUNDOFF, gamma
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric

POWER = 0.75  # D near diag(V)^POWER: 1 has the least spread, but is worse for an inexact dual
MIN_DIAGONAL = 1e-3  # of the mean: less counts as this
MAX_LOSS = 0.9  # of a proof, against that without scaling: more is not worth it


@dataclass(frozen=True, eq=False)
class DiagonalScaling:
    """D^-1/2 V D^-1/2, rounded, and `total` = <D, x>."""

    scaled: Symmetric
    root: Array  # the diagonal of D^-1/2
    total: float
    error: float  # of <V, x>, by the assembly of V and the rounding of the scaled V

    @classmethod
    def of(cls, V: Symmetric, diagonal: Array) -> DiagonalScaling | None:
        """Scale V for the psd x of this diagonal; None where it is of no use or not sparse."""
        values = V.diag()
        mean = float(values.mean())
        if not V.by_entries or not 0 < mean < np.inf or not np.all(diagonal >= 0):
            return None
        root = (np.maximum(values, MIN_DIAGONAL * mean) / mean) ** (-0.5 * POWER)
        total = float(diagonal @ (1.0 / root**2))
        sums = V.absolute_row_sums()
        scaled_sums = V.absolute_product(root)
        assert sums is not None
        assert scaled_sums is not None
        size, trace = float((root * scaled_sums).max()), float(diagonal.sum())
        if size * total > MAX_LOSS * float(sums.max()) * trace:
            return None
        # Each entry is rounded three times: an error of at most 3 u |.| in every row sum.
        error = V.assembly_error() * trace + 4 * UNIT_ROUNDOFF * size * total
        return cls(V.congruent(root), root, total, error)

    def bound(self, least: float) -> float:
        """Return a bound on <V, x>, given one on the smallest eigenvalue of the scaled V."""
        product = least * self.total
        return product - gamma(self.scaled.n + 8) * abs(product) - 1.05 * self.error
