"""Sparse arrays that SciPy 1.10 can build, which lacks `eye_array` and the like."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp


def identity(n: int, cols: int | None = None, *, k: int = 0) -> Any:
    """Return ones on the k-th diagonal of an n x cols matrix, which is square by default."""
    return sp.csr_array(sp.eye(n, cols, k))


def path_graph(n: int) -> Any:
    """Return the adjacency matrix of a path."""
    return sp.csr_array(sp.diags([1.0, 1.0], offsets=[-1, 1], shape=(n, n)))


def random_sparse(
    rng: np.random.Generator,
    shape: tuple[int, int],
    density: float,
    values: Callable[..., np.ndarray] | None = None,
) -> Any:
    """Return entries at random places, uniform in [0, 1) unless `values` draws them."""
    return sp.csr_array(sp.random(*shape, density, random_state=rng, data_rvs=values))
