"""{x psd : diag x = 1}, real or Hermitian: programs over it, and a repair of any psd x."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from condal.linalg.points import Array, Point, with_diagonal
from condal.maps.matrices import Diagonal
from condal.problem import Problem
from condal.sets.boxes import Equal
from condal.types import Smooth

if TYPE_CHECKING:
    from condal.domains.lifted import Hermitian
    from condal.domains.spectral import Spectrahedron


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
    return with_diagonal(x, 1.0)
