"""Linear maps: images of low-rank points, adjoints, and products with the resulting gradient.

`share` compares with the memory bandwidth: the bytes per second that an image must touch, over
those that `np.copyto` moves in the same run on arrays of the same size. `loop_ratio` compares with
a loop over the constraints, the simplest way to write a map. Gathers of short rows from beyond the
cache cannot reach a share of 1.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

import condal
from condal.linalg.gradients import add
from condal.linalg.points import symmetric_product
from condal.linalg.symmetric import Symmetric
from condal_lab.benchmarks.record import random_graph, save

LOOPED = 200  # constraints in the timed loop; the time is scaled to all of them


@dataclass(frozen=True)
class Case:
    name: str
    A: Any
    n: int
    rank: int
    touched: Callable[[int], float]  # rank -> bytes touched by an image
    one: Callable[[int, Any, Any], float]  # (Ax)_i of U diag(w) U', for the loop


def entries(n: int, p: int, rank: int) -> Case:
    rng = np.random.default_rng(n)
    i, j = np.sort(rng.integers(0, n, p)), rng.integers(0, n, p)
    return Case(
        f"Entries {p:,}",
        condal.Entries(n, i, j),
        n,
        rank,
        lambda r: p * (16.0 * r + 16 + 8),
        lambda k, U, w: float((U[i[k]] * w) @ U[j[k]]),
    )


def inner(n: int, p: int, rank: int) -> Case:
    rng = np.random.default_rng(p)
    owner = np.repeat(np.arange(p), 3)
    i, j = rng.integers(0, n, (2, 3 * p))
    v = rng.standard_normal(3 * p)
    A = condal.Inner.from_triplets(n, owner, rows=i, cols=j, values=v)
    both = [
        sp.csr_array(
            (np.tile(v[block], 2), (np.r_[i[block], j[block]], np.r_[j[block], i[block]])), (n, n)
        )
        for block in (slice(3 * k, 3 * k + 3) for k in range(LOOPED))
    ]
    return Case(
        f"Inner {p:,}",
        A,
        n,
        rank,
        lambda r: 3 * p * (16.0 * r + 16 + 8 + 12) + 8 * p,
        lambda k, U, w: float(w @ np.einsum("ij,ij->j", U, both[k] @ U)),
    )


def quadratics(n: int, p: int, rank: int, a: Any, kind: str) -> Case:
    size = 12.0 * a.nnz if sp.issparse(a) else 8.0 * a.size
    gathered = 8.0 * a.nnz if sp.issparse(a) else 0.0
    return Case(
        f"Quadratics {kind} {p:,}",
        condal.Quadratics(a),
        n,
        rank,
        lambda r: size + r * (gathered + 8.0 * p) + 8 * p,
        lambda k, U, w: float(w @ np.ravel(a[[k]] @ U) ** 2),
    )


def cases() -> Iterator[Case]:
    rng = np.random.default_rng(0)
    yield entries(200, 5_000, 20)
    yield entries(2_000, 500_000, 40)
    yield entries(100_000, 500_000, 20)
    yield inner(1_000, 5_000, 20)
    yield inner(20_000, 500_000, 20)
    yield quadratics(1_000, 10_000, 20, rng.standard_normal((10_000, 1_000)), "dense")
    thin = sp.csr_array(
        (rng.standard_normal(10**6), rng.integers(0, 10_000, 10**6), np.arange(0, 10**6 + 1, 10)),
        shape=(100_000, 10_000),
    )
    yield quadratics(10_000, 100_000, 20, thin, "sparse")


def fastest(work: Callable[[], Any]) -> float:
    """Return the CPU seconds of the fastest of several runs, not counting the first."""
    work()
    best, began = np.inf, time.process_time()
    for k in range(50):
        before = time.process_time()
        work()
        best = min(best, time.process_time() - before)
        if k >= 2 and time.process_time() - began > 0.5:
            break
    return max(best, 1e-7)


def bandwidth(size: float) -> float:
    """Return the bytes per second that a copy moves between arrays of `size` bytes in total."""
    source = np.zeros(max(1, int(size / 16)))
    target = np.empty_like(source)
    return 16 * source.size / fastest(lambda: np.copyto(target, source))


def measured(case: Case) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    A, U, D = case.A, *rng.standard_normal((2, case.n, case.rank))
    x = condal.LowRank(U, np.ones(case.rank))
    along = symmetric_product(U, D)
    y = rng.standard_normal(A.size)
    C = Symmetric(case.n, sparse=(sp.csr_array(random_graph(case.n, 6.0)),), diagonal=y[: case.n])
    if y.size < case.n:
        C = Symmetric(case.n, sparse=C.sparse, diagonal=rng.standard_normal(case.n))
    image, loop = A(x), min(LOOPED, A.size)
    looped = [case.one(k, x.U, x.weights) for k in range(loop)]
    np.testing.assert_allclose(looped, image[:loop], rtol=1e-9, atol=1e-9)
    seconds = fastest(lambda: A(x))
    each = fastest(lambda: [case.one(k, x.U, x.weights) for k in range(loop)]) / loop
    V: Any = add(C, A.adjoint(y))
    merged = sp.csr_array(V.to_sparse()) if V.factorable else None
    product = fastest(lambda: V @ U)
    return {
        "map": case.name,
        "n": case.n,
        "rank": case.rank,
        "image_ms": 1e3 * seconds,
        "share": case.touched(case.rank) / seconds / bandwidth(case.touched(case.rank)),
        "loop_ratio": each * A.size / seconds,
        "symmetric_ms": 1e3 * fastest(lambda: A(along)),
        "gradient_ms": 1e3 * fastest(lambda: add(C, A.adjoint(y))),
        "product_ms": 1e3 * product,
        "merged_ratio": np.nan if merged is None else product / fastest(lambda: merged @ U),
    }


def constructions() -> Iterator[dict[str, Any]]:
    """Time three ways to build a map from 50,000 matrices of three entries."""
    rng, n, p = np.random.default_rng(2), 500, 50_000
    i, j = rng.integers(0, n, (2, 3 * p))
    v = rng.standard_normal(3 * p)
    matrices = [
        sp.coo_array(
            (np.tile(v[block], 2), (np.r_[i[block], j[block]], np.r_[j[block], i[block]])), (n, n)
        )
        for block in (slice(3 * k, 3 * k + 3) for k in range(p))
    ]
    owner = np.repeat(np.arange(p), 3)
    made = condal.Inner(matrices)
    rows = made.as_matrix()
    ways: dict[str, Callable[[], Any]] = {
        "Inner(matrices)": lambda: condal.Inner(matrices),
        "from_triplets": lambda: condal.Inner.from_triplets(n, owner, rows=i, cols=j, values=v),
        "from_matrix": lambda: condal.Inner.from_matrix(rows),
    }
    for name, way in ways.items():
        yield {"way": name, "matrices": p, "ms": 1e3 * fastest(way)}


def main() -> None:
    save("maps", [measured(case) for case in cases()])
    save("maps_construction", list(constructions()))


if __name__ == "__main__":
    main()
