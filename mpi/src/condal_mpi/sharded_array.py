"""Vectors and tall matrices whose rows are distributed over ranks.

Operations on entries or rows are done by each rank on its own rows. Sums over the rows (inner
products, norms, maxima) are also summed over the ranks, and give the same number on each. So a
method that knows nothing of ranks runs on such arrays unchanged: every rank runs the same program
and takes the same decisions.

What has no meaning here (an entry by its number, a conversion to a NumPy array, a function that is
not listed) raises a TypeError instead of giving a wrong result silently.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from condal.linalg.points import Array
from condal.linalg.rounding import stable_norm
from condal_mpi.team import Team

ROWS_PER_GENERATOR = 4096  # of random numbers
ROWWISE = (np.empty_like, np.zeros_like, np.ones_like, np.full_like, np.where, np.copy, np.repeat)


class ShardedArray(NDArrayOperatorsMixin):
    """This rank's rows of an array whose rows are distributed over the ranks.

    Parameters
    ----------
    local : ndarray
        The rows of this rank. `shape`, `size` and ``len`` are those of `local`.
    team : Team
        The ranks.
    """

    __array_priority__ = 1000.0  # SciPy's sparse matrices look at it

    def __init__(self, local: Any, team: Team) -> None:
        self.local: Any = local
        self.team = team

    # Its form; the sizes are those of the rows of this rank.

    @property
    def shape(self) -> tuple[int, ...]:
        return self.local.shape

    @property
    def size(self) -> int:
        return int(self.local.size)

    @property
    def ndim(self) -> int:
        return int(self.local.ndim)

    @property
    def dtype(self) -> Any:
        return self.local.dtype

    @property
    def summands(self) -> int:
        """The most roundings of a sum over all rows: those of a rank, and one per rank."""
        return int(self.team.largest(self.size)) + self.team.size

    @property
    def total(self) -> int:
        """The number of rows on all ranks."""
        return sum(self.team.gathered(len(self)))

    @property
    def T(self) -> Transposed:
        """The transpose, for products."""
        return Transposed(self)

    @property
    def real(self) -> ShardedArray:
        return self.with_local(self.local.real)

    def __len__(self) -> int:
        return len(self.local)

    def __repr__(self) -> str:
        return f"ShardedArray({self.shape} on rank {self.team.rank} of {self.team.size})"

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("a ShardedArray is on many ranks: no NumPy array holds it; see .local")

    def __bool__(self) -> bool:
        raise TypeError("a ShardedArray is neither true nor false: use any() or all()")

    def __iter__(self) -> Any:
        raise TypeError(
            "the rows of a ShardedArray are on many ranks: they cannot be iterated over"
        )

    def copy(self) -> ShardedArray:
        return self.with_local(self.local.copy())

    def astype(self, dtype: Any, *, copy: bool = True) -> ShardedArray:
        return self.with_local(self.local.astype(dtype, copy=copy))

    def conj(self) -> ShardedArray:
        return self.with_local(self.local.conj())

    def reshape(self, *shape: int) -> ShardedArray:
        """Return each rank's rows in another shape; the first number counts these rows."""
        return self.with_local(self.local.reshape(*shape))

    def with_local(self, local: Any) -> ShardedArray:
        """Return an array that is distributed in the same way."""
        return ShardedArray(local, self.team)

    def normals(self, seed: int | list[int], columns: int) -> ShardedArray:
        """Return standard normal numbers, some for each row, that do not depend on the ranks."""
        seeds = [seed] if isinstance(seed, int) else seed
        return normals(self.team, self.total, seed=seeds, columns=columns)

    # Its rows.

    def __getitem__(self, index: Any) -> ShardedArray:
        return self.with_local(self.local[self._rows(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self.local[self._rows(index)] = self._local(value)

    def _rows(self, index: Any) -> Any:
        """Return an index that means the same on each rank: a slice, a condition for the rows, or a
        sharded order of the rows of each rank."""
        parts = index if isinstance(index, tuple) else (index,)
        rows = parts[0].local if isinstance(parts[0], ShardedArray) else parts[0]
        by_slice = isinstance(rows, slice)
        by_rows = isinstance(parts[0], ShardedArray) and rows.dtype.kind in "bi"
        if not (by_slice or by_rows or rows is Ellipsis):
            raise TypeError(f"the rows of a ShardedArray cannot be selected by number: {index!r}")
        return (rows, *parts[1:]) if isinstance(index, tuple) else rows

    def _local(self, value: Any) -> Any:
        """Return the local rows of a ShardedArray; keep a value that is the same for all rows."""
        if isinstance(value, ShardedArray):
            return value.local
        if np.ndim(value) >= self.ndim and np.shape(value)[0] != 1:
            raise TypeError(
                f"a NumPy array of shape {np.shape(value)} cannot be combined with a ShardedArray: "
                "no rank owns its rows"
            )
        return value

    # NumPy's protocols.

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **more: Any) -> Any:
        if ufunc is np.matmul and method == "__call__":
            return _product(*inputs, **more)
        if method != "__call__" or ufunc.signature is not None:
            raise TypeError(f"ShardedArray does not support {ufunc.__name__}.{method}")
        first = next(array for array in inputs if isinstance(array, ShardedArray))
        out = more.get("out", ())
        if any(not isinstance(array, ShardedArray) for array in out):
            raise TypeError(
                "a result of ShardedArray operands cannot be written to another kind of array"
            )
        if out:
            more["out"] = tuple(array.local for array in out)
        local = ufunc(*(first._local(array) for array in inputs), **more)
        return out[0] if out else self.with_local(local)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in FUNCTIONS:
            return FUNCTIONS[function](*args, **kwargs)
        if function not in ROWWISE:
            raise TypeError(f"ShardedArray does not support numpy.{function.__name__}")
        first = next(array for array in args if isinstance(array, ShardedArray))
        return first.with_local(function(*(first._local(array) for array in args), **kwargs))

    # Reductions over all rows of all ranks, or over the columns of each row.

    def sum(self, axis: int | None = None) -> Any:
        """Sum all entries, each column (axis 0) or each row (axis 1)."""
        return self._reduced(np.add, axis, 0.0)

    def max(self, axis: int | None = None, *, initial: float = -inf) -> Any:
        """Return the largest entry, and at least `initial`; the axes are those of `sum`."""
        return self._reduced(np.maximum, axis, initial)

    def min(self, axis: int | None = None, *, initial: float = inf) -> Any:
        """Return the smallest entry, and at most `initial`; the axes are those of `sum`."""
        return self._reduced(np.minimum, axis, initial)

    def mean(self) -> float:
        """Return the mean of all entries."""
        count = self.team.sum(float(self.size))
        return float(self.sum()) / count

    def any(self) -> bool:
        """Whether any entry is true."""
        return bool(self._reduced(np.logical_or, None, False))

    def all(self) -> bool:
        """Whether all entries are true."""
        return bool(self._reduced(np.logical_and, None, True))

    def _reduced(self, ufunc: Any, axis: int | None, initial: Any) -> Any:
        if axis is not None and axis % self.ndim == 1:
            return self.with_local(ufunc.reduce(self.local, axis=1, initial=initial))
        own = ufunc.reduce(self.local, axis=axis, initial=initial)
        total = ufunc.reduce(np.array(self.team.gathered(own)), axis=0)
        return total if np.ndim(total) else total.item()


class Transposed:
    """U', for products with arrays that have the same distributed rows."""

    def __init__(self, of: ShardedArray) -> None:
        self.T = of

    def __matmul__(self, other: Any) -> Array:
        if not isinstance(other, ShardedArray):
            raise TypeError(
                "the transpose of a ShardedArray can only be multiplied by a ShardedArray"
            )
        return self.T.team.sums(self.T.local.T @ other.local)


def _product(a: Any, b: Any, **more: Any) -> Any:
    """a @ b: the inner product of two vectors, or rows times a small matrix that each rank has."""
    if more:
        raise TypeError("a product of ShardedArrays takes no out=")
    if isinstance(a, ShardedArray) and isinstance(b, ShardedArray):
        if a.ndim != 1 or b.ndim != 1:
            raise TypeError("two ShardedArray matrices cannot be multiplied; use a.T @ b")
        return a.team.sum(float(a.local @ b.local))
    if isinstance(a, ShardedArray) and a.ndim == 2:
        return ShardedArray(a.local @ b, a.team)
    raise TypeError("a ShardedArray vector can only be multiplied by ShardedArray vectors")


def _vdot(a: ShardedArray, b: ShardedArray) -> float:
    if a.ndim == 1:
        return float(a @ b)
    return a.team.sum(float(np.einsum("ij,ij->", a.local, b.local)))


def _norm(a: Any, axis: int | None = None) -> Any:
    if axis == 0 and a.ndim == 2:
        return np.sqrt(_einsum("ij,ij->j", a, a))
    if a.ndim == 2:
        return float(np.sqrt(_vdot(a, a)))
    return stable_norm(a)


def _einsum(subscripts: str, *arrays: ShardedArray) -> Any:
    team = arrays[0].team
    local = np.einsum(subscripts, *(array.local for array in arrays))
    if subscripts == "ij,ij->i":
        return ShardedArray(local, team)
    if subscripts == "ij,ij->j":
        return team.sums(local)
    if subscripts in ("ij,ij->", "i,ij,ij->"):
        return team.sum(float(local))
    raise TypeError(f"ShardedArray does not support einsum {subscripts}")


def _hstack(arrays: Any) -> ShardedArray:
    if any(not isinstance(array, ShardedArray) or array.ndim != 2 for array in arrays):
        raise TypeError("only matrices with the same distributed rows can be put side by side")
    return ShardedArray(np.hstack([array.local for array in arrays]), arrays[0].team)


def _qr(a: ShardedArray) -> tuple[ShardedArray, Array]:
    """Factor by QR each rank's rows, then the triangles of all ranks; the first rank's count."""
    local, triangle = np.linalg.qr(a.local)
    triangles = a.team.gathered(triangle)
    end = sum(map(len, triangles[: a.team.rank + 1]))
    columns, top = a.team.agreed(np.linalg.qr(np.vstack(triangles)))
    return ShardedArray(local @ columns[end - len(triangle) : end], a.team), top


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: lambda a, **more: a.sum(**more),
    np.max: lambda a, **more: a.max(**more),
    np.min: lambda a, **more: a.min(**more),
    np.any: lambda a: a.any(),
    np.all: lambda a: a.all(),
    np.vdot: _vdot,
    np.linalg.norm: _norm,
    np.linalg.qr: _qr,
    np.einsum: _einsum,
    np.hstack: _hstack,
}


def normals(team: Team, n: int, *, seed: list[int], columns: int | None = None) -> ShardedArray:
    """Return n standard normal numbers, or n rows of them, that do not depend on the ranks."""
    begin, end = team.range(n)
    width = () if columns is None else (columns,)
    local = np.empty((end - begin, *width))
    for block in range(begin // ROWS_PER_GENERATOR, -(-end // ROWS_PER_GENERATOR)):
        first = block * ROWS_PER_GENERATOR
        rows: Any = np.random.default_rng([*seed, block]).standard_normal(
            (ROWS_PER_GENERATOR, *width)
        )
        low, high = max(begin, first), min(end, first + ROWS_PER_GENERATOR)
        local[low - begin : high - begin] = rows[low - first : high - first]
    return ShardedArray(local, team)


def mix(words: Any) -> Any:
    """Apply a bijection of 64 bits in which each bit depends on all (Steele, Lea, Flood 2014)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
