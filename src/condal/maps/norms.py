"""Operator norms."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def operator_norm(a: Any) -> float:
    """The largest singular value: LAPACK for a small matrix, power iterations and a margin else."""
    if min(a.shape) == 0:
        return 0.0
    if min(a.shape) <= 400 and max(a.shape) <= 20_000:
        gram = a @ a.T if a.shape[0] <= a.shape[1] else a.T @ a
        dense = gram.toarray() if sp.issparse(gram) else np.asarray(gram)
        return float(np.sqrt(max(np.linalg.eigvalsh(dense)[-1], 0.0)))
    v = np.random.default_rng(0).standard_normal(a.shape[1])
    size = 0.0
    for _ in range(100):
        u = a @ (v / np.linalg.norm(v))
        v, before = a.T @ u, size
        size = float(np.linalg.norm(u))
        if size == 0.0 or abs(size - before) <= 1e-3 * size:
            break
    return 1.01 * size
