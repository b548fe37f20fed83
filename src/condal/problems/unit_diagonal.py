"""{x psd : diag x = 1}: a point of it from any psd x, real or Hermitian."""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.linalg.blocked import weighted_squares
from condal.linalg.lifting import is_complex
from condal.linalg.points import LowRank, Point, dense

LOST = 1e-300  # a diagonal entry of a row that says nothing


def unit_diagonal(x: Point) -> Point:
    """D^(-1/2) x D^(-1/2) with D = diag x; a row of zeros becomes a unit vector."""
    if isinstance(x, LowRank):
        squares = weighted_squares(x.U.real, x.weights)
        if is_complex(x.U):
            squares += weighted_squares(x.U.imag, x.weights)
        diagonal = np.maximum(squares, 0.0)
        lost = diagonal <= LOST
        U = x.U / np.sqrt(np.where(lost, 1.0, diagonal))[:, None]
        U[lost] = 0.0
        heaviest = int(np.argmax(x.weights))
        U[lost, heaviest] = 1.0 / np.sqrt(x.weights[heaviest])
        return LowRank(U, x.weights)
    full: Any = dense(x)
    diagonal = np.diagonal(full).real
    lost = diagonal <= LOST
    root = np.sqrt(np.where(lost, 1.0, diagonal))
    repaired = full / np.multiply.outer(root, root)
    repaired[lost] = 0.0
    repaired[:, lost] = 0.0
    repaired[np.diag_indices(len(full))] = 1.0
    return np.asarray(repaired)
