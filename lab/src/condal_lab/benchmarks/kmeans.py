"""k-means, 1000 x 1000: an iteration against the products of its oracle and two passes over x.

The claim: an iteration costs at most 3 (cost of a dense symmetric matrix-vector product) (number of
products of the oracle) + 2 (cost of a pass over the n x n images). All three are timed alternately,
in one run. The number of products grows with k: two windows of a run show how, and one row covers
a whole run.
"""

from __future__ import annotations

import time
from itertools import islice
from typing import Any

import numpy as np
from scipy.io import loadmat

import condal
from condal.driver.scaling import counted, normalise
from condal.methods.rules import LineSearch
from condal.storage import Factored
from condal_lab.benchmarks.record import DATA, save

WINDOWS = {20: 30, 200: 30}  # {first iteration: number of timed iterations}
WHOLE = {0: 300}


def points() -> tuple[str, Any]:
    """Return the MNIST features of Mixon, Villar and Ward if available, else ten blobs."""
    file = DATA / "kmeans_mnist" / "data_features.mat"
    if file.is_file():
        return "MNIST features", loadmat(file)["digits"].T
    rng = np.random.default_rng(0)
    return "blobs", rng.uniform(0, 4, (10, 10))[np.arange(1000) % 10] + rng.standard_normal(
        (1000, 10)
    )


class Stopwatch:
    """CPU milliseconds of single calls."""

    def __init__(self, call: Any) -> None:
        self.call = call
        self.times: list[float] = []

    def __call__(self) -> Any:
        began = time.process_time()
        result = self.call()
        self.times.append(1e3 * (time.process_time() - began))
        return result

    @property
    def median(self) -> float:
        return float(np.median(self.times))

    @property
    def mean(self) -> float:
        return float(np.mean(self.times))


def measure(data: str, model: Any, method: Any, windows: dict[int, int]) -> list[dict[str, Any]]:
    """Return one row per window of iterations, with the mean time per iteration."""
    problem, counts = counted(normalise(model.problem)[0])
    n = model.n
    matrix, vector, image, out = model.D, np.ones(n), model.D.ravel(), np.empty(n * n)
    other = image.copy()
    iterates = method.iterates(problem, Factored(n))
    rows, k = [], 0
    for begin, many in windows.items():
        for _ in islice(iterates, begin - k):
            pass
        before, oracle_before = counts.matvecs, counts.oracle_cpu_seconds
        step = Stopwatch(lambda: next(iterates))
        product = Stopwatch(lambda: matrix @ vector)
        sweep = Stopwatch(lambda: np.add(image, other, out=out))
        for _ in range(many):
            step(), sweep(), sweep()
            for _ in range(10):  # in sequence, as the oracle makes them
                product()
        k = begin + many
        products = (counts.matvecs - before) / many
        budget = 3 * products * product.median + 2 * sweep.median
        rows.append(
            {
                "data": data,
                "method": method.name,
                "k": f"{begin}..{k}",
                "products": products,
                "product_ms": product.median,
                "pass_ms": sweep.median,
                "oracle_ms": 1e3 * (counts.oracle_cpu_seconds - oracle_before) / many,
                "iteration_ms": step.mean,
                "allowed_ms": budget,
                "ratio": step.mean / budget,
            }
        )
    return rows


def main() -> None:
    """Measure CGAL with both step rules."""
    data, given = points()
    model = condal.problems.k_means(given, 10)
    methods = (condal.CGAL(), condal.CGAL(eta=LineSearch()))
    rows = [
        row
        for method in methods
        for windows in (WINDOWS, WHOLE)
        for row in measure(data, model, method, windows)
    ]
    save("kmeans", rows)


if __name__ == "__main__":
    main()
