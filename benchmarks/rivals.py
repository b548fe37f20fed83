"""Wirtinger flow, which no package provides, in NumPy.

It is written to be hard to beat: it uses an exact line search where the papers use a step-size
schedule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

POWER = 50  # power iterations of the spectral start (Candes, Li and Soltanolkotabi 2015)
STEPS = 2_000


def wirtinger_flow(a: Any, b: Any, truth: Any, *, error: float = 1e-2, seed: int = 0) -> Any:
    """Find u with |(a u)_i|^2 near b_i by steepest descent on ||a u|^2 - b|^2, spectral start.

    It stops as soon as it is within `error` of the truth, which real users do not know.
    """
    rng = np.random.default_rng(seed)
    n = a.shape[1]
    u = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    for _ in range(POWER):
        u = a.rmatvec(b * a.matvec(u / np.linalg.norm(u)))
    image = a.matvec(u)
    scale = np.sqrt(b.sum() / np.vdot(image, image).real)
    u, image = scale * u, scale * image
    for _ in range(STEPS):
        if _apart(u, truth) <= error:
            break
        missed = np.abs(image) ** 2 - b
        d = -a.rmatvec(missed * image)
        along = a.matvec(d)
        # |image + t along|^2 - b = missed + 2 t cross + t^2 square: a quartic in t.
        cross, square = (image.conj() * along).real, np.abs(along) ** 2
        slope = [
            4 * (square @ square),
            12 * (cross @ square),
            4 * (missed @ square) + 8 * (cross @ cross),
            4 * (missed @ cross),
        ]
        roots = np.roots(slope)
        t = float(min(roots[np.abs(roots.imag) < 1e-9 * np.abs(roots)].real, key=abs))
        u, image = u + t * d, image + t * along
    return u


def _apart(u: Any, truth: Any) -> float:
    product = np.vdot(truth, u)
    return float(np.linalg.norm(u - truth * product / abs(product)) / np.linalg.norm(truth))
