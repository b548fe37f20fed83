"""Weighted Gram matrices a' Diag(w) a, of a dense or CSR matrix a."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.blocked import slices
from condal.linalg.points import Array


def gram_product(a: Any, w: Array, v: Array) -> Array:
    """a' Diag(w) a v: a dense matrix is read once, in pieces that stay in the cache for both."""
    if sp.issparse(a):
        image = a @ v
        image *= w if v.ndim == 1 else w[:, None]
        return np.asarray(a.T @ image)
    out = np.zeros(v.shape)
    for here in slices(a.shape[0], a.shape[1] // 4):
        image = a[here] @ v
        image *= w[here] if v.ndim == 1 else w[here, None]
        out += a[here].T @ image
    return out


def gram(a: Any, w: Array) -> Array:
    """a' Diag(w) a, both triangles alike."""
    if sp.issparse(a):
        total = (a.T @ sp.csr_array(a.multiply(w[:, None]))).toarray()
    else:
        total = a.T @ (w[:, None] * a)
    return np.asarray(0.5 * (total + total.T))
