"""Everyday problems with matrix inequalities: systems, structures, polynomials and quantum states.

They are functions like those of `everyday`.
"""

from __future__ import annotations

from functools import reduce
from itertools import product
from typing import Any

import numpy as np
from scipy.linalg import solve_continuous_lyapunov, sqrtm

from condal.nonsmooth.levels import onto_simplex
from condal_lab.bench.conic.families import Ground, ground_structure, peak_gain, stable_system

PAULI = (
    np.eye(2),
    np.array([[0, 1], [1, 0]]),
    np.array([[0, -1j], [1j, 0]]),
    np.diag([1.0, -1.0]),
)


def sum_of_squares(cp: Any) -> tuple[Any, float]:
    """The largest lower bound of the six-hump camel function that a sum of squares proves."""
    camel = {(2, 0): 4.0, (4, 0): -2.1, (6, 0): 1 / 3, (1, 1): 1.0, (0, 2): -4.0, (0, 4): 4.0}
    basis = [(i, j) for i in range(4) for j in range(4 - i)]
    Q, bound = cp.Variable((len(basis), len(basis)), PSD=True), cp.Variable()
    sums: dict[tuple[int, int], list[Any]] = {}
    for (i, a), (j, b) in product(enumerate(basis), repeat=2):
        sums.setdefault((a[0] + b[0], a[1] + b[1]), []).append(Q[i, j])
    limits = [
        cp.sum(cp.hstack(terms)) == camel.get(power, 0.0) - (bound if power == (0, 0) else 0.0)
        for power, terms in sums.items()
    ]
    return cp.Problem(cp.Maximize(bound), limits), -1.0316284534898774


def truss(cp: Any) -> tuple[Any, float]:
    """The least compliance of a truss of 5 x 3 nodes and volume 1: a linear program squared."""
    ground: Ground = ground_structure(5, 3)
    t, compliance = cp.Variable(len(ground.lengths), nonneg=True), cp.Variable()
    K = ground.directions.T @ cp.diag(cp.multiply(ground.lengths**-2.0, t)) @ ground.directions
    f = ground.load[:, None]
    limits = [cp.bmat([[cp.reshape(compliance, (1, 1), order="F"), f.T], [f, K]]) >> 0]
    return cp.Problem(cp.Minimize(compliance), [*limits, cp.sum(t) <= 1]), ground.compliance()


def lyapunov(cp: Any) -> tuple[Any, float]:
    """The least trace of P with A'P + PA + Q <= 0: the solution of Lyapunov's equation."""
    A, B, _ = stable_system(8, 2, seed=11)
    Q = np.eye(8) + B @ B.T
    P = cp.Variable((8, 8), PSD=True)
    problem = cp.Problem(cp.Minimize(cp.trace(P)), [A.T @ P + P @ A + Q << 0])
    return problem, float(np.trace(solve_continuous_lyapunov(A.T, -Q)))


def h_infinity(cp: Any) -> tuple[Any, float]:
    """The H-infinity norm squared of a system of 6 states, by the bounded real lemma."""
    A, B, C = stable_system(6, 2, seed=12)
    P, level = cp.Variable((6, 6), PSD=True), cp.Variable()
    blocks = cp.bmat([[A.T @ P + P @ A + C.T @ C, P @ B], [B.T @ P, -level * np.eye(2)]])
    return cp.Problem(cp.Minimize(level), [blocks << 0]), peak_gain(A, B, C) ** 2


def tomography(cp: Any) -> tuple[Any, float]:
    """The state of 3 qubits nearest to noisy Pauli expectations: a projection onto the simplex."""
    rng = np.random.default_rng(13)
    paulis = [reduce(np.kron, triple) for triple in product(PAULI, repeat=3)]
    psi = rng.standard_normal(8) + 1j * rng.standard_normal(8)
    psi /= np.linalg.norm(psi)
    seen = np.array([np.vdot(psi, P @ psi).real for P in paulis])
    seen[1:] += 0.1 * rng.standard_normal(63)
    rho = cp.Variable((8, 8), hermitian=True)
    expected = cp.hstack([cp.real(cp.trace(P @ rho)) for P in paulis])
    problem = cp.Problem(
        cp.Minimize(cp.sum_squares(expected - seen)), [rho >> 0, cp.real(cp.trace(rho)) == 1]
    )
    # The Pauli matrices are orthogonal, of squared norm 8.
    eigenvalues = np.linalg.eigvalsh(sum(s * P for s, P in zip(seen, paulis, strict=True)) / 8)
    return problem, 8 * float(np.sum((onto_simplex(eigenvalues, 1.0) - eigenvalues) ** 2))


def fidelity(cp: Any) -> tuple[Any, float]:
    """The fidelity of two states of side 6: the trace norm of sqrt(rho) sqrt(sigma)."""
    rho, sigma = (_state(6, seed) for seed in (14, 15))
    X = cp.Variable((6, 6), complex=True)
    limits = [cp.bmat([[rho, X], [X.H, sigma]]) >> 0]
    value = float(np.linalg.norm(sqrtm(rho) @ sqrtm(sigma), "nuc"))
    return cp.Problem(cp.Maximize(cp.real(cp.trace(X))), limits), value


def _state(n: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    R = rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n))
    return R @ R.conj().T / np.linalg.norm(R) ** 2
