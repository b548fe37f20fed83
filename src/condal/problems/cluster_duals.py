"""The multipliers that a clustering proposes for k-means.

Of x >= 0 entry by entry: with V = D/2 + (u 1' + 1 u')/2 + W, the bound is k lambda_min(V) - sum u.
This u makes the indicator of each cluster an eigenvector of its own block of V, all with one
eigenvalue lam. Then W <= 0 removes the positive entries between clusters. If these are all entries
between clusters, V is block diagonal, lam is its smallest eigenvalue, and the bound equals the
cost. If small negative entries remain, W leaves some positive entries too, so that the indicators
stay eigenvectors.

Of many points, x >= 0 only as one inequality for each pair of clusters: a clustering with centres
c_a, and e_i = p_i - c_a for a point i of cluster a, proposes

    u_i = lam / |a| - |e_i|^2,    q_ab(i) = |c_a - c_b|^2 / 2 + (c_a - c_b).e_i + l_ab,

with l_ab = lam (1/|a| + 1/|b|) / 2. The slack V = D/2 + (u 1' + 1 u')/2 has the row means q_ab in
the block of a and b, and the mean h_ab = |c_a - c_b|^2 / 2 + l_ab. If all q_ab >= 0, then
W = -q_ab q_ba' / h_ab is a multiplier of x >= 0 (Iguchi, Mixon, Peterson and Villar 2017). V + W
maps the indicator of each cluster to lam times itself; elsewhere it is
- e_i.(I - (c_a - c_b)(c_a - c_b)' / h_ab) e_j, without the second term inside a cluster. If lam is
the smallest eigenvalue, the bound is the cost of the clustering.

W uses x >= 0 only in the sums q_ab' x q_ba >= 0. These alone make a relaxation. It is weaker than
x >= 0, but each clustering is feasible, so the optimum bounds the cost of every clustering. D/2 is
kept as |p_i|^2/2 + |p_j|^2/2 - p_i.p_j, and nothing here has n^2 numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from condal.linalg.eigen import Automatic
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import BasicMap
from condal.maps.triangle import Triangle
from condal.problems.lloyd import Distances, cost_of

# Multiples of the least lam of the blocks; if W cannot remove all entries, a lower lam costs less.
EIGENVALUE_FACTORS = (1.0, 1.03, 1.1, 1.3)
HOPELESS = 0.9  # of the cost: a bound below it will not come near the cost
MAX_DENSE_SIDE = 600  # of an eigenvalue problem that LAPACK solves faster than Lanczos
ROUNDS = 6  # of the choice of lam, which converges fast
LAM_MARGIN = 1e-10  # relative


def dual_of(D: Array, labels: Any, k: int) -> Array:
    """Return y = (u, A W) of the clustering with these labels, whole numbers from 0."""
    n = len(D)
    C, mean, sizes = 0.5 * D, np.empty(n), np.empty(n)
    inner, within = np.empty(n), []
    for c in np.unique(labels):
        members = np.flatnonzero(labels == c)
        block = C[np.ix_(members, members)]
        means = block.mean(axis=1)
        mean[members], sizes[members], inner[members] = means, members.size, block.mean()
        # The smallest eigenvalue on vectors of sum 0 in the cluster, at most 0.
        centred = block - means[:, None] - means + means.mean()
        within.append(float(min(eigh(centred, eigvals_only=True, subset_by_index=[0, 0])[0], 0.0)))
    cost = cost_of(Distances(D), labels, k)
    between, best = labels[:, None] != labels, (-np.inf, np.zeros(0))
    for factor in EIGENVALUE_FACTORS:
        u = factor * min(within) / sizes - 2 * mean + inner
        V = C + 0.5 * (u[:, None] + u)
        left = _centred(np.where(between, np.minimum(V, 0.0), 0.0), labels, sizes)
        W = np.where(between, np.minimum(left - V, 0.0), 0.0)
        least = Automatic().smallest(Symmetric(n, dense=V + W)).value
        y = np.append(u, Triangle(n)(W))
        best = max(best, (k * least - u.sum(), y), key=lambda pair: pair[0])
        if best[0] < HOPELESS * cost:
            break  # the clusters overlap, and another factor will not separate them
    return best[1]


def _centred(N: Array, labels: Any, sizes: Array) -> Array:
    """Remove the mean of each row and column within each block of N, and rescale.

    A block with a single entry keeps its value.
    """
    Q = (labels[:, None] == np.unique(labels)) / np.sqrt(sizes)[:, None]
    half = N - Q @ (Q.T @ N)
    scale = sizes / np.maximum(sizes - 1, 1)
    return np.asarray(scale[:, None] * (half - (half @ Q) @ Q.T) * scale)


@dataclass(frozen=True, eq=False)
class PairForms(BasicMap):
    """The bilinear forms r' x s of pairs (r, s) of vectors without a common entry.

    `sums` and `differences` hold the rows r + s and r - s: r' x s is a difference of squares.
    """

    sums: Any
    differences: Any

    terms = 2

    @property
    def n(self) -> int:
        """The side of x."""
        return int(self.sums.shape[1])

    @property
    def size(self) -> int:
        return int(self.sums.shape[0])

    @property
    def norm(self) -> float:
        """The largest norm of a row, as rows of different pairs of clusters share no entry."""
        return float(self.row_norms().max(initial=0.0))

    def row_norms(self) -> Array:
        r, s = (self.sums + sign * self.differences for sign in (1, -1))
        lengths = [np.sqrt(np.asarray(part.multiply(part).sum(axis=1)).ravel()) for part in (r, s)]
        return np.asarray(0.25 * lengths[0] * lengths[1] * np.sqrt(0.5))

    def as_matrix(self) -> None:
        """None: the rows have as many entries as x."""
        return

    def __call__(self, x: Point) -> Array:
        plus, minus = (_squares(rows, x) for rows in (self.sums, self.differences))
        return 0.25 * (plus - minus)

    def adjoint(self, y: Array) -> Symmetric:
        rows = sp.csr_array(sp.vstack([self.sums, self.differences]))
        return Symmetric(self.n, grams=[(rows, 0.25 * np.append(y, -y))])


def _squares(rows: Any, x: Point) -> Array:
    """a' x a for each row a."""
    if isinstance(x, LowRank):
        return np.asarray(np.square(rows @ x.U) @ x.weights)
    return np.asarray(rows.multiply(rows @ np.asarray(x)).sum(axis=1)).ravel()


@dataclass(frozen=True, eq=False)
class ClusterPairs:
    """The multipliers that a clustering of the points P proposes; labels are 0, ..., k - 1."""

    P: Array
    labels: Any
    k: int

    @cached_property
    def sizes(self) -> Array:
        return np.bincount(self.labels, minlength=self.k).astype(np.float64)

    @cached_property
    def _members(self) -> list[Any]:
        return [np.flatnonzero(self.labels == a) for a in range(self.k)]

    @cached_property
    def _centres(self) -> Array:
        return np.stack([self.P[members].mean(axis=0) for members in self._members])

    @cached_property
    def _e(self) -> Array:
        return np.asarray(self.P - self._centres[self.labels])

    @cached_property
    def lam(self) -> float:
        """The eigenvalue of the indicators: the smallest of the rest of V + W, which depends on it
        a little."""
        roots = [_root(self._e[members]) for members in self._members]
        lam = 0.0
        for _ in range(ROUNDS if self._e.any() else 0):
            before, lam = lam, (1 + LAM_MARGIN) * self._least(roots, lam)
            if abs(lam - before) <= LAM_MARGIN * abs(lam):
                break
        return lam

    def _least(self, roots: list[Array], lam: float) -> float:
        """The smallest eigenvalue of V + W on vectors of sum 0 in each cluster, for h_ab at lam."""
        h = np.where(self._means(lam) > 0, self._means(lam), np.inf)
        apart = self._centres[:, None] - self._centres
        d, k = self.P.shape[1], self.k

        def product(x: Array) -> Array:
            x = np.asarray(x).reshape(k, d)
            seen = np.stack([root @ part for root, part in zip(roots, x, strict=True)])
            along = np.einsum("abi,bi->ab", apart, seen) / h
            np.fill_diagonal(along, 0.0)
            image = seen.sum(axis=0) - np.einsum("ab,abi->ai", along, apart)
            return np.concatenate([root @ part for root, part in zip(roots, image, strict=True)])

        if k * d <= MAX_DENSE_SIDE:
            matrix = np.stack([product(column) for column in np.eye(k * d)])
            return -float(np.linalg.eigvalsh(0.5 * (matrix + matrix.T))[-1])
        from scipy.sparse.linalg import LinearOperator, eigsh

        operator = LinearOperator((k * d, k * d), matvec=product, dtype=np.float64)
        start = np.random.default_rng(0).standard_normal(k * d)
        return -float(eigsh(operator, 1, which="LA", v0=start, return_eigenvectors=False)[0])

    def _means(self, lam: float) -> Array:
        """h_ab, the means of the blocks of V."""
        apart = self._centres[:, None] - self._centres
        means = 0.5 * np.einsum("abi,abi->ab", apart, apart)
        means += 0.5 * lam * (1 / self.sizes[:, None] + 1 / self.sizes)
        return np.asarray(means)

    @cached_property
    def _pairs(self) -> list[tuple[int, int]]:
        """The pairs of clusters with an inequality: those with a positive mean of their block."""
        means = self._means(self.lam)
        return [(a, b) for a in range(self.k) for b in range(a) if means[a, b] > 0]

    def half_distances(self) -> Symmetric:
        """Return D/2 as factors."""
        n, d = self.P.shape
        squares = np.einsum("ij,ij->i", self.P, self.P)
        grams = [(np.ascontiguousarray(self.P.T), -np.ones(d))]
        return Symmetric(n, pairs=[(squares, np.ones(n))], grams=grams)

    def forms(self) -> PairForms:
        """q_ab' x q_ba / h_ab^2; negative entries of q count as 0, which weakens the bound."""
        means, p, n = self._means(self.lam), len(self._pairs), len(self.labels)
        rows, columns, values, signs = ([np.zeros(0)] for _ in range(4))
        for row, (a, b) in enumerate(self._pairs):
            apart = self._centres[a] - self._centres[b]
            for members, sign in ((self._members[a], 1.0), (self._members[b], -1.0)):
                along = sign * (self._e[members] @ apart)
                values.append(np.maximum(1.0 + along / means[a, b], 0.0))
                signs.append(np.full(members.size, sign))
                rows.append(np.full(members.size, row))
                columns.append(members)
        places = tuple(np.concatenate(each).astype(int) for each in (rows, columns))
        numbers = np.concatenate(values)
        sums, differences = (
            sp.csr_array((weights * numbers, places), shape=(p, n))
            for weights in (np.ones_like(numbers), np.concatenate(signs))
        )
        return PairForms(sums, differences)

    def dual(self) -> Array:
        """Return y = (u, the multipliers of the pairs)."""
        squares = np.einsum("ij,ij->i", self._e, self._e)
        means = self._means(self.lam)
        pairs = [-2 * means[pair] for pair in self._pairs]
        return np.concatenate([self.lam / self.sizes[self.labels] - squares, pairs])


def _root(e: Array) -> Array:
    """The symmetric square root of e'e."""
    values, vectors = np.linalg.eigh(e.T @ e)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
