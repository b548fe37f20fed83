"""One iteration of CGAL on max-cut against a tight NumPy loop with the same Lanczos steps.

The NumPy loop takes as many steps as the oracle took in the same iteration, looks at its Ritz
values once, and keeps neither proofs nor a history. Both run in turn, and the medians count.
"""

from __future__ import annotations

from functools import partial
from math import sqrt
from typing import Any

import numpy as np
from scipy.linalg import eigh_tridiagonal

import condal
from condal.driver.scaling import normalise
from condal_lab.benchmarks.runner import Benchmark, Case, Row, graph, timed

WARM, ITERATIONS, RUNS = 20, 200, 9  # the first iterations are the start of a solve


def solved(W: Any, iterations: int) -> condal.Result:
    """Return the result of so many iterations of the library."""
    return condal.solve(condal.problems.max_cut(W), condal.CGAL(), tol=0, max_iters=iterations)


def tight(C: Any, trace: float, steps: list[int], lams: list[float], sigmas: list[float]) -> None:
    """Iterate with these numbers of steps, penalties and dual steps, on diag x = b."""
    n = C.shape[0]
    rng, b = np.random.default_rng(0), np.full(n, 1 / sqrt(n))
    scale, y, Ax, value = sqrt(n) / n, np.zeros(n), np.zeros(n), 0.0
    atoms, weights = np.empty((len(steps), n)), np.empty(len(steps))
    for k, (count, lam, sigma) in enumerate(zip(steps, lams, sigmas, strict=True), start=1):
        diagonal = scale * (y + lam * (Ax - b))
        Q, alpha, beta = np.empty((count, n)), np.empty(count), np.empty(count)
        q = rng.standard_normal(n)
        q /= sqrt(q @ q)
        for j in range(count):
            Q[j] = q
            u = C @ q
            u += diagonal * q
            if j:
                u -= beta[j - 1] * Q[j - 1]
            alpha[j] = q @ u
            u -= alpha[j] * q
            beta[j] = sqrt(u @ u)
            q = u / beta[j]
        _, ritz = eigh_tridiagonal(alpha, beta[:-1], select="i", select_range=(0, 0))
        s = ritz[:, 0] @ Q
        eta = 2 / (k + 1)
        Ax += eta * (trace * scale * s * s - Ax)
        value += eta * (trace * float(s @ (C @ s)) - value)
        y += sigma * (Ax - b)
        weights[: k - 1] *= 1 - eta
        atoms[k - 1], weights[k - 1] = s, eta * trace


def measure(name: str) -> list[Row]:
    """Return the CPU milliseconds per iteration of both loops, and their ratio."""
    W = graph(name)
    problem, _ = normalise(condal.problems.max_cut(W).problem)
    gradient: Any = problem.f.M.adjoint(np.ones(1))
    C, trace = gradient.to_sparse().tocsr(), problem.X.max_norm
    runs = []
    for _ in range(RUNS):
        _, _, first = timed(partial(solved, W, WARM))
        last, _, cpu = timed(partial(solved, W, WARM + ITERATIONS))
        steps = np.diff(last.history["matvecs"], prepend=0).astype(int).tolist()
        inputs = steps, last.history["lam"].tolist(), last.history["sigma"].tolist()
        _, _, least = timed(partial(tight, C, trace, *inputs))
        short = tuple(numbers[:WARM] for numbers in inputs)
        _, _, least_first = timed(partial(tight, C, trace, *short))
        ours, theirs = cpu - first, least - least_first
        runs.append((1e3 * ours / ITERATIONS, 1e3 * theirs / ITERATIONS, ours / theirs))
    ours, theirs, ratio = map(float, np.median(runs, axis=0))
    products = sum(steps[WARM:]) / ITERATIONS
    return [{"products": products, "condal_ms": ours, "numpy_ms": theirs, "ratio": ratio}]


BENCHMARK = Benchmark("iteration", (Case("G1", measure, ("G1",)),))
