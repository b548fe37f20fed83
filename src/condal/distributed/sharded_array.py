"""A rank's rows of a vector or a tall matrix that all ranks hold together.

What is done entry by entry, or row by row, is done by each rank on its own rows. What sums over the
rows - an inner product, a norm, a maximum - is summed over the ranks, too, and is the same number
on each. So a method that knows nothing of ranks runs on such arrays as it stands: it is the same
program, on each rank, and all of its decisions are taken by numbers that agree.

Nothing is done by halves: what has no meaning here (one entry by its number, a copy as a NumPy
array, a function that is not listed) raises a TypeError, instead of being wrong in silence.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from condal.distributed.team import Team
from condal.linalg.norms import stable_norm
from condal.linalg.points import Array

ROWWISE = (np.empty_like, np.zeros_like, np.ones_like, np.full_like, np.where, np.copy)


class ShardedArray(NDArrayOperatorsMixin):
    """The rows of this rank, `local`, of an array of as many rows as all ranks have."""

    __array_priority__ = 1000.0  # SciPy's sparse matrices look at it

    def __init__(self, local: Any, team: Team) -> None:
        self.local: Any = local
        self.team = team

    # What it looks like. The sizes are those of the rows that are here.

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the rows here."""
        return self.local.shape

    @property
    def size(self) -> int:
        """How many numbers are here."""
        return int(self.local.size)

    @property
    def ndim(self) -> int:
        """1 for a vector, 2 for a matrix."""
        return int(self.local.ndim)

    @property
    def dtype(self) -> Any:
        """That of the entries."""
        return self.local.dtype

    @property
    def summands(self) -> int:
        """How many roundings a sum over all rows takes at most: the longest of the ranks' own, and
        one for each rank."""
        return int(self.team.largest(self.size)) + self.team.size

    @property
    def T(self) -> Transposed:
        """Its transpose, for products with it."""
        return Transposed(self)

    @property
    def real(self) -> ShardedArray:
        """Its real part."""
        return self._with(self.local.real)

    def __len__(self) -> int:
        return len(self.local)

    def __repr__(self) -> str:
        return f"ShardedArray({self.shape} on rank {self.team.rank} of {self.team.size})"

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            "an ShardedArray array is on many ranks: no NumPy array holds it; see .local"
        )

    def __bool__(self) -> bool:
        raise TypeError("an ShardedArray array is neither true nor false: ask any() or all() of it")

    def __iter__(self) -> Any:
        raise TypeError(
            "the rows of an ShardedArray array are on many ranks: there is no going over them"
        )

    def copy(self) -> ShardedArray:
        """Another, of the same numbers."""
        return self._with(self.local.copy())

    def conj(self) -> ShardedArray:
        """Its complex conjugate."""
        return self._with(self.local.conj())

    def _with(self, local: Any) -> ShardedArray:
        return ShardedArray(local, self.team)

    # Rows of it.

    def __getitem__(self, index: Any) -> ShardedArray:
        return self._with(self.local[self._rows(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self.local[self._rows(index)] = self._local(value)

    def _rows(self, index: Any) -> Any:
        """The index, if it means the same on each rank: the rows by a slice or by a condition."""
        parts = index if isinstance(index, tuple) else (index,)
        rows = parts[0].local if isinstance(parts[0], ShardedArray) else parts[0]
        by_slice = isinstance(rows, slice)
        by_condition = isinstance(parts[0], ShardedArray) and rows.dtype == bool
        if not (by_slice or by_condition or rows is Ellipsis):
            raise TypeError(f"no rank knows the rows of an ShardedArray array by number: {index!r}")
        return (rows, *parts[1:]) if isinstance(index, tuple) else rows

    def _local(self, value: Any) -> Any:
        """The rows here of another, and what is the same for all rows as it is."""
        if isinstance(value, ShardedArray):
            return value.local
        if np.ndim(value) >= self.ndim and np.shape(value)[0] != 1:
            raise TypeError(
                f"a NumPy array of shape {np.shape(value)} cannot be combined with a ShardedArray: "
                "no rank owns its rows"
            )
        return value

    # What NumPy asks of it.

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **more: Any) -> Any:
        if ufunc is np.matmul and method == "__call__":
            return _product(*inputs, **more)
        if method != "__call__" or ufunc.signature is not None:
            raise TypeError(f"ShardedArray arrays know no {ufunc.__name__}.{method}")
        first = next(one for one in inputs if isinstance(one, ShardedArray))
        out = more.get("out", ())
        if any(not isinstance(one, ShardedArray) for one in out):
            raise TypeError(
                "what is made of an ShardedArray array cannot be written to one that is not"
            )
        if out:
            more["out"] = tuple(one.local for one in out)
        made = ufunc(*(first._local(one) for one in inputs), **more)
        return out[0] if out else self._with(made)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in FUNCTIONS:
            return FUNCTIONS[function](*args, **kwargs)
        if function not in ROWWISE:
            raise TypeError(f"ShardedArray arrays know no numpy.{function.__name__}")
        first = next(one for one in args if isinstance(one, ShardedArray))
        return first._with(function(*(first._local(one) for one in args), **kwargs))

    # Sums and the like, over all rows of all ranks, or over the columns of each row.

    def sum(self, axis: int | None = None) -> Any:
        """Of all entries, of each column (axis 0), or of each row (axis 1)."""
        return self._reduced(np.add, axis, 0.0)

    def max(self, axis: int | None = None, *, initial: float = -inf) -> Any:
        """The largest of them, and of `initial`."""
        return self._reduced(np.maximum, axis, initial)

    def min(self, axis: int | None = None, *, initial: float = inf) -> Any:
        """The smallest of them, and of `initial`."""
        return self._reduced(np.minimum, axis, initial)

    def any(self) -> bool:
        """Whether one of them holds."""
        return bool(self._reduced(np.logical_or, None, False))

    def all(self) -> bool:
        """Whether all of them hold."""
        return bool(self._reduced(np.logical_and, None, True))

    def _reduced(self, ufunc: Any, axis: int | None, initial: Any) -> Any:
        if axis is not None and axis % self.ndim == 1:
            return self._with(ufunc.reduce(self.local, axis=1, initial=initial))
        mine = ufunc.reduce(self.local, axis=axis, initial=initial)
        found = ufunc.reduce(np.array(self.team.gathered(mine)), axis=0)
        return found if np.ndim(found) else found.item()


class Transposed:
    """U', of rows U that many ranks hold: its products with others of as many rows."""

    def __init__(self, of: ShardedArray) -> None:
        self.T = of

    def __matmul__(self, other: Any) -> Array:
        if not isinstance(other, ShardedArray):
            raise TypeError(
                "the transpose of an ShardedArray array is multiplied by ShardedArray arrays alone"
            )
        return self.T.team.sums(self.T.local.T @ other.local)


def _product(a: Any, b: Any, **more: Any) -> Any:
    """a @ b: the inner product of two vectors, or rows by a small matrix that each rank has."""
    if more:
        raise TypeError("a product of ShardedArray arrays is written nowhere")
    if isinstance(a, ShardedArray) and isinstance(b, ShardedArray):
        if a.ndim != 1 or b.ndim != 1:
            raise TypeError(
                "two ShardedArray matrices have no product; that of one's transpose is a.T @ b"
            )
        return a.team.sum(float(a.local @ b.local))
    if isinstance(a, ShardedArray) and a.ndim == 2:
        return ShardedArray(a.local @ b, a.team)
    raise TypeError("an ShardedArray vector is multiplied by ShardedArray vectors alone")


def _norm(a: Any) -> float:
    """|a|."""
    if a.ndim != 1:
        raise TypeError("ShardedArray arrays know the norm of a vector alone")
    return stable_norm(a)


def _einsum(how: str, *arrays: ShardedArray) -> Any:
    """Sums over the rows, or over the columns."""
    local = np.einsum(how, *(one.local for one in arrays))
    if how == "ij,ij->j":
        return arrays[0].team.sums(local)
    if how == "ij,ij->i":
        return ShardedArray(local, arrays[0].team)
    raise TypeError(f"ShardedArray arrays know no einsum {how}")


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: lambda a, **more: a.sum(**more),
    np.max: lambda a, **more: a.max(**more),
    np.min: lambda a, **more: a.min(**more),
    np.any: lambda a: a.any(),
    np.all: lambda a: a.all(),
    np.vdot: lambda a, b: a @ b,
    np.linalg.norm: _norm,
    np.einsum: _einsum,
}
