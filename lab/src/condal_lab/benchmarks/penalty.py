"""Oracle calls of CGAL to a proved 2e-2: the default penalty against six fixed ones, on ten
families of problems, three random ones of each, and on max-cuts of larger graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import condal
from condal_lab.benchmarks.runner import NAMES, Benchmark, Case, Row, graph
from condal_lab.generated import sparse_graph

GRID = (1e-2, 1e-1, 1.0, 10.0, 100.0, 1e3)
SIDES = (40, 70, 100)
DEGREE = 6.0  # of the random graphs
TOL, MAX_ITERS = 2e-2, 3000

Random = np.random.Generator


def _graph(n: int, rng: Random) -> Any:
    return sparse_graph(n, degree=DEGREE, seed=int(rng.integers(2**31)))


def _of_graph(build: Callable[..., Any], *options: Any) -> Callable[[int, Random], Any]:
    return lambda n, rng: build(_graph(n, rng), *options)


def _gram(rows: int, n: int, rng: Random) -> Any:
    G = rng.standard_normal((rows, n))
    return G.T @ G / rows


def _eigenvector(n: int, rng: Random) -> Any:
    Phi, Psi = _gram(n, n, rng), _gram(n, n, rng)
    alpha = 20.0 / float(np.linalg.eigvalsh(Psi)[-1])
    return condal.problems.generalised_eigenvector(Phi, Psi, alpha)


def _sparse_pca(n: int, rng: Random) -> Any:
    component = np.where(np.arange(n) < n // 5, (n // 5) ** -0.5, 0.0)
    samples = rng.standard_normal((2 * n, n)) + 2 * rng.standard_normal((2 * n, 1)) * component
    return condal.problems.sparse_pca(np.cov(samples.T), 0.3)


def _k_means(n: int, rng: Random) -> Any:
    centres = 3 * rng.standard_normal((4, 2))
    return condal.problems.k_means(
        centres[rng.integers(4, size=n)] + rng.standard_normal((n, 2)), 4
    )


def _assignment(n: int, rng: Random) -> Any:
    m = 5 + SIDES.index(n)
    A, B = (np.triu(rng.integers(0, 10, (m, m)), 1).astype(float) for _ in range(2))
    return condal.problems.quadratic_assignment(A + A.T, B + B.T)


def _linear_program(n: int, rng: Random) -> Any:
    A = rng.standard_normal((n // 4, n))
    b = A @ rng.dirichlet(np.ones(n)) + 0.02 * rng.random(n // 4)
    return condal.Problem.of(
        f=condal.Linear(rng.standard_normal(n)),
        X=condal.Simplex(n),
        A=condal.Matrix(A),
        K=condal.Box(np.full(b.size, -np.inf), b),
    )


def _completion(n: int, rng: Random) -> Any:
    L = rng.standard_normal((n, 3)) @ rng.standard_normal((3, n // 2))
    i, j = np.nonzero(rng.random(L.shape) < 0.4)
    values = L[i, j] + 0.1 * rng.standard_normal(i.size)
    values[rng.random(i.size) < 0.1] += 5.0
    radius = float(np.linalg.norm(L, "nuc"))
    shape = L.shape
    return condal.problems.matrix_completion(
        i, j, values, shape=shape, radius=radius, loss="absolute"
    )


FAMILIES: dict[str, Callable[[int, Random], Any]] = {
    "max-cut": _of_graph(condal.problems.max_cut),
    "bisection": _of_graph(condal.problems.bisection),
    "max-3-cut": _of_graph(condal.problems.max_k_cut, 3),
    "theta": _of_graph(condal.problems.theta),
    "generalised eigenvector": _eigenvector,
    "sparse PCA": _sparse_pca,
    "k-means": _k_means,
    "quadratic assignment": _assignment,
    "linear program": _linear_program,
    "completion": _completion,
}


def calls(model: Any, lam0: float | None, most: int = MAX_ITERS) -> int | None:
    """Count the oracle calls to a proved TOL; None if `most` iterations do not suffice."""
    result = condal.solve(model, condal.CGAL(lam0), tol=TOL, max_iters=most, seed=0)
    return result.oracle_calls if result.status is condal.Status.SOLVED else None


def compared(model: Any) -> Row:
    """Return the calls by the default and by each fixed lam0 that is as good as the best so far."""
    ours, best = calls(model, None), None
    fixed: dict[str, int | None] = {}
    for lam0 in sorted(GRID, key=lambda lam0: abs(np.log(lam0))):
        fixed[f"lam0={lam0:g}"] = count = calls(model, lam0, best or MAX_ITERS)
        best = count if best is None or (count is not None and count < best) else best
    ratio = None if ours is None or best is None else round(ours / best, 2)
    return {"default": ours, **{f"lam0={x:g}": fixed[f"lam0={x:g}"] for x in GRID}, "ratio": ratio}


def family(name: str) -> list[Row]:
    """Return a row for each side."""
    draw = FAMILIES[name]
    return [
        {"n": n, **compared(draw(n, np.random.default_rng(seed)))} for seed, n in enumerate(SIDES)
    ]


def max_cut(name: str) -> list[Row]:
    """Return the row of a larger graph."""
    W = graph(name)
    return [{"n": W.shape[0], **compared(condal.problems.max_cut(W))}]


BENCHMARK = Benchmark(
    "penalty",
    (
        *(Case(name, family, (name,)) for name in FAMILIES),
        *(Case(name, max_cut, (name,)) for name in NAMES),
    ),
)
