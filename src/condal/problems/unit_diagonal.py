"""{x psd : diag x = 1}, real or Hermitian: programs over it, and a repair of any psd x."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.linalg.blocked import weighted_squares
from condal.linalg.lifting import is_complex
from condal.linalg.points import Array, LowRank, Point, dense
from condal.maps.diagonal import Diagonal
from condal.problem import Problem
from condal.sets.boxes import Equal
from condal.types import Smooth

if TYPE_CHECKING:
    from condal.domains.lifted import Hermitian
    from condal.domains.spectral import Spectrahedron

MIN_DIAGONAL = 1e-300  # rows with a smaller diagonal entry count as zero


def unit_diagonal_program(
    f: Smooth,
    X: Spectrahedron | Hermitian,
    n: int,
    *,
    hermitian: bool = False,
    propose: Callable[[Point], tuple[Point, Array]] | None = None,
    name: str,
) -> Problem:
    """Return the problem: maximise f(x), diag x = 1, x in X = {x psd, n x n : tr x = n}."""
    return Problem.of(
        f=f,
        X=X,
        A=Diagonal(n, hermitian=hermitian),
        K=Equal(np.ones(n)),
        maximise=True,
        repair=unit_diagonal,
        propose=propose,
        name=name,
    )


def unit_diagonal(x: Point) -> Point:
    """D^(-1/2) x D^(-1/2) with D = diag x; a zero row becomes a unit vector."""
    if isinstance(x, LowRank):
        squares = weighted_squares(x.U.real, x.weights)
        if is_complex(x.U):
            squares += weighted_squares(x.U.imag, x.weights)
        diagonal = np.maximum(squares, 0.0)
        is_zero = diagonal <= MIN_DIAGONAL
        U = x.U / np.sqrt(np.where(is_zero, 1.0, diagonal))[:, None]
        U[is_zero] = 0.0
        heaviest = int(np.argmax(x.weights))
        U[is_zero, heaviest] = 1.0 / np.sqrt(x.weights[heaviest])
        return LowRank(U, x.weights)
    full: Any = dense(x)
    diagonal = np.diagonal(full).real
    is_zero = diagonal <= MIN_DIAGONAL
    root = np.sqrt(np.where(is_zero, 1.0, diagonal))
    repaired = full / np.multiply.outer(root, root)
    repaired[is_zero] = 0.0
    repaired[:, is_zero] = 0.0
    repaired[np.diag_indices(len(full))] = 1.0
    return np.asarray(repaired)
