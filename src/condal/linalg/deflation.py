"""Operators with a few large terms of rank one: V = S + sum of w_i v_i v_i', w_i > 0.

Multipliers of equations <v v', x> = 0 are such terms, and may be as large as they like. They widen
the spectrum, by which a Lanczos proof loses, and the trace, by which a factorisation does. Beside
the v_i only S counts: with an orthonormal basis Q of them, P = I - Q Q' and any number alpha,

    V >= P S P + alpha Q Q' - b^2 / (a - alpha) I,    a <= lambda_min(Q'V Q),  b >= |P V Q|,

if a > alpha, in the order of psd matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from condal.linalg.norms import UNIT_ROUNDOFF
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.linalg.terms import GramTerm, Term

MAX_VECTORS = 20
MIN_RATIO = 4.0  # of a to the norm of S: below, the terms are no outliers
OUTLIER = 1e3  # ratio of the largest eigenvalue of a dense matrix to the others
TINY = 1e-300
ROUNDINGS = 16  # times n + 20, k and the unit roundoff: the relative error of what is computed


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
