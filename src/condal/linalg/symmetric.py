r"""Symmetric operators: the gradients on spaces of symmetric matrices.

A gradient of a spectral domain is mostly multiplied by vectors. It is stored as the terms that the
maps produce, so a product costs what its terms cost. Proofs of eigenvalue bounds assemble the terms
into one matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from functools import cached_property, partial
from math import inf, sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices, LowRank
from condal.linalg.rounding import TINY, UNIT_ROUNDOFF
from condal.linalg.terms import (
    DiagonalTerm,
    GramTerm,
    OperatorTerm,
    PairTerm,
    SparseTerm,
    Term,
)
from condal.linalg.triangles import DenseTerm, LowerTerm
from condal.runtime.meter import PRODUCT_FLOPS, spend

LEAST_WEIGHT = 1e-3  # of p in `product_error`, to the largest
MIN_REORDERED_SIDE = 50_000  # a vector of this length no longer fits in the cache


class Symmetric:
    r"""A symmetric operator, stored as a sum of terms.

    .. math:: V = \sum_i S_i + \mathrm{Diag}(d) + D + \sum_j \tfrac12 (a_j b_j^T + b_j a_j^T)
              + \sum_k G_k^T \mathrm{Diag}(w_k) G_k + \sum_l O_l

    Parameters
    ----------
    n : int
        The side of V.
    terms : iterable of Term, optional
        Terms of another operator.
    sparse : iterable of sparse matrix, optional
        The symmetric matrices :math:`S_i`.
    diagonal : ndarray of shape (n,), optional
        The vector d.
    dense : ndarray of shape (n, n), optional
        The symmetric matrix D.
    lower : ndarray of shape (n, n), optional
        A dense symmetric matrix that is read only on and below its diagonal blocks of 32 rows.
    pairs : sequence of (ndarray, ndarray), optional
        The pairs of vectors :math:`(a_j, b_j)`.
    grams : iterable of (matrix, ndarray), optional
        The pairs :math:`(G_k, w_k)` of a p x n matrix, dense or CSR, and p weights. The product
        is never multiplied out.
    operators : iterable of LinearOperator, optional
        The matrix-free terms :math:`O_l`.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.operators import Symmetric
    >>> V = Symmetric(2, diagonal=np.array([1.0, 2.0]), pairs=[(np.ones(2), np.ones(2))])
    >>> V @ np.array([1.0, 0.0])
    array([2., 1.])
    """

    def __init__(
        self,
        n: int,
        terms: Iterable[Term] = (),
        *,
        sparse: Iterable[Any] = (),
        diagonal: Array | None = None,
        dense: Array | None = None,
        lower: Array | None = None,
        pairs: Iterable[tuple[Array, Array]] = (),
        grams: Iterable[tuple[Any, Array]] = (),
        operators: Iterable[Any] = (),
    ) -> None:
        every = [*terms, *map(SparseTerm, sparse)]
        if diagonal is not None:
            every.append(DiagonalTerm(diagonal))
        if dense is not None:
            every.append(DenseTerm(dense))
        if lower is not None:
            every.append(LowerTerm(lower))
        every += [PairTerm((pair,)) for pair in pairs]
        every += [GramTerm(a, w) for a, w in grams]
        every += map(OperatorTerm, operators)
        self.n = n
        self.terms = _combined(every)

    def __repr__(self) -> str:
        return f"Symmetric({self.n}, {', '.join(type(term).__name__ for term in self.terms)})"

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return (self.n, self.n)

    @property
    def sparse(self) -> tuple[Any, ...]:
        """The sparse matrices."""
        return tuple(term.matrix for term in self.terms if isinstance(term, SparseTerm))

    @property
    def diagonal(self) -> Array | None:
        """The vector d of the diagonal term, if there is one."""
        return next((term.d for term in self.terms if isinstance(term, DiagonalTerm)), None)

    @property
    def dense(self) -> Array | None:
        """The dense matrix, if there is one with both triangles."""
        return next((term.matrix for term in self.terms if type(term) is DenseTerm), None)

    @property
    def pairs(self) -> tuple[tuple[Array, Array], ...]:
        """The pairs of vectors."""
        return next((term.pairs for term in self.terms if isinstance(term, PairTerm)), ())

    @property
    def operators(self) -> tuple[Any, ...]:
        """The matrix-free terms."""
        return tuple(term.operator for term in self.terms if isinstance(term, OperatorTerm))

    @property
    def matrix_free(self) -> bool:
        """Whether entries of V are unknown."""
        return not all(term.has_entries for term in self.terms)

    @property
    def has_dense(self) -> bool:
        """Whether V has a dense term."""
        return any(isinstance(term, DenseTerm) for term in self.terms)

    @property
    def factorable(self) -> bool:
        """Whether V is sparse plus diagonal, so a sparse factorisation may be tried."""
        return all(term.is_sparse for term in self.terms)

    @cached_property
    def entries(self) -> int:
        """The stored numbers of the sparse, diagonal and dense terms, or n if there are none."""
        stored = [term.matrix.nnz for term in self.terms if isinstance(term, SparseTerm)]
        full = sum(isinstance(term, DenseTerm) for term in self.terms)
        return max(sum(stored) + full * self.n**2, self.n)

    def __matmul__(self, v: Array) -> Array:
        """Return V v for a vector or a block of vectors."""
        if v.size == 0:
            return np.zeros_like(v)
        columns = 1 if v.ndim == 1 else v.shape[1]
        spend(self.flops * columns, columns)
        return self._sum_of_products(v)

    @property
    def flops(self) -> float:
        """The work of a product with a vector."""
        return PRODUCT_FLOPS * self.entries

    @property
    def product(self) -> Callable[[Array], Array]:
        """The map from v to V v that leaves the count of its work to the caller."""
        if len(self.terms) == 1:
            return partial(self.terms[0].add_product, None)
        return self._sum_of_products

    def _sum_of_products(self, v: Array) -> Array:
        out: Array | None = None
        for term in self.terms:
            out = term.add_product(out, v)
        return np.zeros_like(v) if out is None else out

    def __add__(self, other: Symmetric) -> Symmetric:
        require_same_space(self.shape, other.shape)
        return Symmetric(self.n, self.terms + other.terms)

    def scaled(self, c: float) -> Symmetric:
        """Return c V."""
        return self if c == 1.0 else Symmetric(self.n, [term.scaled(c) for term in self.terms])

    def map_operators(self, wrap: Callable[[Any], Any]) -> Symmetric:
        """Return V with each matrix-free operator replaced by `wrap` of it."""
        if not self.operators:
            return self
        rest = [term for term in self.terms if not isinstance(term, OperatorTerm)]
        return self._with_terms([*rest, *(OperatorTerm(wrap(op)) for op in self.operators)])

    def explicit(self) -> Symmetric:
        """Return V with its operators multiplied out: the entries of every term are known."""
        if not self.operators:
            return self
        return self._with_terms([term.explicit() for term in self.terms])

    def _with_terms(self, terms: Iterable[Term]) -> Symmetric:
        """Return an operator of the same class with other terms."""
        new = copy(self)
        new.terms = _combined(terms)
        new.__dict__.pop("entries", None)  # of the terms before
        return new

    def quadratic(self, x: LowRank | Array) -> float:
        """Return <V, x>."""
        if isinstance(x, LowRank) and x.rank == 1:
            return float(x.weights[0] * (x.U[:, 0] @ (self @ x.U[:, 0])))
        if isinstance(x, LowRank):
            return float(x.weights @ np.einsum("ij,ij->j", x.U, self @ x.U))
        return float(np.trace(self @ x))

    def to_sparse(self) -> Any:
        """Return V as a CSC array; V must be `factorable`."""
        total = sp.csc_array((self.n, self.n), dtype=np.float64)
        for term in self.terms:
            assert isinstance(term, SparseTerm | DiagonalTerm)
            total = total + term.to_sparse()
        return sp.csc_array(total)

    def to_dense(self) -> Array:
        """Return V as an n x n array, a copy."""
        total: Array | None = None
        for term in self.terms:
            total = term.add_dense(total)
        return np.zeros(self.shape) if total is None else total

    def merged(self) -> Symmetric:
        """Return V with its sparse and diagonal terms as one matrix: a product is one pass."""
        light = [term for term in self.terms if term.is_sparse]
        if len(light) < 2:
            return self
        rest = [term for term in self.terms if not term.is_sparse]
        total: Any = None  # of rows from the start: the detour of `to_sparse` takes longer
        for term in light:
            assert isinstance(term, SparseTerm | DiagonalTerm)
            rows = sp.csr_array(term.matrix if isinstance(term, SparseTerm) else term.to_sparse())
            total = rows if total is None else total + rows
        return self._with_terms([SparseTerm(total), *rest])

    def reordered(self) -> tuple[Symmetric, Indices | None]:
        """Return P V P' as one sparse matrix and the order P that brings neighbours together.

        A product then reads less of its vector from beyond the cache. Where that would not help,
        the result is V merged and None. A matrix whose rows are on many ranks is reordered on each.
        """
        for term in self.terms:
            sharded = term.reordered(self.terms)
            if sharded is not None:
                return self._with_terms(sharded[0]), sharded[1]
        merged = self.merged()
        if self.n < MIN_REORDERED_SIDE or not self.factorable or len(merged.sparse) != 1:
            return merged, None
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        (S,) = merged.sparse
        order = reverse_cuthill_mckee(sp.csr_matrix(S), symmetric_mode=True).astype(np.int64)
        S = sp.csr_array(S[order][:, order])
        S.sort_indices()
        return self._with_terms([SparseTerm(S)]), order

    def absolute_row_sums(self) -> Array | None:
        """Return an upper bound on each row sum of |V|; None for a matrix-free V."""
        return None if self.matrix_free else self.absolute_product(np.ones_like(self.diag()))

    def absolute_product(self, v: Array) -> Array | None:
        """Return an upper bound on |V| v for v >= 0, term by term; None for a matrix-free V."""
        if self.matrix_free:
            return None
        return sum((term.absolute_product(v) for term in self.terms), start=np.zeros_like(v))

    @property
    def by_entries(self) -> bool:
        """Whether V has entries that `congruent` can scale."""
        return all(term.by_entries for term in self.terms)

    def congruent(self, root: Array) -> Symmetric:
        """Return Diag(root) V Diag(root), merged, with each entry of a term rounded three times."""
        return self._with_terms([term.congruent(root) for term in self.merged().terms])

    def diag(self) -> Array:
        """Return diag V; an operator counts as 0, as its diagonal is unknown."""
        diagonals = [term.diagonal() for term in self.terms] or [np.zeros(self.n)]
        return sum(diagonals, start=np.zeros_like(diagonals[0]))

    def absolute_diag(self) -> Array:
        """Return the sum of the absolute values of the summands of diag V."""
        return sum((term.absolute_diagonal() for term in self.terms), np.zeros(self.n))

    def assembly_error(self) -> float:
        """Return a bound on the spectral norm of V less its assembled matrix."""
        summands = 3 + sum(term.roundings() for term in self.terms)
        sums = self.absolute_row_sums()
        return inf if sums is None else 2 * summands * UNIT_ROUNDOFF * float(sums.max())

    def in_pieces(self) -> Symmetric:
        """Return V with products of fewer roundings: see `product_error`."""
        return self._with_terms([term.in_pieces() for term in self.terms])

    def product_error(self) -> float:
        """Return a bound on |V v - its computed value| / |v|, without the operators of V.

        Entry i is off by g_i (|V| |v|)_i at most, and the square of the norm of Diag(g) |V| is at
        most the largest entry of |V| g^2 |V| p / p, for any p > 0.
        """
        known = self._with_terms([term for term in self.terms if term.has_entries])
        g = known.product_roundings() * UNIT_ROUNDOFF
        p, least = np.ones_like(g), inf
        for _ in range(2):
            image: Any = known.absolute_product(g**2 * known.absolute_product(p))
            least = min(least, float((image / p).max()))
            p = image / max(float(image.max()), TINY) + LEAST_WEIGHT
        return 1.01 * sqrt(least)

    def product_roundings(self) -> Any:
        """Return how many roundings the summands of each entry of V v undergo at most."""
        few = 8.0 * np.ones_like(self.diag())
        return sum((term.summands() + 2.0 for term in self.terms), start=few)


def _combined(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Return the terms in the order of summation, added up where two make one."""
    out: list[Term] = []
    for term in sorted(terms, key=lambda term: term.order):
        total = out[-1].plus(term) if out else None
        if total is None:
            out.append(term)
        else:
            out[-1] = total
    return tuple(out)


def require_same_space(a: Any, b: Any) -> None:
    """Raise ProblemError unless two gradients have the same shape."""
    if a != b:
        why = "cannot be added: the objective, the maps and the domain must agree on n"
        raise ProblemError(f"gradients of different sizes, {a} and {b}, {why}")
