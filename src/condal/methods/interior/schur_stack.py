"""The Schur complement of a stack of equal matrices: M_ij = sum_k <A_ik, X_k A_jk W_k>.

With X = L L' and W = K'K, M_ij is the inner product of L'A_i K' and L'A_j K', so that M is psd
whatever rounding does. Matrices with few rows go together, as dense arrays in a few products. Where
the A_i have low rank, u_a'X u_b and u_a'W u_b for the vectors u that make them up are cheaper yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices
from condal.methods.interior.schur import Schur, plan

ALONE = 2e5  # ns per matrix that goes alone, whatever its rows
MAX_NUMBERS = 2**21  # in dense rows or factors
GEMM = 0.03  # ns per operation of a large product
COPY = 1.0  # ns per number of dense rows
PAIR = 5.0  # ns per pair of rows or vectors
EIGEN = 10.0  # ns per cubed side of a spectrum
RANK_TOL = 1e-13  # of the largest eigenvalue
LOW_RANK = 5e4  # ns that low rank must save
MAX_SETUP = 5.0  # steps that the spectra of the rows may cost


class Rows(Protocol):
    """The rows of some matrices of a stack."""

    def add(self, M: Array, L: Array, K: Array) -> None:
        """M += (sum_k <A_ik, X_k A_jk W_k>)_ij, with X = L L' and W = K'K."""


@dataclass(frozen=True, eq=False)
class DenseRows:
    """The rows of some matrices of a stack as dense arrays, all padded to the same number.

    entries[k, p, j, q] is entry (p, q) of row j of matrix blocks[k], 0 for padding. `places` are
    the places of pairs of rows in M, None for all of M in order.
    """

    blocks: Indices
    entries: Array
    places: Indices | None

    def add(self, M: Array, L: Array, K: Array) -> None:
        """M += (sum_k <A_ik, X_k A_jk W_k>)_ij, with X = L L' and W = K'K."""
        count, n, width, _ = self.entries.shape
        L, K = _of_blocks(L, self.blocks), _of_blocks(K, self.blocks)
        image = L.swapaxes(1, 2) @ self.entries.reshape(count, n, width * n)
        image = image.reshape(count, n * width, n) @ K.swapaxes(1, 2)
        image = image.reshape(count, n, width, n).swapaxes(1, 2).reshape(count, width, n * n)
        _add_pairs(M, self.places, image @ image.swapaxes(1, 2))


@dataclass(frozen=True, eq=False)
class LowRankRows:
    """The rows of some matrices of a stack as sums of weights times u u'.

    The vectors u of matrix blocks[k] are the columns of vectors[k], padded by 0. `places` are the
    places of pairs of vectors in M, None for all of M in order, and `weights` the products of their
    weights.
    """

    blocks: Indices
    vectors: Array
    weights: Array
    places: Indices | None

    def add(self, M: Array, L: Array, K: Array) -> None:
        """M += (sum_k <A_ik, X_k A_jk W_k>)_ij, with X = L L' and W = K'K."""
        left = _of_blocks(L, self.blocks).swapaxes(1, 2) @ self.vectors
        right = _of_blocks(K, self.blocks) @ self.vectors
        pairs = left.swapaxes(1, 2) @ left
        pairs *= right.swapaxes(1, 2) @ right
        pairs *= self.weights
        _add_pairs(M, self.places, pairs)


@dataclass(frozen=True, eq=False)
class StackSchur:
    """The plan for a stack: groups of matrices, and each other matrix with a plan of its own."""

    groups: tuple[Rows, ...]
    alone: tuple[tuple[int, Schur], ...]

    @classmethod
    def of(cls, A: Any, n: int) -> StackSchur:
        """Plan for the CSR rows A of matrices of side n, each flattened and symmetric."""
        return _Stack(A, n).plan()

    def add_groups(self, M: Array, L: Array, K: Array) -> None:
        """M += (sum_k <A_ik, X_k A_jk W_k>)_ij over the groups, with X = L L' and W = K'K."""
        for rows in self.groups:
            rows.add(M, L, K)

    def add_alone(self, M: Array, X: Array, W: Array) -> None:
        """M += (sum_k <A_ik, X_k A_jk W_k>)_ij over the other matrices."""
        for k, schur in self.alone:
            schur.add(M, X[k], W[k])


class _Stack:
    """The entries of the rows: entry e is at (p, q) of matrix `block`, in the pair `pair`.

    A pair is a matrix and one of its rows.
    """

    def __init__(self, A: Any, n: int) -> None:
        self.A, self.n, self.m, self.count = A, n, A.shape[0], A.shape[1] // n**2
        owner = np.repeat(np.arange(self.m), np.diff(A.indptr))
        block, place = np.divmod(A.indices.astype(np.int64), n * n)
        pairs, self.pair = np.unique(block * self.m + owner, return_inverse=True)
        self.p, self.q = np.divmod(place, n)
        self.blocks, self.rows = np.divmod(pairs, max(self.m, 1))
        self.widths = np.bincount(self.blocks, minlength=self.count)

    def plan(self) -> StackSchur:
        """Return the cheapest plan."""
        costs = dense_nanoseconds(self.widths, self.n)
        dense = costs <= ALONE
        upper = np.bincount(self.pair[self.p <= self.q], minlength=self.blocks.size)
        for k in np.flatnonzero(~dense):
            alone = ALONE + plan(np.sort(upper[self.blocks == k]), self.n)[1]
            dense[k] = costs[k] <= alone and self.widths[k] * self.n**2 <= MAX_NUMBERS
            costs[k] = min(costs[k], alone) if dense[k] else alone
        low_rank = self._low_rank(float(costs.sum()))
        if low_rank is not None:
            return StackSchur(low_rank, ())
        chosen = dense[self.blocks]
        at = np.flatnonzero(chosen)
        groups = (self._dense(at[mine]) for mine in _alike(self.widths[self.blocks[at]]))
        return StackSchur(tuple(groups), tuple(map(self._alone, np.flatnonzero(~dense).tolist())))

    def _alone(self, k: int) -> tuple[int, Schur]:
        side = self.n**2
        A = self.A if self.count == 1 else sp.csr_array(self.A[:, k * side : (k + 1) * side])
        return k, Schur.of(A, self.n)

    def _dense(self, chosen: Indices) -> DenseRows:
        """The dense rows of some pairs, which are all pairs of their matrices."""
        blocks, place, inner = _padded(self.blocks[chosen])
        number = np.full(self.blocks.size, -1)
        number[chosen] = np.arange(chosen.size)
        mine = np.flatnonzero(number[self.pair] >= 0)
        of = number[self.pair[mine]]
        shape = (blocks.size, self.n, int(inner.max(initial=-1)) + 1, self.n)
        entries: Array = np.zeros(shape)
        entries[place[of], self.p[mine], inner[of], self.q[mine]] = self.A.data[mine]
        rows = np.zeros(shape[::2], dtype=np.int64)
        rows[place, inner] = self.rows[chosen]
        return DenseRows(blocks, entries, _places(rows, self.m))

    def _low_rank(self, limit: float) -> tuple[Rows, ...] | None:
        """The rows as sums of u u'; None if a step would not take less nanoseconds than `limit`."""
        n, index = self.n, self.pair * self.n
        support = np.unique(index + self.p)
        sizes = np.bincount(support // n, minlength=self.blocks.size)
        least = LOW_RANK + low_rank_nanoseconds(self.widths, n).sum()
        if least > limit or EIGEN * float((sizes**3.0).sum()) > MAX_SETUP * limit:
            return None
        inner = np.arange(support.size) - (np.cumsum(sizes) - sizes)[support // n]
        p, q = (inner[np.searchsorted(support, index + side)] for side in (self.p, self.q))
        pairs, values, vectors = [], [], []
        for size in np.unique(sizes):
            chosen = np.flatnonzero(sizes == size)
            number = np.full(sizes.size, -1)
            number[chosen] = np.arange(chosen.size)
            mine = np.flatnonzero(number[self.pair] >= 0)
            cores = np.zeros((chosen.size, size, size))
            cores[number[self.pair[mine]], p[mine], q[mine]] = self.A.data[mine]
            spectra, bases = np.linalg.eigh(cores)
            magnitudes = np.abs(spectra)
            k, a = np.nonzero(magnitudes > RANK_TOL * magnitudes.max(axis=1, keepdims=True))
            where = support[np.isin(support // n, chosen)].reshape(chosen.size, size) % n
            full = np.zeros((k.size, n))
            np.put_along_axis(full, where[k], bases[k, :, a], axis=1)
            pairs.append(chosen[k])
            values.append(spectra[k, a])
            vectors.append(full)
        pair, value, vector = (np.concatenate(part) for part in (pairs, values, vectors))
        order = np.argsort(pair, kind="stable")
        pair, value, vector = pair[order], value[order], vector[order]
        ranks = np.bincount(self.blocks[pair], minlength=self.count)
        if low_rank_nanoseconds(ranks, n).sum() > limit or vector.size > MAX_NUMBERS:
            return None
        groups = _alike(ranks[self.blocks[pair]])
        return tuple(self._sums(pair[at], value[at], vector[at]) for at in groups)

    def _sums(self, pair: Indices, value: Array, vector: Array) -> LowRankRows:
        """The sums of value u u' of some pairs, which are all pairs of their matrices."""
        blocks, place, inner = _padded(self.blocks[pair])
        shape = (blocks.size, int(inner.max(initial=-1)) + 1)
        vectors: Array = np.zeros((blocks.size, self.n, shape[1]))
        vectors[place, :, inner] = vector
        weights, rows = np.zeros(shape), np.zeros(shape, dtype=np.int64)
        weights[place, inner], rows[place, inner] = value, self.rows[pair]
        products = weights[:, :, None] * weights[:, None, :]
        return LowRankRows(blocks, vectors, products, _places(rows, self.m))


def schur_nanoseconds(counts: Indices, n: int) -> float:
    """Return about how many nanoseconds a matrix takes whose rows have so many entries."""
    dense = float(dense_nanoseconds(counts.size, n))
    if dense <= ALONE:
        return dense
    return min(dense, ALONE + plan(np.sort((counts + 1) // 2), n)[1])


def dense_nanoseconds(widths: Any, n: int) -> Any:
    """Return about how many nanoseconds matrices of so many rows take as dense arrays."""
    return ((2 * GEMM * (2.0 * n + widths) + COPY) * n**2 + PAIR * widths) * widths


def low_rank_nanoseconds(ranks: Any, n: int) -> Any:
    """Return about how many nanoseconds matrices whose rows have so many vectors take."""
    return (4 * GEMM * n * (n + ranks) + PAIR * ranks) * ranks


def _alike(widths: Indices) -> list[Indices]:
    """Groups of items whose widths differ by at most a factor of 2."""
    classes = np.frexp(widths)[1]
    return [np.flatnonzero(classes == c) for c in np.unique(classes)]


def _padded(blocks: Indices) -> tuple[Indices, Indices, Indices]:
    """The distinct blocks, which come in order, and the place of each item: its block, and rank."""
    distinct, first, place = np.unique(blocks, return_index=True, return_inverse=True)
    return distinct, place, np.arange(blocks.size) - first[place]


def _places(rows: Indices, m: int) -> Indices | None:
    """The places in M of the pairs of the rows of each block; None for all of M in order."""
    if np.array_equal(rows, np.arange(m)[None]):
        return None
    return np.asarray(m * rows[:, :, None] + rows[:, None, :]).ravel()


def _of_blocks(stack: Array, blocks: Indices) -> Array:
    return stack if blocks.size == len(stack) else stack[blocks]


def _add_pairs(M: Array, places: Indices | None, pairs: Array) -> None:
    """Add the pairs to M at their places; padding adds 0."""
    if places is None:
        M += pairs[0]
    else:
        np.add.at(M.reshape(-1), places, pairs.ravel())
