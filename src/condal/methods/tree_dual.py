"""Initial multipliers of diag x = b: the best ones if the graph of C were a tree.

V = C + Diag(z) is the slack of: minimise <C, x> subject to diag x = t, x psd; -<t, z> is a bound
once V is psd. On the central path t = mu diag(V^-1). Where the graph of C has no cycles, V^-1 on
its edges determines the diagonal of V (Bethe's approximation, exact for trees):

    t_i z_i = mu + sum over j of (sqrt(mu^2 + 4 c_ij^2) - mu) / 2 - t_i C_ii,
    c_ij = sqrt(t_i t_j) C_ij.

mu = 0 gives Gershgorin's discs. A large sparse graph is locally a tree: another mu gives a far
better bound there, and a V that is nearly psd. The lowest eigenvectors of V spread over the graph;
those of C alone are spikes at the vertices of the highest degrees.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices
from condal.linalg.symmetric import Symmetric

if TYPE_CHECKING:
    from condal.problem import Problem

MAX_SAMPLE = 2**20  # entries of C that choose mu
CHUNK = 2**20  # entries whose terms are computed together; a row is never split


def tree_dual(problem: Problem) -> Array | None:
    """Return y for a linear f with sparse C and d * diag x = b with b / d > 0; else None."""
    f, d, b = problem.f, problem.A.diagonal_rows, problem.h.fixed
    if f.L != 0.0 or d is None or b is None or not np.all(b * d > 0):
        return None
    C = f.M.adjoint(f.gradient(np.zeros(f.M.size)))
    if not isinstance(C, Symmetric) or not C.factorable or not C.sparse or d.size != C.n:
        return None
    t = b / d
    S, root = sp.csr_array(C.merged().sparse[0]), np.sqrt(t)
    mu = _best(S, root)
    total = mu - t * S.diagonal()
    for rows, entries in _runs(S):
        owner, sizes = _sizes(S, root, entries)
        total[rows] += sums_of(mu, sizes, owner - rows.start, rows.stop - rows.start)
    return np.asarray(total / b)


def sums_of(mu: float, sizes: Array, owner: Indices, rows: int) -> Array:
    """sum over j of (sqrt(mu^2 + 4 c_ij^2) - mu) / 2, for each row i."""
    terms = 0.5 * (np.hypot(mu, 2 * sizes) - mu)
    return np.asarray(np.bincount(owner, terms, minlength=rows), dtype=np.float64)


def _best(S: Any, root: Array) -> float:
    """`best_mu` of all entries, or of a random sample if they are many."""
    count = int(S.nnz)
    if count == 0:
        return 0.0
    chosen: Any = slice(0, count)
    if count > MAX_SAMPLE:
        chosen = np.random.default_rng(0).integers(0, count, MAX_SAMPLE)
    return best_mu(_sizes(S, root, chosen)[1], S.shape[0], each=count / min(count, MAX_SAMPLE))


def best_mu(sizes: Array, n: int, *, each: float = 1.0) -> float:
    """Return the mu that minimises <t, z>: n = sum of (1 - mu / hypot(mu, 2 c)) / 2 over all c.

    mu = 0 on a forest. Each of the sizes |c| counts `each` times.
    """
    sizes = sizes[sizes > 0]
    if sizes.max(initial=0.0) == 0.0:
        return 0.0

    def slope(mu: float) -> float:
        return float(n - 0.5 * each * (1 - mu / np.hypot(mu, 2 * sizes)).sum())

    if slope(0.0) >= 0.0:
        return 0.0
    from scipy.optimize import brentq

    above = np.sqrt(each * float(sizes @ sizes) / n)  # since 1 - mu / hypot <= 2 (c / mu)^2
    return float(brentq(slope, 0.0, 1.01 * above, rtol=1e-6))


def _sizes(S: Any, root: Array, entries: Any) -> tuple[Indices, Array]:
    """The rows of some stored entries, and their |c_ij|, with 0 on the diagonal."""
    places = np.arange(entries.start, entries.stop) if isinstance(entries, slice) else entries
    rows = np.searchsorted(S.indptr, places, side="right") - 1
    cols = S.indices[entries]
    sizes = np.abs(S.data[entries]) * root[rows] * root[cols]
    sizes[rows == cols] = 0.0
    return rows, sizes


def _runs(S: Any) -> Iterator[tuple[slice, slice]]:
    """Runs of rows with about CHUNK entries, and the runs of these entries."""
    begin, n = 0, S.shape[0]
    while begin < n:
        most = S.indptr[begin] + CHUNK
        end = max(begin + 1, int(np.searchsorted(S.indptr, most, side="right")) - 1)
        yield slice(begin, end), slice(int(S.indptr[begin]), int(S.indptr[end]))
        begin = end
