"""What is true of whatever a reader gives, and whether two such things are the same."""

import contextlib
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

import condal
from condal.certificates.history import History
from condal.io.formats.answers import SdpaSolution
from condal.problems.conic.files import SdpaProblem


def graph(W: Any) -> None:
    """W = W^T, finite, canonical, with no zeros stored."""
    assert isinstance(W, sp.csr_array)
    assert W.shape[0] == W.shape[1] >= 1
    assert W.dtype == np.float64
    assert W.has_canonical_format
    assert np.isfinite(W.data).all()
    assert W.data.all()
    assert W.indices.size == 0 or 0 <= W.indices.min() <= W.indices.max() < W.shape[0]
    assert (W - W.T.tocsr()).nnz == 0


def same_graph(one: Any, other: Any) -> bool:
    return one.shape == other.shape and (one != other).nnz == 0


def edge_list(found: Any) -> None:
    graph(found.W)
    assert found.labels.shape == found.W.shape[:1]
    assert (np.diff(found.labels) > 0).all()


def pose_graph(found: Any) -> None:
    """Rotations, positive weights, and a vertex for each number of the file."""
    measured = found.measurements
    assert len(found.ids) == measured.edges.max() + 1
    assert len(found.edge_lines) == len(measured.edges)
    assert list(found.ids) == sorted(set(found.ids))
    for array in (measured.rotations, measured.translations, measured.kappa, measured.tau):
        assert np.isfinite(array).all()
    assert (measured.kappa > 0).all()
    assert (measured.tau > 0).all()


def sdpa(found: Any) -> None:
    assert isinstance(found, SdpaProblem)  # which checks itself as it is made
    with contextlib.suppress(condal.ProblemError):  # of numbers of which the square is none
        assert found.program.A.shape[0] == found.b.size


def same_sdpa(one: Any, other: Any) -> bool:
    parts = ("b", "matrices", "blocks", "rows", "cols", "values")
    return one.sizes == other.sizes and all(
        np.array_equal(getattr(one, part), getattr(other, part)) for part in parts
    )


def solution(found: Any) -> None:
    assert isinstance(found, SdpaSolution)
    for part in (found.z, *found.X):
        assert np.isfinite(np.asarray(part)).all()


def same_solution(one: Any, other: Any) -> bool:
    pairs = zip((one.z, *one.X), (other.z, *other.X), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def program(found: Any) -> None:
    length = sum(block.length for block in found.blocks)
    assert found.A.shape == (found.b.size, length)
    for values in (found.A.data, found.b, found.c.data):
        assert np.isfinite(values).all()


def array(found: Any) -> None:
    assert isinstance(found, np.ndarray)
    assert found.dtype.kind in "biufc"
    assert np.isfinite(found).all()


def arrays(found: Any) -> None:
    for one in found.values():
        array(one)


def table(found: Any) -> None:
    array(found.values)
    assert found.values.ndim == 2
    assert found.values.size
    assert found.names is None or len(found.names) == found.values.shape[1]


def points(found: Any) -> None:
    array(found)
    assert found.dtype == np.float64
    assert found.ndim == 2
    assert found.size


def ratings(found: Any) -> None:
    assert np.isfinite(found.values).all()
    for places, names, side in (
        (found.rows, found.row_names, found.shape[0]),
        (found.cols, found.col_names, found.shape[1]),
    ):
        assert len(names) == side
        assert places.shape == found.values.shape
        assert places.size == 0 or 0 <= places.min() <= places.max() < side


def qaplib(found: Any) -> None:
    assert found.A.shape == found.B.shape == (found.n, found.n)
    assert np.isfinite(found.A).all()
    assert np.isfinite(found.B).all()


def permutation(found: Any) -> None:
    assert np.isfinite(found.cost)
    assert sorted(found.permutation.tolist()) == list(range(found.permutation.size))


def saved(found: Any) -> None:
    assert isinstance(found.result.status, condal.Status)
    assert found.result.y.dtype == np.float64
    repr(found.result)


def alike(one: Any, other: Any) -> bool:
    """Whether two things that were read are the same, to the last digit."""
    if sp.issparse(one):
        return same_graph(one, other)
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
    if isinstance(one, tuple | list | History):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if is_dataclass(one):
        # Not where they were read from.
        names = [part.name for part in fields(one) if part.name not in ("text", "begin", "name")]
        return all(alike(getattr(one, name), getattr(other, name)) for name in names)
    return bool(one == other or one != one)
