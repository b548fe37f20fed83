"""Projections of y - V / L onto X within a subspace, by the Rayleigh-Ritz procedure.

y has a low rank and V is a Symmetric, so y - V / L is known only by its products. The leading part
of it, which the projection keeps, lies near the subspace of the step before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condal.linalg.points import Array, LowRank
from condal.linalg.symmetric import Symmetric
from condal.types import Spectral

SPAN_ROUNDING = 1e-12  # of |y|^2
NEW_PART = 1e-6  # of a column, outside a span: less is rounding
DEPENDENT = 1e-8  # of the largest eigenvalue of a Gram matrix of unit columns: smaller is rounding


@dataclass(frozen=True, eq=False)
class Projected:
    """A point of X, and what the projection onto X says of the next subspace.

    `values` are the Ritz values in descending order, `vectors` their vectors. The weights of the
    point are the first values minus `threshold`. `distance2` is |x - y|^2 in the Frobenius norm.
    """

    x: LowRank
    values: Array
    vectors: Array
    threshold: float
    distance2: float


@dataclass(frozen=True, eq=False)
class RitzSpace:
    """The span of orthonormal columns B, with B'yB and B'VB: projections for any L are cheap.

    `outside2` is the square of the part of y outside the span.
    """

    B: Array
    y_part: Array
    V_part: Array
    outside2: float

    @classmethod
    def of(cls, B: Array, y: LowRank, V: Symmetric) -> RitzSpace:
        """Return the span of orthonormal columns; one product with V."""
        mixed, own = y.U.T @ B, y.U.T @ y.U
        y_part = (mixed.T * y.weights) @ mixed
        square = float(np.vdot(y.weights[:, None] * own, own * y.weights))
        outside2 = square - float(np.vdot(y_part, y_part))
        # Where the difference is rounding, y lies in the span.
        outside2 = outside2 if outside2 > SPAN_ROUNDING * square else 0.0
        return cls(B, y_part, B.T @ (V @ B), outside2)

    def projected(self, L: float, X: Spectral) -> Projected:
        """Return the projection of y - V / L, restricted to the span, onto X."""
        restricted = self.y_part - self.V_part / L
        values, turned = np.linalg.eigh(0.5 * (restricted + restricted.T))
        values, turned = values[::-1], turned[:, ::-1]
        vectors = self.B @ turned
        weights, threshold = clipped(values, X.trace, at_most=X.at_most)
        rank = weights.size
        moved = (turned[:, :rank] * weights) @ turned[:, :rank].T - self.y_part
        distance2 = float(np.vdot(moved, moved)) + self.outside2
        return Projected(LowRank(vectors[:, :rank], weights), values, vectors, threshold, distance2)


def filtered(basis: Array, y: LowRank, V: Symmetric, L: float, shift: float) -> Array:
    """Return (y - V / L + shift) basis: a step of subspace iteration.

    The shift makes the largest eigenvalues the largest in absolute value, too: in the lifted form
    of rectangular matrices every eigenvalue of V has its negative. Return the basis itself where
    the shift cancels all of y - V / L.
    """
    image = V @ basis
    image *= -1.0 / L
    image += y.U @ (y.weights[:, None] * (y.U.T @ basis))
    image += shift * basis
    return image if image.any() else basis


def orthonormal(basis: Array) -> Array:
    """Return orthonormal columns with the span of a basis, up to columns that are rounding."""
    norms = np.sqrt(np.einsum("ij,ij->j", basis, basis))
    unit = basis[:, norms > 0] / norms[norms > 0]
    values, vectors = np.linalg.eigh(unit.T @ unit)
    large = values > DEPENDENT * values[-1]
    B = unit @ (vectors[:, large] / np.sqrt(values[large]))
    # Gram matrices square the condition: a Newton step restores orthogonality to rounding.
    return np.asarray(B @ (1.5 * np.eye(B.shape[1]) - 0.5 * (B.T @ B)))


def extended(U: Array, basis: Array) -> Array:
    """Return orthonormal columns whose span holds that of the orthonormal U, and of a basis."""
    norms = np.sqrt(np.einsum("ij,ij->j", basis, basis))
    rest = basis - U @ (U.T @ basis)
    new = np.sqrt(np.einsum("ij,ij->j", rest, rest)) > NEW_PART * norms
    if not new.any():
        return U
    rest = orthonormal(rest[:, new])
    return np.hstack([U, orthonormal(rest - U @ (U.T @ rest))])


def clipped(values: Array, trace: float, *, at_most: bool) -> tuple[Array, float]:
    """Return the positive max(values - t, 0) with the sum `trace`, and t.

    The values descend. With `at_most`, t is 0 if the positive values sum to less than the trace.
    """
    thresholds = (np.cumsum(values) - trace) / np.arange(1, values.size + 1)
    rank = max(1, int(np.count_nonzero(values > thresholds)))
    threshold = float(thresholds[rank - 1])
    if at_most and threshold < 0:
        return values[values > 0], 0.0
    return np.maximum(values[:rank] - threshold, 0.0), threshold
