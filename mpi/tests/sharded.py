"""Data whose rows are distributed over ranks, and errors that all ranks raise."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal.linalg.points import LowRank
from condal_mpi.sharded_array import ShardedArray


def random_weights(n: int, *, seed: int) -> Any:
    """Return a symmetric matrix with about six positive entries per row."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, 3 * n))
    half = sp.csr_array((rng.random(i.size), (i, j)), shape=(n, n))
    return sp.csr_array(half + half.T)


def own_rows(team: Any, matrix: Any) -> Any:
    """Return the rows of a sparse matrix that this rank owns."""
    begin, end = team.range(matrix.shape[0])
    return sp.csr_array(matrix[begin:end])


def own(team: Any, array: Any) -> Any:
    """Return the rows of an array that this rank owns."""
    begin, end = team.range(len(array))
    return array[begin:end].copy(order="K")


def sharded(team: Any, array: Any) -> Any:
    """Distribute the rows of an array over the ranks."""
    return ShardedArray(own(team, array), team)


def together(team: Any, array: ShardedArray) -> Any:
    """Return the rows of all ranks."""
    return np.concatenate(team.gathered(array.local))


def certified(team: Any, whole: Any, result: Any) -> Any:
    """Return what one process proves of the x and y of all ranks."""
    x = LowRank(together(team, result.x.U), result.x.weights)
    return condal.certify(whole, x, together(team, result.y))


@contextmanager
def refused_by_all(team: Any, kind: type[Exception], match: str) -> Iterator[None]:
    """All ranks raise one and the same error in the block."""
    with pytest.raises(kind, match=match) as caught:
        yield
    assert len(set(team.gathered(str(caught.value)))) == 1
