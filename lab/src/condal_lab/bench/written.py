"""The applications in CVXPY, each as a user would write it, and the solvers behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from condal_lab.bench.peers.peer import Refusal

MEMORY = 8e9  # bytes

Parts: TypeAlias = tuple[Any, Any, list[Any]]  # an objective, a variable and constraints
OPTIONS: dict[str, Callable[[float], dict[str, Any]]] = {
    "SCS": lambda tol: {"solver": "SCS", "eps_abs": tol, "eps_rel": tol, "max_iters": 10**7},
    "Clarabel": lambda tol: {
        "solver": "CLARABEL",
        **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tol),
    },
    "HiGHS": lambda tol: {"solver": "HIGHS"},
}


def engines(
    names: Sequence[str], parts: Callable[..., Parts], *data: Any
) -> dict[str, Callable[[Any, float], Any]]:
    """Return, for each of the named solvers, (model, tol) -> x; each call also compiles.

    `parts` takes the module of CVXPY and the data.
    """
    return {name: partial(_solved, name, parts, data) for name in names}


def _solved(
    name: str, parts: Callable[..., Parts], data: tuple[Any, ...], model: Any, tol: float
) -> Any:
    import cvxpy as cp

    objective, x, constraints = parts(cp, *data)
    cp.Problem(objective, constraints).solve(**OPTIONS[name](tol))
    return x.value


def lifted_signal(cp: Any, a: Any, b: Any, trace: float) -> Parts:
    """Phase retrieval: minimise |M vec x - b|^2 over Hermitian psd x, tr x <= trace."""
    p, n = a.shape
    wanted = 16.0 * p * n * n
    if wanted > MEMORY:
        raise Refusal(f"its matrix alone is {wanted / 1e9:,.0f} GB")
    rows = a.matmat(np.eye(n, dtype=complex))
    # Column by column: (a x a*)_ii is the sum of a_ij conj(a_ik) x_jk.
    M = np.einsum("ik,ij->ikj", rows.conj(), rows).reshape(p, n * n)
    x = cp.Variable((n, n), hermitian=True)
    missed = cp.real(M @ cp.vec(x, order="F")) - b
    cost = cp.sum_squares(missed / np.linalg.norm(b)) / 2
    return cp.Minimize(cost), x, [x >> 0, cp.real(cp.trace(x)) <= trace]


def nuclear_fit(cp: Any, shape: Any, i: Any, j: Any, v: Any, radius: float) -> Parts:
    """Matrix completion: half the mean squared error on the known entries."""
    x = cp.Variable(shape)
    cost = cp.sum_squares(x[i, j] - v) / (2 * v.size)
    return cp.Minimize(cost), x, [cp.normNuc(x) <= radius]


def theta(cp: Any, W: Any) -> Parts:
    """Maximise the sum of x, tr x = 1, x = 0 on the edges."""
    i, j = np.nonzero(np.triu(W.toarray()))
    x = cp.Variable(W.shape, PSD=True)
    return cp.Maximize(cp.sum(x)), x, [cp.trace(x) == 1, x[i, j] == 0]


def l1_fit(cp: Any, M: Any, b: Any, radius: float, loss: str) -> Parts:
    """Regression in a ball of the l1 norm, with coefficients that sum to 0."""
    x = cp.Variable(M.shape[1])
    missed = M @ x - b
    cost = cp.sum_squares(missed) / 2 if loss == "squares" else cp.norm1(missed)
    return cp.Minimize(cost), x, [cp.norm1(x) <= radius, cp.sum(x) == 0]


def portfolio(cp: Any, data: dict[str, Any]) -> Parts:
    """Risk of a factor model minus return, with trading costs."""
    x = cp.Variable(data["expected"].size)
    risk = cp.sum_squares(data["F"] @ x) + cp.sum_squares(cp.multiply(np.sqrt(data["d"]), x))
    cost = data["aversion"] / 2 * risk - data["expected"] @ x
    cost += data["cost"] * cp.norm1(x - data["holdings"])
    return (
        cp.Minimize(cost),
        x,
        [x >= 0, cp.sum(x) == 1, data["exposures"] @ x <= data["high"]],
    )


def matching(cp: Any, A: Any, B: Any) -> Parts:
    """Minimise |AP - PB|^2 over doubly stochastic P."""
    P = cp.Variable(A.shape)
    rows = [P >= 0, cp.sum(P, axis=0) == 1, cp.sum(P, axis=1) == 1]
    return cp.Minimize(cp.sum_squares(A @ P - P @ B)), P, rows


def local_polytope(cp: Any, problem: Any, sizes: Any) -> Parts:
    """MAP inference: the rows of condal's own problem, with the simplices as rows."""
    cost, agreement = problem.f.C, problem.A.a
    x = cp.Variable(cost.size)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    simplices = sp.csr_array((np.ones(cost.size), (owners, np.arange(cost.size))))
    return cp.Minimize(cost @ x), x, [x >= 0, simplices @ x == 1, agreement @ x == 0]


def phases(cp: Any, C: Any) -> Parts:
    """Angular synchronisation, with entries only for measured pairs."""
    x = cp.Variable(C.shape, hermitian=True)
    agreement = cp.real(cp.trace(C.conj().T @ x))
    return cp.Maximize(agreement), x, [x >> 0, cp.real(cp.diag(x)) == 1]


def identity_blocks(cp: Any, C: Any, d: int) -> Parts:
    """Pose graphs, with the translations eliminated: <C, x> over x with x_ii = I."""
    x = cp.Variable(C.shape, PSD=True)
    blocks = [x[k : k + d, k : k + d] == np.eye(d) for k in range(0, len(C), d)]
    return cp.Minimize(cp.trace(C @ x)), x, blocks


def responses(cp: Any, a: Any, Y: Any, radius: float) -> Parts:
    """Least squares in a ball of the nuclear norm."""
    x = cp.Variable((a.shape[1], Y.shape[1]))
    return cp.Minimize(cp.sum_squares(a @ x - Y) / 2), x, [cp.normNuc(x) <= radius]


def sparse_component(cp: Any, S: Any, rho: float) -> Parts:
    """Maximise <S, x> minus rho times the sum of the moduli of x."""
    x = cp.Variable(S.shape, PSD=True)
    cost = cp.sum(cp.multiply(S, x)) - rho * cp.sum(cp.abs(x))
    return cp.Maximize(cost), x, [cp.trace(x) == 1]


def unit_diagonal(cp: Any, B: Any) -> Parts:
    """Communities: maximise <B, x>, diag x = 1, x psd."""
    x = cp.Variable(B.shape, PSD=True)
    return cp.Maximize(cp.sum(cp.multiply(B, x))), x, [cp.diag(x) == 1]


def state(cp: Any, model: Any) -> Parts:
    """A density matrix from counts, with each effect as a row."""
    d, frequencies = model.dimension, model.counts / model.shots
    real = np.array([model.A.adjoint(e).dense for e in np.eye(model.counts.size)])
    effects = real[:, ::2, ::2] + 1j * real[:, 1::2, ::2]
    rho = cp.Variable((d, d), hermitian=True)
    p = cp.real(effects.reshape(-1, d * d) @ cp.vec(rho, order="F"))
    if model.loss == "squares":
        cost = cp.sum_squares(p - frequencies) / (2 * model.variance)
    else:
        rate = cp.multiply(model.shots, p + model.background / d)
        cost = cp.sum(cp.kl_div(model.counts, rate))
    return cp.Minimize(cost), rho, [rho >> 0, cp.real(cp.trace(rho)) == 1]


def relaxation(cp: Any, model: Any) -> Parts:
    """Return the relaxation of de Klerk and Sotirov (2010): equivalent, and without a face."""
    n = model.n
    i, p = np.divmod(np.arange(n * n), n)
    zero = (i[:, None] == i) != (p[:, None] == p)
    x = cp.Variable((n * n, n * n), PSD=True)
    d = cp.diag(x)
    rows = [cp.sum(d[i == k]) == 1 for k in range(n)]
    columns = [cp.sum(d[p == k]) == 1 for k in range(n)]
    constraints = [cp.sum(x) == n * n, x[zero] == 0, x >= 0, *rows, *columns]
    return cp.Minimize(cp.sum(cp.multiply(model.cost_matrix.toarray(), x))), x, constraints
