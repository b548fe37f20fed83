"""The oracle: one call against SciPy's `eigsh`, by engine, and its share of a CGAL run."""

from __future__ import annotations

import time
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh

import condal
from condal.driver.scaling import normalise
from condal.linalg.gradients import add
from condal.methods.rules import LineSearch
from condal.storage import Sketch
from condal_lab.benchmarks.record import instances, random_graph, save

ENGINES: dict[str, Any] = {
    "auto": condal.eigen.Automatic(),
    "arpack": condal.eigen.Arpack(),
    "dense": condal.eigen.Dense(),
}


def gradients(W: Any, at: tuple[int, ...]) -> list[tuple[int, Any, Any]]:
    """Return (k, v_k, s_{k-1}) along a CGAL run: real inputs of the oracle, with its warm start."""
    problem, _ = normalise(condal.problems.max_cut(W).problem)
    states = condal.CGAL().iterates(problem, Sketch(W.shape[0], 1))
    inputs, guess = [], None
    for state in islice(states, max(at)):
        if state.k in at:
            v = add(problem.f.M.adjoint(problem.f.gradient(state.Mx)), problem.A.adjoint(state.w))
            inputs.append((state.k, v, guess))
        atom: Any = state.s
        guess = atom.U[:, 0]
    return inputs


def measure(solve: Any, exact: float) -> tuple[float, float]:
    """Return the CPU milliseconds of the fastest of five runs and the true relative error."""
    best, value = np.inf, np.nan
    for _ in range(5):
        began = time.process_time()
        value = solve()
        best = min(best, 1e3 * (time.process_time() - began))
    return best, float((value - exact) / abs(exact))


def calls() -> None:
    """Time one call at a relative accuracy of 1e-2 for both, with the resulting error."""
    rows = []
    graphs = instances() | {"random 50,000": random_graph(50_000, 4.0)}
    for name, W in graphs.items():
        for k, v, guess in gradients(W, (2, 20, 100)):
            m = v.to_sparse().tocsr()
            exact = float(eigsh(m, k=1, which="SA", tol=1e-7, return_eigenvectors=False)[0])
            eigsh_ms, eigsh_error = measure(
                lambda m=m, guess=guess: eigsh(m, k=1, which="SA", tol=1e-2, v0=guess)[0][0], exact
            )
            row = {"graph": name, "k": k, "eigsh_ms": eigsh_ms, "eigsh_error": eigsh_error}
            for label, engine in ENGINES.items():
                if label == "dense" and v.n > 2000:
                    row |= {"dense_ratio": float("nan"), "dense_error": float("nan")}
                    continue
                ours = partial(engine.smallest, v, 1e-2 * abs(exact), guess)
                ms, error = measure(lambda ours=ours: ours().value, exact)
                row |= {f"{label}_ratio": ms / eigsh_ms, f"{label}_error": error}
            rows.append(row)
    save("oracle_calls", rows)


def share() -> None:
    """Measure the share of a run spent outside the oracle, including proofs and set-up."""
    rows = []
    for name, W in instances().items():
        if not name.startswith("G1") and not name.startswith("G40"):
            continue
        model = condal.problems.max_cut(W)
        for method in (condal.CGAL(), condal.CGAL(eta=LineSearch())):
            for tol in (1e-2, 3e-3):
                result = condal.solve(model, method, tol=tol, max_seconds=120)
                rows.append(
                    {
                        "graph": name,
                        "method": result.method,
                        "tol": tol,
                        "status": result.status.name,
                        "oracle_calls": result.oracle_calls,
                        "matvecs": result.matvecs,
                        "cpu_seconds": result.cpu_seconds,
                        "outside": 1 - result.oracle_cpu_seconds / result.cpu_seconds,
                    }
                )
    save("oracle_share", rows)


def main() -> None:
    """Write both tables."""
    calls()
    share()


if __name__ == "__main__":
    main()
