"""Sparse symmetric matrices whose rows are owned by ranks."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.linalg.rounding import stable_norm
from condal.linalg.sparse import gathered_product, gathers, index_type
from condal.linalg.symmetric import MIN_REORDERED_SIDE
from condal.linalg.terms import DiagonalTerm, SparseTerm, Term
from condal.runtime.arguments import unpredictable_seed
from condal_mpi.halo import with_halo
from condal_mpi.sharded_array import ShardedArray, normals
from condal_mpi.team import Team

if TYPE_CHECKING:
    from condal_mpi.sweeps import DistributedSweeps

SYMMETRY_TOLERANCE = 1e-12  # relative difference of two sums of the same numbers


class ShardedRows:
    """C, n x n, or a multiple of it: each rank holds its own rows.

    `block` is the rows of this rank as a CSR array of n columns. They are stored with the columns
    of this rank first and then those of the halo, so one product follows each fetch: with few
    entries in a row, to pass over the rows twice takes longer than the communication that it hides.
    Products read vectors from memory of the node; see `NodeRows`.
    """

    def __init__(self, block: Any, team: Team) -> None:
        own, self.halo = with_halo(block, team)
        data = np.asarray(own.data, np.float64)
        self.own = sp.csr_array((data, own.indices, own.indptr), shape=own.shape)
        self.own.sort_indices()
        self.n, self.team, self.factor = int(block.shape[1]), team, 1.0
        self._derived: dict[str, Any] = {}  # of the entries without the factor
        self._pattern: dict[str, Any] = {}  # of their places, which other entries may share

    @property
    def nnz(self) -> int:
        """The number of entries of this rank."""
        return int(self.own.nnz)

    @property
    def norm(self) -> float:
        """|C|_F."""
        norms = np.array(self.team.gathered(stable_norm(self.own.data)))
        return abs(self.factor) * stable_norm(norms)

    def diagonal(self) -> ShardedArray:
        """Return diag C."""
        return ShardedArray(self.factor * self.own.diagonal(), self.team)

    def entries(self) -> tuple[Indices, Indices, Array]:
        """Return the rows, columns and values of this rank's entries of C without the factor."""
        begin, end = self.team.range(self.n)
        rows = np.repeat(np.arange(begin, end), np.diff(self.own.indptr))
        return rows, self.halo.columns[self.own.indices], self.own.data

    def __rmul__(self, c: float) -> ShardedRows:
        """Return c C, which shares the entries of C."""
        scaled = copy(self)
        scaled.factor = c * self.factor
        return scaled

    def __abs__(self) -> ShardedRows:
        """Return |C|, entry by entry."""
        return self.with_data(np.abs(self.factor * self.own.data))

    def with_data(self, data: Array) -> ShardedRows:
        """Return the matrix with these entries of this rank in the places of those of C."""
        new = copy(self)
        new.own = sp.csr_array((data, self.own.indices, self.own.indptr), self.own.shape)
        new.own.has_sorted_indices = True
        new.factor, new._derived = 1.0, {"reordered": None}
        return new

    def shares_pattern(self, other: ShardedRows) -> bool:
        """Whether the entries of both are in the same places: one was made from the other."""
        return self.halo is other.halo

    def __add__(self, other: ShardedRows) -> ShardedRows:
        """Return the sum with a matrix of the same pattern."""
        return self.with_data(self.factor * self.own.data + other.factor * other.own.data)

    def congruent(self, root: ShardedArray) -> ShardedRows:
        """Return Diag(root) C Diag(root)."""
        scaled, ordered = self._congruent(root), self.reordered()
        if ordered is not None:
            rows, order = ordered
            scaled._derived["reordered"] = rows._congruent(root[order]), order
        return scaled

    def _congruent(self, root: ShardedArray) -> ShardedRows:
        """Return the same without the order of its rows."""
        rows, columns = np.repeat(root.local, np.diff(self.own.indptr)), self.halo(root.local)
        return self.with_data(self.factor * self.own.data * (rows * columns[self.own.indices]))

    def __matmul__(self, v: ShardedArray) -> ShardedArray:
        """Return C v, for a vector or a block of vectors."""
        entries, rows = self.own, v.local
        if self.team.size > 1:
            entries = self._on_node()
            rows = self.halo.fetch(rows) if rows.ndim == 1 else self.halo.fetch_rows(rows)
        out = gathered_product(entries, rows) if gathers(entries, rows) else entries @ rows
        if self.factor != 1.0:
            out *= self.factor
        return ShardedArray(out, self.team)

    def _on_node(self) -> Any:
        """The entries for products with rows of the node, in the order in which they are stored."""
        if "on node" not in self._derived:
            if "indices" not in self._pattern:
                index = self.halo.on_node.index
                kind = index_type(max(self.halo.on_node.size, self.own.nnz))
                self._pattern["indices"] = index.astype(kind)[self.own.indices]
            shape = self.own.shape[0], self.halo.on_node.size
            parts = self.own.data, self._pattern["indices"], self.own.indptr
            self._derived["on node"] = sp.csr_array(parts, shape=shape)
        return self._derived["on node"]

    def reordered(self) -> tuple[ShardedRows, ShardedArray] | None:
        """Return C with the rows of each rank in an order that brings neighbours together, and this
        order; None where that would not help."""
        if "reordered" not in self._derived:
            self._derived["reordered"] = self._reordered()
        if self._derived["reordered"] is None:
            return None
        rows, order = self._derived["reordered"]
        return self.factor * rows, order

    def _reordered(self) -> tuple[ShardedRows, ShardedArray] | None:
        own, (begin, end) = self.own, self.team.range(self.n)
        if self.n // self.team.size < MIN_REORDERED_SIDE:
            return None
        order = local_order(own)
        numbers = np.empty_like(order)
        numbers[order] = np.arange(begin, end)
        columns = self.halo(numbers)[own.indices]
        rows = sp.csr_array((own.data, columns, own.indptr), (end - begin, self.n))
        return ShardedRows(sp.csr_array(rows[order]), self.team), ShardedArray(order, self.team)

    def sweeps(self, squares: ShardedArray) -> DistributedSweeps | None:
        """Return the sweeps over the rows of a factor; see `Sweeps.of`."""
        from condal_mpi.sweeps import DistributedSweeps

        return DistributedSweeps.of(self, squares)


def local_order(own: Any) -> Indices:
    """Return the order of the rows of a rank that brings neighbours together."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    rows = own.shape[0]
    square = sp.csr_matrix(own[:, :rows]) if own.shape[1] > rows else sp.csr_matrix(own)
    return reverse_cuthill_mckee(square, symmetric_mode=True).astype(np.int64)


class ShardedTerm(SparseTerm):
    """A matrix of `ShardedRows`: no process assembles it."""

    is_sparse = False

    @property
    def team(self) -> Team:
        """The ranks."""
        team: Team = self.matrix.team
        return team

    @property
    def norm(self) -> float:
        """The Frobenius norm."""
        return float(self.matrix.norm)

    def add_dense(self, out: Array | None) -> Array:
        raise TypeError("the rows of this matrix are on many ranks: no array holds it")

    def diagonal(self) -> Array:
        diagonal: Any = self.matrix.diagonal()
        return diagonal

    def absolute_product(self, v: Array) -> Array:
        product: Any = abs(self.matrix) @ v
        return product

    def summands(self) -> Any:
        return ShardedArray(np.diff(self.matrix.own.indptr), self.team)

    def arrays(self) -> Iterable[Array]:
        return (self.matrix.own.data,)

    def scaled(self, c: float) -> ShardedTerm:
        return ShardedTerm(c * self.matrix)

    def plus(self, other: Term) -> ShardedTerm | None:
        """Return the sum of two matrices of one pattern: its product fetches vectors once."""
        if isinstance(other, ShardedTerm) and self.matrix.shares_pattern(other.matrix):
            return ShardedTerm(self.matrix + other.matrix)
        return None

    def congruent(self, root: Any) -> ShardedTerm:
        return ShardedTerm(self.matrix.congruent(root))

    def reordered(self, terms: Iterable[Term]) -> tuple[list[Term], Any] | None:
        others = [term for term in terms if term is not self]
        ordered = self.matrix.reordered()
        if ordered is None or not all(isinstance(term, DiagonalTerm) for term in others):
            return None
        rows, order = ordered
        moved = [DiagonalTerm(term.d[order]) for term in others if isinstance(term, DiagonalTerm)]
        return [ShardedTerm(rows), *moved], order


def require_symmetric(C: ShardedRows, name: str, whole: str) -> None:
    """Raise ProblemError on all ranks unless u'Cv = v'Cu for two random vectors.

    The test fails if ranks were given rows of different matrices, or rows in a different order. The
    message calls C, or what it is made of, by `name`, and the data by `whole`.
    """
    seed = C.team.agreed(unpredictable_seed())  # no matrix may be made to pass
    u, v = (normals(C.team, C.n, seed=[which, seed]) for which in (1, 2))
    Cu, Cv = C @ u, C @ v
    sizes = float(np.linalg.norm(u) * np.linalg.norm(Cv) + np.linalg.norm(v) * np.linalg.norm(Cu))
    if not abs(u @ Cv - v @ Cu) <= SYMMETRY_TOLERANCE * sizes:
        raise ProblemError(
            f"the rows of the ranks do not form a symmetric {name}: was each rank given its rows "
            f"of the same {whole}?"
        )
