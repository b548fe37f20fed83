"""One call of the oracle against SciPy's `eigsh`, by engine: the choice of `Automatic`.

The calls are those of a CGAL run, with its warm starts, at a relative accuracy of 1e-2 for both.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import Any

from scipy.sparse.linalg import eigsh

import condal
from condal.driver.scaling import normalise
from condal.linalg.gradients import add
from condal.storage import Sketch
from condal_lab.benchmarks.runner import NAMES, Benchmark, Case, Row, graph, timed
from condal_lab.generated import sparse_graph

ENGINES: dict[str, Any] = {
    "auto": condal.eigen.Automatic(),
    "dense": condal.eigen.Dense(),
}
LARGE = "random 50,000"
MAX_DENSE_SIDE = 2000


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


def fastest(solve: Any, exact: float) -> tuple[float, float]:
    """Return the CPU milliseconds of the fastest of five runs and the true relative error."""
    runs = [timed(solve) for _ in range(5)]
    value = runs[-1][0]
    return 1e3 * min(cpu for _, _, cpu in runs), float((value - exact) / abs(exact))


def measure(name: str) -> list[Row]:
    """Time the second, the 20th and the 100th call."""
    W = sparse_graph(50_000, degree=4.0) if name == LARGE else graph(name)
    rows = []
    for k, v, guess in gradients(W, (2, 20, 100)):
        m = v.to_sparse().tocsr()
        exact = float(eigsh(m, k=1, which="SA", tol=1e-7, return_eigenvectors=False)[0])
        rival = partial(eigsh, m, k=1, which="SA", tol=1e-2, v0=guess)
        eigsh_ms, eigsh_error = fastest(lambda rival=rival: rival()[0][0], exact)
        row = {"k": k, "eigsh_ms": eigsh_ms, "eigsh_error": eigsh_error}
        for label, engine in ENGINES.items():
            if label != "dense" or v.n <= MAX_DENSE_SIDE:
                ours = partial(engine.smallest, v, 1e-2 * abs(exact), guess)
                ms, error = fastest(lambda ours=ours: ours().value, exact)
                row |= {f"{label}_ratio": ms / eigsh_ms, f"{label}_error": error}
        rows.append(row)
    return rows


BENCHMARK = Benchmark("oracle", tuple(Case(name, measure, (name,)) for name in (*NAMES, LARGE)))
