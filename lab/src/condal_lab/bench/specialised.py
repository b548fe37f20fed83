"""Methods that no package provides, in NumPy: Wirtinger flow, and two of state tomography.

They are written to be hard to beat: an exact line search where the papers use a step-size schedule,
condal's fast transforms for Pauli bases, and a proved gap as the stopping rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

POWER = 50  # power iterations of the spectral start (Candes, Li and Soltanolkotabi 2015)
STEPS = 2_000
CHECKED = 10  # steps of R rho R between two proofs


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


def projected_least_squares(inverted: Any) -> Any:
    """Return the nearest density matrix to a Hermitian matrix (Guta, Kahn, Kueng, Tropp 2020)."""
    values, vectors = np.linalg.eigh(inverted)
    above = np.cumsum(values[::-1]) - 1.0
    shifts = above / np.arange(1, values.size + 1)
    shift = shifts[np.flatnonzero(values[::-1] > shifts)[-1]]
    return (vectors * np.maximum(values - shift, 0.0)) @ vectors.conj().T


def r_rho_r(
    eps: float, probabilities: Any, adjoint: Any, counts: Any, background: float, d: int
) -> Any:
    """Maximise the likelihood by rho <- R rho R / tr (Lvovsky 2004), from the mixed state.

    R is the sum of k_i / p_i times the effects. tr R sigma - tr R rho bounds what any state sigma
    gains over rho in the likelihood: it stops when the largest such gain is eps of half the
    deviance, as condal does.
    """
    rho = np.eye(d, dtype=complex) / d
    some, shots = counts > 0, counts.sum()
    saturated = float(counts[some] @ np.log(counts[some]))
    settings = counts.size // d
    for k in range(STEPS):
        rates = (probabilities(rho) + background) * (shots / settings)
        R = adjoint(counts / np.maximum(rates, 1e-300)) * (shots / settings)
        if k % CHECKED == 0:
            deviance = saturated - float(counts[some] @ np.log(rates[some])) + rates.sum() - shots
            gain = float(np.linalg.eigvalsh(R)[-1] - np.vdot(R, rho).real)
            if gain <= eps * deviance:
                break
        rho = R @ rho @ R
        rho = 0.5 * (rho + rho.conj().T) / np.trace(rho).real
    return rho
