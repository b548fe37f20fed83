"""SketchyCGAL for max-cut as published, in NumPy and SciPy: a rival without a certificate.

Yurtsever, Tropp, Fercoq, Udell and Cevher (2021). The problem is scaled to tr x = 1, |C|_F = 1 and
|A| = 1; beta_k = sqrt(k + 1); y starts at 0. The oracle is Lanczos with k^(1/4) log n steps from a
random start, in two passes. The dual step size is at most 1 and bounded by the primal step. The
method stops when the relative infeasibility and the relative surrogate gap reach eps. The code is
our own.
"""

from __future__ import annotations

import time
from math import ceil, log, sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh_tridiagonal


def solve(W: Any, R: int, eps: float, seconds: float, *, seed: int = 0) -> dict[str, Any]:
    """Run within the time limit; `stopped` says whether its own stopping rule ended it."""
    n, rng = W.shape[0], np.random.default_rng(seed)
    degrees = np.asarray(W.sum(axis=1)).ravel()
    C = sp.csr_array(0.25 * (W - sp.dia_array((degrees[None, :], [0]), shape=W.shape)))
    scale_C = float(np.sqrt(C.data @ C.data))
    C.data /= scale_C
    b = np.full(n, 1.0 / n)  # of x / n
    S, omega = np.zeros((n, R)), rng.standard_normal((n, R))
    z, y, value, products = np.zeros(n), np.zeros(n), 0.0, 0
    began = time.perf_counter()
    record: dict[str, Any] = {"stopped": False}
    k = 0
    while time.perf_counter() - began < seconds:
        k += 1
        beta, eta = sqrt(k + 1), 2.0 / (k + 1)
        diagonal = y + beta * (z - b)
        steps = min(ceil(k**0.25 * log(n)), n - 1)
        least, u, asked = _lanczos(C, diagonal, steps, rng.standard_normal(n))
        products += asked
        squares = u * u
        priced = value + float(diagonal @ z)
        surrogate = priced - least - float(y @ (z - b)) - 0.5 * beta * float((z - b) @ (z - b))
        infeasible = float(np.linalg.norm(z - b) / np.linalg.norm(b))
        size = max(abs(value), 1e-300)
        record |= {"iterations": k, "products": products, "infeasibility": infeasible}
        record |= {"surrogate_gap": surrogate / size, "objective": -value * n * scale_C}
        if k > 1 and infeasible <= eps and surrogate <= eps * size:
            record["stopped"] = True
            break
        value = (1 - eta) * value + eta * float(u @ (C @ u))
        z = (1 - eta) * z + eta * squares
        S *= 1 - eta
        S += eta * np.outer(u, u @ omega)
        d = z - b
        beta, dd = sqrt(k + 2), float(d @ d)
        y = y + min(1.0, beta * eta**2 / dd if dd else 1.0) * d
    return {**record, "wall": time.perf_counter() - began}


def _lanczos(C: Any, diagonal: Any, steps: int, start: Any) -> tuple[float, Any, int]:
    """Return the smallest Ritz pair of C + Diag(diagonal) and the products: two passes, O(n)."""
    first = start / np.linalg.norm(start)
    alpha: list[float] = []
    beta: list[float] = []
    weights: Any = None
    for once in (True, False):
        q, before, total = first, np.zeros_like(first), np.zeros_like(first)
        for j in range(steps if once else len(alpha)):
            if not once:
                total += weights[j] * q
            u = C @ q + diagonal * q
            if j:
                u -= beta[j - 1] * before
            if once:
                alpha.append(float(q @ u))
            u -= alpha[j] * q
            if once:
                beta.append(float(np.linalg.norm(u)))
            if beta[j] <= 1e-12:
                break
            before, q = q, u / beta[j]
        if once:
            values, vectors = eigh_tridiagonal(
                alpha, beta[: len(alpha) - 1], select="i", select_range=(0, 0)
            )
            weights = vectors[:, 0]
    return float(values[0]), total / np.linalg.norm(total), 2 * len(alpha)
