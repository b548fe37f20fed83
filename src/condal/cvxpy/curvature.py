"""The matrix of a quadratic objective: proofs that it is psd, and its roots."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from cvxpy import settings

from condal.certificates.conic import smallest_eigenvalue
from condal.certificates.exact import is_psd
from condal.errors import ProblemError
from condal.linalg.points import Array, Indices

MAX_NEGATIVE = 1e-8  # relative to the largest eigenvalue: rounding of a psd matrix
MAX_ACCEPTED = 4 * settings.EIGVAL_TOL  # what CVXPY takes for psd; P is twice its matrix
MIN_POSITIVE = 1e-15  # relative to the largest eigenvalue: less counts as 0
MAX_EXACT_SIDE = 40  # of a block that is factorised in fractions


def is_convex(P: Any) -> bool:
    """Return whether P is proved psd: block by block positive definite, or exactly if small."""
    if P is None or P.nnz == 0:
        return True
    diagonal = P.diagonal()
    if np.count_nonzero(diagonal) == P.nnz:
        return bool((diagonal >= 0).all())
    return all(_is_psd(block) for _, block in _blocks(P))


def _is_psd(block: Array) -> bool:
    if len(block) == 1:
        return float(block[0, 0]) > 0
    return smallest_eigenvalue(block) > 0 or (len(block) <= MAX_EXACT_SIDE and is_psd(block))


def _blocks(P: Any) -> list[tuple[Indices, Array]]:
    """Return the connected blocks of P that have entries."""
    from scipy.sparse.csgraph import connected_components

    P = sp.csr_array(P)
    count, label = connected_components(P, directed=False)
    order = np.argsort(label, kind="stable")
    groups = np.split(order, np.searchsorted(label[order], np.arange(1, count)))
    blocks = [(group, P[group][:, group].toarray()) for group in groups]
    return [(group, block) for group, block in blocks if block.any()]


def root_of(P: Any) -> Any:
    """Return R with R R' = P, about."""
    rows, cols, data, count = [], [], [], 0
    for group, block in _blocks(P):
        values, vectors = np.linalg.eigh(0.5 * (block + block.T))
        if values[0] < -max(MAX_NEGATIVE * values[-1], MAX_ACCEPTED):
            raise ProblemError(
                "the quadratic objective is not convex: its matrix has the eigenvalue "
                f"{values[0]:.3g}; give one whose eigenvalues are nonnegative"
            )
        kept = values > MIN_POSITIVE * max(values[-1], 0.0)
        root = vectors[:, kept] * np.sqrt(values[kept])
        rows.append(np.repeat(group, root.shape[1]))
        cols.append(np.tile(count + np.arange(root.shape[1]), group.size))
        data.append(root.ravel())
        count += root.shape[1]
    where = np.concatenate(rows), np.concatenate(cols)
    return sp.csr_array((np.concatenate(data), where), (P.shape[0], count))
