"""Scale a psd matrix to a given diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.linalg.blocked import weighted_squares
from condal.linalg.lifting import is_complex
from condal.linalg.points import Array, LowRank, Point, dense

MIN_DIAGONAL = 1e-300  # rows with a smaller diagonal entry count as zero


def with_diagonal(x: Point, d: Array | float) -> Point:
    """Return S x S with the diagonal d >= 0, S diagonal; a zero row becomes one of its own."""
    if isinstance(x, LowRank):
        squares = weighted_squares(x.U.real, x.weights)
        if is_complex(x.U):
            squares += weighted_squares(x.U.imag, x.weights)
        diagonal = np.maximum(squares, 0.0)
        is_zero = diagonal <= MIN_DIAGONAL
        U = x.U * np.sqrt(d / np.where(is_zero, 1.0, diagonal))[:, None]
        heaviest = int(np.argmax(x.weights))
        U[is_zero] = 0.0
        missing = d[is_zero] if isinstance(d, np.ndarray) else d  # the rows may be on many ranks
        U[is_zero, heaviest] = np.sqrt(missing / x.weights[heaviest])
        return LowRank(U, x.weights)
    full: Any = dense(x)
    diagonal = np.diagonal(full).real
    d, is_zero = np.broadcast_to(d, diagonal.shape), diagonal <= MIN_DIAGONAL
    root = np.sqrt(d / np.where(is_zero, 1.0, diagonal))
    scaled = full * np.multiply.outer(root, root)
    scaled[is_zero] = 0.0
    scaled[:, is_zero] = 0.0
    scaled[np.diag_indices(len(full))] = d
    return np.asarray(scaled)
