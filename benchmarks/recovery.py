"""Signals and ratings to be recovered, judged by a truth that the solvers do not know."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from typing import Any

import numpy as np

import condal
from benchmarks import programs
from benchmarks.instance import Instance
from benchmarks.programs import engines
from benchmarks.record import DATA
from benchmarks.rivals import soft_impute, wirtinger_flow
from condal.maps.diffraction import CodedDiffraction
from condal.problems.completion import matrix_completion
from condal.problems.phases import Signal, phase_retrieval

RATINGS = DATA / "movielens" / "ml-latest-small_ratings.csv.xz"


def phase(side: int) -> Instance:
    """A random complex image seen through 12 random octanary masks, without noise."""
    rng = np.random.default_rng(0)
    n, many = side * side, (12, side, side)
    turns = np.array([1, -1, 1j, -1j])[rng.integers(0, 4, many)]
    masks = turns * np.where(rng.random(many) < 0.8, np.sqrt(0.5), np.sqrt(3))
    u = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    a = CodedDiffraction(masks)
    b = np.abs(a.matvec(u)) ** 2

    def ours(tol: float, max_seconds: float | None = None) -> tuple[Any, Any]:
        model = phase_retrieval(b, masks=masks)
        result = condal.solve(model, tol=tol, max_seconds=max_seconds)
        return model.signal(result).values, result

    def judge(x: Any) -> dict[str, float]:
        if np.ndim(x) == 2:
            values, vectors = np.linalg.eigh(x)
            x = vectors[:, -1] * np.sqrt(max(values[-1], 0.0))
        return {"error": Signal(np.asarray(x), 0.0).error(u)}

    def lifted(cp: Any) -> Any:
        return programs.lifted_signal(a, b, phase_retrieval(b, masks=masks).trace)(cp)

    rivals = {"Wirtinger flow": lambda eps: wirtinger_flow(a, b, u), **engines(lifted, "SCS")}
    title = f"phase retrieval, n = {n:,}"
    return Instance(title, ours, rivals, judge, 1e-2, "signal")


def ratings(m: int, n: int, known: int, rank: int = 10) -> tuple[Any, ...]:
    """Ratings in half stars: user and item effects, low rank, and noise, without duplicates."""
    rng = np.random.default_rng(0)
    users, items = rng.gamma(0.7, size=m), rng.gamma(0.5, size=n)
    drawn = np.zeros(0, dtype=np.int64)
    while drawn.size < known:
        i = rng.choice(m, 2 * known, p=users / users.sum())
        drawn = np.union1d(drawn, i * n + rng.choice(n, 2 * known, p=items / items.sum()))
    i, j = np.divmod(np.sort(rng.choice(drawn, known, replace=False)), n)
    U, V = (
        rng.standard_normal((m, rank)) * np.geomspace(1, 0.3, rank),
        rng.standard_normal((n, rank)),
    )
    v = 3.5 + 0.4 * rng.standard_normal(m)[i] + 0.5 * rng.standard_normal(n)[j]
    v += 0.25 * np.einsum("kr,kr->k", U[i], V[j]) + 0.8 * rng.standard_normal(known)
    return (m, n), i, j, np.clip(np.rint(2 * v) / 2, 0.5, 5)


def movielens() -> tuple[Any, ...]:
    """Read ml-latest-small."""
    with lzma.open(RATINGS, "rt") as file:
        table = np.genfromtxt(file, delimiter=",", skip_header=1)
    users, i = np.unique(table[:, 0], return_inverse=True)
    films, j = np.unique(table[:, 1], return_inverse=True)
    return (users.size, films.size), i, j, table[:, 2]


def completion(data: Callable[[], tuple[Any, ...]], title: str) -> Instance:
    """Hold out a tenth as a test set; the time includes the choice of the radius."""
    shape, i, j, v = data()
    out = np.random.default_rng(1).random(v.size) < 0.1
    train, test = (i[~out], j[~out], v[~out]), (i[out], j[out])

    def ours(tol: float, max_seconds: float | None = None) -> tuple[Any, Any]:
        model = matrix_completion(*train, shape=shape)
        result = condal.solve(model, tol=tol, max_seconds=max_seconds)
        return model.complete(result).entries(*test), result

    def judge(predicted: Any) -> dict[str, float]:
        return {"value": float(np.sqrt(np.mean((predicted - v[out]) ** 2)))}

    rivals = {"soft-impute": lambda eps: soft_impute(shape, train, test)}
    return Instance(title, ours, rivals, judge, what="test RMSE", seconds=600.0)
