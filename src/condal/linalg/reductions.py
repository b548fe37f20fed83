"""Reductions of a bound on the smallest eigenvalue of V to an easier one.

**Deflation.** V = S + sum of w_i v_i v_i', w_i > 0, with a few large terms of rank one. Multipliers
of equations <v v', x> = 0 are such terms, and may be as large as they like. They widen the
spectrum, by which a Lanczos proof loses, and the trace, by which a factorisation does. Beside the
v_i only S counts: with an orthonormal basis Q of them, P = I - Q Q' and any number alpha,

    V >= P S P + alpha Q Q' - b^2 / (a - alpha) I,    a <= lambda_min(Q'V Q),  b >= |P V Q|,

if a > alpha, in the order of psd matrices.

**Diagonal scaling.** For any D = Diag(d) > 0 and psd x, <V, x> is at least
lambda_min(D^-1/2 V D^-1/2) <D, x>. Where diag x = b is fixed, <D, x> = sum d_i b_i is known,
whatever the sign of lambda_min. This holds for no other domain: where only the trace is known,
<D, x> may be anywhere between the least and the largest d_i times the trace, and D = I is best. A
Lanczos proof loses a share of the spread of the spectrum. On a graph with hubs, the spread of V is
the largest degree. With D near diag V the spread is about 2, and sum d_i b_i is about the sum of
the degrees.

**Low rank.** V = F S F' with F of m columns, the vectors of its terms. If F = QR + E, then with
T = R S R'

    lambda_min(V) >= |Q|^2 min(0, lambda_min(T)) - |E| |S| (2 |QR| + |E|),

where Q needs to be orthonormal only nearly: the errors of Q, R and T are measured, and the rounding
of these measurements is bounded. The Cholesky factorisation that proves lambda_min(T) has m rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
import scipy.sparse as sp

from condal.linalg.factorisations import dense_cholesky
from condal.linalg.points import Array
from condal.linalg.rounding import TINY, UNIT_ROUNDOFF, Proof, gamma
from condal.linalg.symmetric import Symmetric
from condal.linalg.terms import GramTerm, PairTerm, Term

MAX_VECTORS = 20
MIN_RATIO = 4.0  # of a to the norm of S: below, the terms are no outliers
OUTLIER = 1e3  # ratio of the largest eigenvalue of a dense matrix to the others
ROUNDINGS = 16  # times n + 20, k and the unit roundoff: the relative error of what is computed
POWER = 0.75  # D near diag(V)^POWER: 1 has the least spread, but is worse for an inexact dual
MIN_DIAGONAL = 1e-3  # of the mean: less counts as this
MAX_LOSS = 0.9  # of a proof, against that without scaling: more is not worth it
MAX_SHARE = 0.25  # of n: with more columns, a factorisation of V itself takes no longer
MAX_COLUMNS = 1500
MAX_SHIFTS = 12


@dataclass(frozen=True, eq=False)
class Deflated:
    """`V` stands for P S P + alpha Q Q'; the operator that it is made of is >= V - `loss` I."""

    V: Symmetric
    loss: float

    @classmethod
    def of(cls, V: Symmetric, max_loss: float) -> Deflated | None:
        """Deflate V; None if it has no large terms of rank one, or if the loss is larger."""
        large = [term for term in V.terms if _is_small_gram(term)]
        vectors = _vectors(large)
        n, k = V.n, vectors.shape[1]
        if not 0 < k <= min(MAX_VECTORS, n - 1) or V.operators:
            return None
        S = Symmetric(n, [term for term in V.terms if term not in large])
        sums = S.absolute_row_sums()
        assert sums is not None
        size = float(sums.max())
        squares = float(np.einsum("ij,ij->", vectors, vectors))  # |V - S| at most
        unit = ROUNDINGS * (n + 20) * k * UNIT_ROUNDOFF
        Q = np.linalg.qr(vectors)[0]
        SQ, inner = S @ Q, Q.T @ vectors
        within = Q.T @ SQ
        a = float(np.linalg.eigvalsh(within + inner @ inner.T)[0]) - unit * (size + squares)
        alpha = (float(S.diag().sum()) - float(np.trace(within))) / (n - k)
        if not a > MIN_RATIO * max(size, abs(alpha)):
            return None
        b = float(np.linalg.norm(SQ - Q @ within)) + unit * (size + squares)
        # What V loses to the rounding of Q and of the pairs is relative to S and alpha.
        loss = (1 + unit) * b * b / (a - alpha) + unit * (2 * size + abs(alpha))
        if not loss <= max_loss:
            return None
        c = SQ - 0.5 * (Q @ (within + alpha * np.eye(k)))
        pairs = [(-2.0 * c[:, j], Q[:, j]) for j in range(k)]
        return cls(Symmetric(n, S.terms, pairs=pairs), loss)


def _is_small_gram(term: Term) -> bool:
    return isinstance(term, GramTerm) and term.w.size <= MAX_VECTORS and bool(np.all(term.w > 0))


def _vectors(terms: list[Term]) -> Array:
    """The vectors sqrt(w_i) v_i as columns."""
    columns = []
    for term in terms:
        assert isinstance(term, GramTerm)
        rows = term.a.toarray() if sp.issparse(term.a) else term.a
        columns.append((np.sqrt(term.w)[:, None] * rows).T)
    return np.hstack(columns) if columns else np.zeros((0, 0))


def has_outlier(values: Array) -> bool:
    """Whether the last of some ascending eigenvalues is far larger than the others."""
    rest = float(np.abs(values[:-1]).max(initial=0.0))
    return bool(values.size > 1 and values[-1] > OUTLIER * max(rest, TINY))


def without_outlier(full: Array) -> tuple[Array, float]:
    """Return W and a number with `full` >= W - number I, where W lacks the largest eigenvalue.

    For any q and c, the smallest eigenvalue of
    q c' + c q' is <q, c> - |q||c| = -|b|^2 |q|^2 / (<q, c> + |q||c|), where b is c beside q. So
    W = full - q c' - c q' loses no more, whatever the rounding of q and c.
    """
    values, vectors = np.linalg.eigh(full)
    q, n = vectors[:, -1], len(full)
    product = full @ q
    c = product - 0.5 * (float(q @ product) + float(values[:-1].mean())) * q
    inner, lengths = float(q @ c), float(np.linalg.norm(q) * np.linalg.norm(c))
    unit = 4 * (n + 20) * UNIT_ROUNDOFF
    beside = float(np.linalg.norm(c - (inner / float(q @ q)) * q)) * (1 + unit)
    beside += 8 * UNIT_ROUNDOFF * lengths
    outer = np.outer(q, c)
    W = full - (outer + outer.T)
    formed = 4 * UNIT_ROUNDOFF * float(np.linalg.norm(full) + 2 * lengths)  # |.|_F of its rounding
    return W, (1 + unit) * (beside**2 / (inner + lengths) + formed)


@dataclass(frozen=True, eq=False)
class DiagonalScaling:
    """D^-1/2 V D^-1/2, rounded, and `total` = <D, x>."""

    scaled: Symmetric
    root: Array  # the diagonal of D^-1/2
    total: float
    error: float  # of <V, x>, by the assembly of V and the rounding of the scaled V

    @classmethod
    def of(cls, V: Symmetric, diagonal: Array) -> DiagonalScaling | None:
        """Scale V for the psd x of this diagonal; None where it is of no use or not sparse."""
        values = V.diag()
        mean = float(values.mean())
        if not V.by_entries or not 0 < mean < np.inf or not np.all(diagonal >= 0):
            return None
        root = (np.maximum(values, MIN_DIAGONAL * mean) / mean) ** (-0.5 * POWER)
        total = float(diagonal @ (1.0 / root**2))
        sums = V.absolute_row_sums()
        scaled_sums = V.absolute_product(root)
        assert sums is not None
        assert scaled_sums is not None
        size, trace = float((root * scaled_sums).max()), float(diagonal.sum())
        if size * total > MAX_LOSS * float(sums.max()) * trace:
            return None
        # Each entry is rounded three times: an error of at most 3 u |.| in every row sum.
        error = V.assembly_error() * trace + 4 * UNIT_ROUNDOFF * size * total
        return cls(V.congruent(root), root, total, error)

    def bound(self, least: float) -> float:
        """Return a bound on <V, x>, given one on the smallest eigenvalue of the scaled V."""
        product = least * self.total
        return product - gamma(self.scaled.n + 8) * abs(product) - 1.05 * self.error


def factor_columns(V: Symmetric) -> int | None:
    """Return how many columns F has; None if V has other terms or they are too many."""
    pairs = sum(2 * len(term.pairs) for term in V.terms if isinstance(term, PairTerm))
    rows = sum(term.w.size for term in V.terms if isinstance(term, GramTerm))
    known = all(isinstance(term, PairTerm | GramTerm) for term in V.terms)
    fits = 0 < pairs + rows <= min(MAX_COLUMNS, MAX_SHARE * V.n)
    return pairs + rows if known and fits else None


def factor_bound(V: Symmetric, slack: float) -> Proof | None:
    """Prove l <= lambda_min(V) from the factors of V, with lambda_min - l about `slack`."""
    F, S = _factors(V)
    n, m = F.shape
    Q, R = np.linalg.qr(F)
    T = R @ S @ R.T
    T = 0.5 * (T + T.T)
    q, r, s = (float(np.linalg.norm(a)) for a in (Q, R, S))
    up = 1 + 4 * gamma(n * m + 4)  # rounding of the norms
    E = up * float(np.linalg.norm(F - Q @ R)) + gamma(m + 2) * up * (q * r + np.linalg.norm(F))
    unit = 1 + up * float(np.linalg.norm(Q.T @ Q - np.eye(m))) + up * gamma(n + 2) * q * q
    lost = up * s * E * (2 * np.sqrt(unit) * up * r + E)
    small = up * gamma(2 * m + 4) * r * r * s  # of T
    least = _proved_least(T, 0.5 * slack)
    value = (min(least, 0.0) - small) * unit * up - lost * up
    return None if value == -inf else Proof(value, "Cholesky factorisation of its factors")


def factor_norm(V: Symmetric) -> float:
    """Return |V|_F or slightly more, from |F S F'| = |R S R'|."""
    F, S = _factors(V)
    _, R = np.linalg.qr(F)
    rounding = gamma(sum(F.shape) ** 2) * float(np.linalg.norm(F)) ** 2 * np.linalg.norm(S)
    return float(np.linalg.norm(R @ S @ R.T) + rounding)


def _factors(V: Symmetric) -> tuple[Array, Array]:
    """F, its columns scaled by powers of two to norms near 1, and S."""
    columns, blocks = [], []
    for term in V.terms:
        if isinstance(term, PairTerm):
            for a, b in term.pairs:
                columns += [a[:, None], b[:, None]]
                blocks.append(np.array([[0.0, 0.5], [0.5, 0.0]]))
        else:
            assert isinstance(term, GramTerm)
            rows = term.a.toarray() if sp.issparse(term.a) else np.asarray(term.a)
            columns.append(rows.T)
            blocks.append(np.diag(term.w))
    F, S = np.hstack(columns), sp.block_diag(blocks).toarray()
    norms = np.linalg.norm(F, axis=0)
    scales = np.exp2(np.round(np.log2(np.where(norms > 0, norms, 1.0))))  # exact
    return F / scales, S * scales[:, None] * scales


def _proved_least(T: Array, slack: float) -> float:
    """A proved lower bound on the smallest eigenvalue of T; -inf if no factorisation completes."""
    estimate, small = float(np.linalg.eigvalsh(T)[0]), Symmetric(len(T), dense=T)
    rounding = max(1e-14 * float(np.linalg.norm(T)), np.finfo(float).tiny)
    step = max(min(slack, 1e-9 * abs(estimate)), rounding)
    for _ in range(MAX_SHIFTS):
        proof = dense_cholesky(small, estimate - step)
        if proof is not None:
            return proof.value
        step *= 8
    return -inf
