"""A matrix of low rank, given by its factors: its norm and a proved bound on its eigenvalues.

V = F S F' with F of m columns, the vectors of its terms. If F = QR + E, then with T = R S R'

    lambda_min(V) >= |Q|^2 min(0, lambda_min(T)) - |E| |S| (2 |QR| + |E|),

where Q needs to be orthonormal only nearly: the errors of Q, R and T are measured, and the rounding
of these measurements is bounded. The Cholesky factorisation that proves lambda_min(T) has m rows.
"""

from __future__ import annotations

from math import inf

import numpy as np
import scipy.sparse as sp

from condal.linalg.factorisations import dense_cholesky
from condal.linalg.norms import gamma
from condal.linalg.points import Array
from condal.linalg.proof import Proof
from condal.linalg.symmetric import Symmetric
from condal.linalg.terms import GramTerm, PairTerm

MAX_SHARE = 0.25  # of n: with more columns, a factorisation of V itself takes no longer
MAX_COLUMNS = 1500
MAX_SHIFTS = 12


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
