"""Signals and ratings to be recovered, judged by a truth that the solvers do not know."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from typing import Any

import numpy as np

import condal
from condal.maps.diffraction import CodedDiffraction
from condal.problems.completion import matrix_completion
from condal.problems.phases import Signal, phase_retrieval
from condal_lab.bench.peers.soft_impute import soft_impute
from condal_lab.bench.recovery import Ratings, diffraction
from condal_lab.benchmarks import programs
from condal_lab.benchmarks.instance import DATA, Instance
from condal_lab.benchmarks.programs import engines
from condal_lab.benchmarks.rivals import wirtinger_flow

RATINGS = DATA / "movielens" / "ml-latest-small_ratings.csv.xz"


def phase(side: int) -> Instance:
    """A random complex image seen through 12 random octanary masks, without noise."""
    n, known = side * side, diffraction(side)
    u, b, a = known.truth, known.model.b, CodedDiffraction(known.masks)

    def ours(tol: float, max_seconds: float | None = None) -> tuple[Any, Any]:
        model = phase_retrieval(b, masks=a.masks)
        result = condal.solve(model, tol=tol, max_seconds=max_seconds)
        return model.signal(result).values, result

    def judge(x: Any) -> dict[str, float]:
        if np.ndim(x) == 2:
            values, vectors = np.linalg.eigh(x)
            x = vectors[:, -1] * np.sqrt(max(values[-1], 0.0))
        return {"error": Signal(np.asarray(x), 0.0).error(u)}

    def lifted(cp: Any) -> Any:
        return programs.lifted_signal(a, b, known.model.trace / float(a.frame.min()))(cp)

    rivals = {"Wirtinger flow": lambda eps: wirtinger_flow(a, b, u), **engines(lifted, "SCS")}
    title = f"phase retrieval, n = {n:,}"
    return Instance(title, ours, rivals, judge, 1e-2, "signal")


def movielens() -> tuple[Any, ...]:
    """Read ml-latest-small."""
    with lzma.open(RATINGS, "rt") as file:
        table = np.genfromtxt(file, delimiter=",", skip_header=1)
    users, i = np.unique(table[:, 0], return_inverse=True)
    films, j = np.unique(table[:, 1], return_inverse=True)
    return (users.size, films.size), i, j, table[:, 2]


def completion(data: Callable[[], tuple[Any, ...]], title: str) -> Instance:
    """Hold out a tenth as a test set; the time includes the choice of the radius."""
    known = Ratings.split(*data())
    shape, train, test, values = known.shape, known.train, known.test[:2], known.test[2]

    def ours(tol: float, max_seconds: float | None = None) -> tuple[Any, Any]:
        model = matrix_completion(*train, shape=shape)
        result = condal.solve(model, tol=tol, max_seconds=max_seconds)
        return model.complete(result).entries(*test), result

    def judge(predicted: Any) -> dict[str, float]:
        return {"value": float(np.sqrt(np.mean((predicted - values) ** 2)))}

    rivals = {"soft-impute": lambda eps: soft_impute(shape, train, test)}
    return Instance(title, ours, rivals, judge, what="test RMSE", seconds=600.0)
