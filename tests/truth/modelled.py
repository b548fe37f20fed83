"""Random CVXPY problems, solved by CONDAL and by Clarabel."""

import warnings
from typing import Any

import cvxpy as cp
import numpy as np

from attempts import Findings
from condal.cvxpy import CONDAL
from truth.case import Asked
from truth.rivals import clarabel_says


def random_problem(seed: int) -> tuple[str, Any]:
    """Return a name and a problem: mostly feasible, some infeasible, some unbounded."""
    rng = np.random.default_rng([seed, 41])
    kinds = (_lp, _cone, _sdp, _fit, _spectral, _hermitian, _mixed)
    kind = kinds[int(rng.integers(len(kinds)))]
    return kind.__name__.strip("_"), kind(rng)


def _lp(rng) -> Any:
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 7))
    x, G = cp.Variable(n), rng.integers(-3, 4, (m, n)).astype(float)
    rules = [G @ x <= rng.integers(-2, 5, m)]
    if rng.random() < 0.7:
        rules += [x >= -1.0, x <= 2.0]
    return cp.Problem(cp.Minimize(rng.integers(-3, 4, n) @ x + float(rng.choice([0, 100]))), rules)


def _cone(rng) -> Any:
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    x, G = cp.Variable(n), rng.standard_normal((m, n))
    rules = [cp.norm2(G @ x - rng.standard_normal(m)) <= float(rng.choice([0.1, 3.0]))]
    rules += [cp.sum(x) == 1] if rng.random() < 0.5 else [cp.norm2(x) <= 2]
    return cp.Problem(cp.Minimize(rng.standard_normal(n) @ x), rules)


def _symmetric(rng, n: int) -> np.ndarray:
    a = rng.standard_normal((n, n))
    return a + a.T


def _sdp(rng) -> Any:
    n, m = int(rng.integers(1, 5)), int(rng.integers(0, 4))
    X, g = cp.Variable((n, n), PSD=True), rng.standard_normal((n, n))
    rows = [_symmetric(rng, n) for _ in range(m)]
    rules = [cp.trace(A @ X) == float(np.sum(A * (g @ g.T))) for A in rows]
    if rng.random() < 0.8:
        rules += [cp.trace(X) <= float(np.sum(g * g)) + 1]
    return cp.Problem(cp.Minimize(cp.trace(_symmetric(rng, n) @ X)), rules)


def _fit(rng) -> Any:
    m, n = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    M, b, x = rng.standard_normal((m, n)), rng.standard_normal(m), cp.Variable(n)
    losses = (cp.norm1, cp.norm2, cp.norm_inf, cp.sum_squares)
    loss = losses[int(rng.integers(4))](M @ x - b)
    rules = [x >= 0] if rng.random() < 0.5 else []
    return cp.Problem(cp.Minimize(loss + float(rng.choice([0.1, 1.0])) * cp.norm1(x)), rules)


def _spectral(rng) -> Any:
    n, k = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    x, F = cp.Variable(k), [_symmetric(rng, n) for _ in range(k + 1)]
    whole = F[0] + sum(x[i] * F[i + 1] for i in range(k))
    goal = cp.lambda_max(whole) if rng.random() < 0.5 else cp.sigma_max(whole)
    return cp.Problem(cp.Minimize(goal), [cp.norm_inf(x) <= 3] if rng.random() < 0.5 else [])


def _hermitian(rng) -> Any:
    n = int(rng.integers(2, 4))  # of 1 x 1 CVXPY warns, of itself
    H = cp.Variable((n, n), hermitian=True)
    C = rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n))
    goal = cp.real(cp.trace((C + C.conj().T) @ H))
    return cp.Problem(cp.Maximize(goal), [H >> 0, cp.real(cp.trace(H)) == 2])


def _mixed(rng) -> Any:
    n = int(rng.integers(1, 4))
    X, t, u = cp.Variable((n, n), PSD=True), cp.Variable(), cp.Variable(n, nonneg=True)
    rules = [cp.trace(X) + cp.sum(u) == 2, cp.norm(X - np.eye(n), "fro") <= t, t <= 4]
    goal = t + cp.trace(_symmetric(rng, n) @ X) + rng.standard_normal(n) @ u
    return cp.Problem(cp.Minimize(goal), rules)


def attempt_modelled(seed: int, tol: float, seconds: float) -> Findings:
    """Return the findings for one problem, with CVXPY's status."""
    story, problem = random_problem(seed)
    findings = Findings(story=story)
    said = clarabel_says(Asked(problem))
    try:
        with warnings.catch_warnings():
            # CVXPY warns of an inaccurate answer
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            problem.solve(solver=CONDAL(tol=tol, max_seconds=seconds))
        status = problem.status
    except cp.error.SolverError:
        status = "refused"
    sense = -1.0 if isinstance(problem.objective, cp.Maximize) else 1.0
    # it may report a far point on a ray as solved
    rough = said.status == "solved" and not said.width <= 0.1 * tol * max(1.0, abs(said.high))
    findings.judged = said.status != "unknown" and not rough
    if said.status == "solved" and findings.judged:
        findings.ask(
            status not in ("infeasible", "unbounded"), f"{status}, but the rival solves it"
        )
        if status == "optimal":
            value = sense * float(problem.value)
            # what tol is relative to may be the objective without what is constant in it
            aim = 3 * tol * max(1.0, abs(value), abs(said.high), 100.0 if story == "lp" else 1.0)
            apart = max(value - said.high, said.low - value)
            findings.ask(apart <= aim, f"optimal at {value!r}, not [{said.low!r}, {said.high!r}]")
        else:
            findings.short.append(f"{status} on a problem with a solution")
    elif said.status in ("infeasible", "unbounded"):
        other = {"infeasible": "unbounded", "unbounded": "infeasible"}[said.status]
        findings.ask(status != "optimal", f"optimal, but the rival proves it {said.status}")
        if status not in (said.status, other, "infeasible_or_unbounded"):
            findings.short.append(f"{status} on a problem that is {said.status}")
    findings.said = {"optimal": "SOLVED"}.get(status, status.upper())
    return findings
