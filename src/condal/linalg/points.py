"""Points of a domain: arrays, low-rank matrices and tuples of these.

The rows of an array may be distributed over ranks: it then has those of its rank as `local`, and
makes arrays with the same distribution. Most code needs not know, as operations on rows and sums
over them are the same for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from condal.linalg.blocked import weighted_squares

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]

ENTRIES_PER_BLOCK = 2**14  # of an Outer, computed together
ZERO_EIGENVALUE = 1e-14  # of the largest eigenvalue: smaller ones are rounding
MIN_DIAGONAL = 1e-300  # rows with a smaller diagonal entry count as zero


@dataclass(frozen=True, eq=False)
class LowRank:
    r"""A symmetric n x n matrix of rank at most r, :math:`x = U \mathrm{diag}(w) U^T`.

    Parameters
    ----------
    U : ndarray of shape (n, r)
        The factor; complex in a result over Hermitian matrices, where
        :math:`x = U \mathrm{diag}(w) U^*`.
    weights : ndarray of shape (r,)
        The weights w.

    Examples
    --------
    >>> import numpy as np
    >>> from condal import LowRank
    >>> np.asarray(LowRank(np.ones((2, 1)), np.array([3.0])))
    array([[3., 3.],
           [3., 3.]])
    """

    U: Any
    weights: Array

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return (self.U.shape[0], self.U.shape[0])

    @property
    def rank(self) -> int:
        """r, the number of columns: an upper bound on the rank of x."""
        return int(self.U.shape[1])

    @property
    def trace(self) -> float:
        """tr x."""
        return float(self.weights @ np.einsum("ij,ij->j", self.U, self.U.conj()).real)

    def factor(self) -> Any:
        """Return R with x = R R' (or R R*); negative weights count as 0."""
        return self.U * np.sqrt(np.maximum(self.weights, 0.0))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray((self.U * self.weights) @ self.U.conj().T, dtype=dtype)

    def __repr__(self) -> str:
        if not isinstance(self.U, np.ndarray):  # sharded: the trace is a sum over all ranks
            return f"LowRank({self.U!r}, rank<={self.rank})"
        return f"LowRank(n={self.U.shape[0]}, rank<={self.rank}, trace={self.trace:.6g})"


@dataclass(frozen=True, eq=False)
class Outer:
    r"""An m x n matrix of rank at most r, :math:`x = U \mathrm{diag}(w) V^T`.

    Results over rectangular matrices have this form.

    Parameters
    ----------
    U : ndarray of shape (m, r)
        The left factor.
    weights : ndarray of shape (r,)
        The weights w.
    V : ndarray of shape (n, r)
        The right factor.
    """

    U: Array
    weights: Array
    V: Array

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n)."""
        return (self.U.shape[0], self.V.shape[0])

    @property
    def rank(self) -> int:
        """r, the number of columns: an upper bound on the rank of x."""
        return int(self.weights.size)

    def entries(self, rows: Any, cols: Any) -> Array:
        """Return x[rows_k, cols_k] for all k without forming x."""
        rows, cols = np.asarray(rows), np.asarray(cols)
        out = np.empty(rows.size)
        for k in range(0, out.size, ENTRIES_PER_BLOCK):
            block = slice(k, k + ENTRIES_PER_BLOCK)
            i, j = rows.ravel()[block], cols.ravel()[block]
            out[block] = np.einsum("kr,r,kr->k", self.U[i], self.weights, self.V[j])
        return out.reshape(rows.shape)

    def singular_values(self) -> Array:
        """Return the singular values of x in descending order."""
        left, right = np.linalg.qr(self.U)[1], np.linalg.qr(self.V)[1]
        return np.linalg.svd((left * self.weights) @ right.T, compute_uv=False)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray((self.U * self.weights) @ self.V.T, dtype=dtype)

    def __repr__(self) -> str:
        return f"Outer({self.shape[0]} x {self.shape[1]}, rank<={self.rank})"


Point: TypeAlias = Array | LowRank | tuple["Point", ...]


def dense(x: Point) -> Any:
    """Return x as a NumPy array (n x n for a LowRank), or as a tuple of arrays.

    Parameters
    ----------
    x : Point
        An array, a LowRank, an Outer or a tuple of these.

    Returns
    -------
    ndarray or tuple of ndarray
        The entries of x.
    """
    if isinstance(x, tuple):
        return tuple(dense(block) for block in x)
    return np.asarray(x)


def principal_axes(x: Any) -> tuple[Array, Array]:
    """Return the eigenvectors of a psd x and the roots of its eigenvalues, the largest first.

    Those that are rounding are left out.
    """
    if isinstance(x, LowRank):
        axes, roots, _ = np.linalg.svd(x.factor(), full_matrices=False)
    else:
        values, axes = np.linalg.eigh(dense(x))
        axes, roots = axes[:, ::-1], np.sqrt(np.maximum(values[::-1], 0.0))
    large = roots**2 > ZERO_EIGENVALUE * roots.max(initial=0.0) ** 2
    return np.asarray(axes[:, large]), roots[large]


def symmetric_product(U: Array, V: Array) -> LowRank:
    """Return U V' + V U' = ((U + V)(U + V)' - (U - V)(U - V)')/2."""
    half = np.full(U.shape[1], 0.5)
    return LowRank(np.hstack([U + V, U - V]), np.concatenate([half, -half]))


def combine(points: Sequence[Point], weights: Array) -> Point:
    """Return sum_i weights_i points_i."""
    first = points[0]
    if isinstance(first, tuple):
        blocks = zip(*(p for p in points if isinstance(p, tuple)), strict=True)
        return tuple(combine(list(block), weights) for block in blocks)
    lowrank = [p for p in points if isinstance(p, LowRank)]
    if len(lowrank) == len(points):
        scaled = [w * p.weights for w, p in zip(weights, lowrank, strict=True)]
        return LowRank(np.hstack([p.U for p in lowrank]), np.concatenate(scaled))
    return np.asarray(np.tensordot(weights, np.stack([dense(p) for p in points]), axes=1))


def inner(x: Point, z: Point) -> float:
    """Return <x, z>."""
    if isinstance(x, tuple) and isinstance(z, tuple):
        return sum(inner(p, q) for p, q in zip(x, z, strict=True))
    return float(np.vdot(dense(x), dense(z)))


def zero_like(x: Point) -> Point:
    """Return 0 in the space of x."""
    if isinstance(x, tuple):
        return tuple(zero_like(block) for block in x)
    if isinstance(x, LowRank):
        return LowRank(x.U[:, :0], x.weights[:0])
    return np.zeros_like(x)


def local_rows(a: Array) -> Array:
    """Return the rows of an array that this process has."""
    local: Array = getattr(a, "local", a)
    return local


def with_rows(like: Any, local: Array) -> Array:
    """Return the array with these rows in this process, distributed as `like` is."""
    make = getattr(like, "with_local", None)
    array: Array = local if make is None else make(local)
    return array


def total_rows(a: Array) -> int:
    """Return the number of rows on all ranks together."""
    return int(getattr(a, "total", len(a)))


def normals_like(a: Array, seed: Any, columns: int) -> Array:
    """Return standard normal numbers, `columns` for each row of a, whoever has it."""
    make = getattr(a, "normals", None)
    if make is not None:
        sharded: Array = make(seed, columns)
        return sharded
    return np.random.default_rng(seed).standard_normal((len(a), columns))


def with_diagonal(x: Point, d: Array | float) -> Point:
    """Return S x S with the diagonal d >= 0, S diagonal; a zero row becomes one of its own."""
    if isinstance(x, LowRank):
        squares = weighted_squares(x.U.real, x.weights)
        if x.U.dtype.kind == "c":
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
