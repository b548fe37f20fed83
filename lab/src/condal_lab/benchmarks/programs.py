"""The benchmark problems in CVXPY, each as a user would write it, and the solvers behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from condal_lab.bench.peers.peer import Refusal

MEMORY = 8e9  # bytes available to a run

Make = Callable[[Any], "tuple[Any, Any, list[Any]]"]  # cvxpy -> objective, variable, constraints


def _scs(eps: float) -> dict[str, Any]:
    return {"solver": "SCS", "eps_abs": eps, "eps_rel": eps, "max_iters": 10**7}


def _clarabel(eps: float) -> dict[str, Any]:
    return {"solver": "CLARABEL", "tol_gap_abs": eps, "tol_gap_rel": eps, "tol_feas": eps}


def _highs(eps: float) -> dict[str, Any]:
    return {"solver": "HIGHS"}


ENGINES = {"SCS": _scs, "Clarabel": _clarabel, "HiGHS": _highs}


def by_cvxpy(engine: str, make: Make) -> Callable[[float], Any]:
    """Return eps -> (x, status, seconds of the solver); each call also builds the model."""

    def solve(eps: float) -> tuple[Any, str, float]:
        import cvxpy as cp

        objective, x, constraints = make(cp)
        program = cp.Problem(objective, constraints)
        program.solve(**ENGINES[engine](eps))
        stats = program.solver_stats
        return x.value, str(program.status), (stats.solve_time or 0.0) + (stats.setup_time or 0.0)

    return solve


def engines(make: Make, *names: str) -> dict[str, Callable[[float], Any]]:
    """Return the program for each of the named solvers."""
    return {name: by_cvxpy(name, make) for name in names}


def lifted_signal(a: Any, b: Any, trace: float) -> Make:
    """Phase retrieval: minimise |M vec x - b|^2 over Hermitian psd x, tr x <= trace."""

    def make(cp: Any) -> Any:
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

    return make


def nuclear_fit(shape: Any, i: Any, j: Any, v: Any, radius: float) -> Make:
    """Matrix completion: half the mean squared error on the known entries."""

    def make(cp: Any) -> Any:
        x = cp.Variable(shape)
        cost = cp.sum_squares(x[i, j] - v) / (2 * v.size)
        return cp.Minimize(cost), x, [cp.normNuc(x) <= radius]

    return make


def theta(W: Any) -> Make:
    def make(cp: Any) -> Any:
        i, j = np.nonzero(np.triu(W.toarray()))
        x = cp.Variable(W.shape, PSD=True)
        return cp.Maximize(cp.sum(x)), x, [cp.trace(x) == 1, x[i, j] == 0]

    return make


def l1_fit(M: Any, b: Any, radius: float, loss: str) -> Make:
    def make(cp: Any) -> Any:
        x = cp.Variable(M.shape[1])
        missed = M @ x - b
        cost = cp.sum_squares(missed) / 2 if loss == "squares" else cp.norm1(missed)
        return cp.Minimize(cost), x, [cp.norm1(x) <= radius, cp.sum(x) == 0]

    return make


def portfolio(data: dict[str, Any]) -> Make:
    def make(cp: Any) -> Any:
        x = cp.Variable(data["expected"].size)
        risk = cp.sum_squares(data["F"] @ x) + cp.sum_squares(cp.multiply(np.sqrt(data["d"]), x))
        cost = data["aversion"] / 2 * risk - data["expected"] @ x
        cost += data["cost"] * cp.norm1(x - data["holdings"])
        return (
            cp.Minimize(cost),
            x,
            [x >= 0, cp.sum(x) == 1, data["exposures"] @ x <= data["high"]],
        )

    return make


def matching(A: Any, B: Any) -> Make:
    def make(cp: Any) -> Any:
        P = cp.Variable(A.shape)
        rows = [P >= 0, cp.sum(P, axis=0) == 1, cp.sum(P, axis=1) == 1]
        return cp.Minimize(cp.sum_squares(A @ P - P @ B)), P, rows

    return make


def local_polytope(problem: Any, sizes: Any) -> Make:
    """MAP inference: the rows of condal's own problem, with the simplices as rows."""

    def make(cp: Any) -> Any:
        import scipy.sparse as sp

        cost, agreement = problem.f.C, problem.A.a
        x = cp.Variable(cost.size)
        owners = np.repeat(np.arange(len(sizes)), sizes)
        simplices = sp.csr_array((np.ones(cost.size), (owners, np.arange(cost.size))))
        return cp.Minimize(cost @ x), x, [x >= 0, simplices @ x == 1, agreement @ x == 0]

    return make


def phases(C: Any) -> Make:
    """Angular synchronisation, with entries only for measured pairs."""

    def make(cp: Any) -> Any:
        x = cp.Variable(C.shape, hermitian=True)
        agreement = cp.real(cp.trace(C.conj().T @ x))
        return cp.Maximize(agreement), x, [x >> 0, cp.real(cp.diag(x)) == 1]

    return make


def identity_blocks(C: Any, d: int) -> Make:
    """Pose graphs, with the translations eliminated: <C, x> over x with x_ii = I."""

    def make(cp: Any) -> Any:
        x = cp.Variable(C.shape, PSD=True)
        blocks = [x[k : k + d, k : k + d] == np.eye(d) for k in range(0, len(C), d)]
        return cp.Minimize(cp.trace(C @ x)), x, blocks

    return make


def responses(a: Any, Y: Any, radius: float) -> Make:
    def make(cp: Any) -> Any:
        x = cp.Variable((a.shape[1], Y.shape[1]))
        return cp.Minimize(cp.sum_squares(a @ x - Y) / 2), x, [cp.normNuc(x) <= radius]

    return make


def sparse_component(S: Any, rho: float) -> Make:
    def make(cp: Any) -> Any:
        x = cp.Variable(S.shape, PSD=True)
        cost = cp.sum(cp.multiply(S, x)) - rho * cp.sum(cp.abs(x))
        return cp.Maximize(cost), x, [cp.trace(x) == 1]

    return make


def unit_diagonal(B: Any) -> Make:
    """Communities: maximise <B, x>, diag x = 1, x psd."""

    def make(cp: Any) -> Any:
        x = cp.Variable(B.shape, PSD=True)
        return cp.Maximize(cp.sum(cp.multiply(B, x))), x, [cp.diag(x) == 1]

    return make


def state(model: Any) -> Make:
    """A density matrix from counts, with each effect as a row."""

    def make(cp: Any) -> Any:
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

    return make
