"""The applications over labels and permutations."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product
from typing import Any

import cvxpy as cp
import numpy as np

from condal import problems
from spaces import numbers
from truth import flats
from truth.applications import LOST, of_square
from truth.case import Case
from truth.constraints import Box
from truth.costs import linear
from truth.images import Image
from truth.models import UNIT
from truth.templates import Template


def map_inference(seed: int) -> Case:
    rng = np.random.default_rng([seed, 18])
    nodes = int(rng.integers(1, 5))
    states = rng.integers(1, 4, nodes)
    pairs = [(i, j) for i in range(nodes) for j in range(i + 1, nodes)]
    edges = [pair for pair in pairs if rng.random() < 0.7] or pairs[:1]
    if not edges:  # a single node: join it to another with one state
        states, edges = np.append(states, 1), [(0, 1)]
    unary = [rng.standard_normal(k) for k in states]
    tables = [numbers(rng, (states[i], states[j]), bool(rng.integers(2))) for i, j in edges]
    sizes = [*states.tolist(), *(int(states[i] * states[j]) for i, j in edges)]
    begins = np.cumsum([0, *sizes])
    rows = []
    for e, ends in enumerate(edges):
        place = begins[len(states) + e] + np.arange(sizes[len(states) + e])
        place = place.reshape(states[ends[0]], states[ends[1]])
        for axis in (0, 1):
            for a in range(states[ends[axis]]):
                row = np.zeros(begins[-1])
                row[np.take(place, a, axis=axis)] = 1.0
                row[begins[ends[axis]] + a] -= 1.0
                rows.append(row)
    cost = np.concatenate([part.ravel() for part in (*unary, *tables)])
    energies = [
        sum(unary[i][p[i]] for i in range(len(states)))
        + sum(table[p[i], p[j]] for table, (i, j) in zip(tables, edges, strict=True))
        for p in product(*(range(k) for k in states))
    ]
    region, zero = flats.Simplices(sizes), np.zeros(len(rows))
    template = Template(region, linear(region.space, cost), Image(np.array(rows)), Box(zero, zero))
    upper = float(min(energies)) + LOST * float(np.abs(cost).sum())
    model = problems.map_inference(unary, np.array(edges), tables)
    return template.case("map", UNIT, kind=f"{nodes}", model=model, upper=upper, margin=0.0)


def qap(seed: int) -> Case:
    """The formulation of de Klerk and Sotirov (2010), without facial reduction."""
    rng = np.random.default_rng([seed, 20])
    n = int(rng.integers(2, 4))
    A, B = rng.integers(-2, 5, (2, n, n)).astype(float)
    C = np.kron(A, B)
    i, p = np.divmod(np.arange(n * n), n)
    apart = (i[:, None] == i) != (p[:, None] == p)
    costs = [float(np.sum(A * B[np.ix_(q, q)])) for q in permutations(range(n))]
    C = np.where(apart, 0.0, 0.5 * (C + C.T))
    sums = np.array([*(i == k for k in range(n)), *(p == k for k in range(n))], dtype=float)

    def rules(x: Any) -> list[Any]:
        d = cp.diag(x)
        return [cp.sum(x) == n * n, cp.multiply(x, apart) == 0, x >= 0, sums @ d == 1]

    def missed(x: np.ndarray) -> float:
        return float(np.linalg.norm(np.where(apart, x, np.minimum(x, 0.0))))

    return of_square(
        "qap",
        f"n = {n}",
        problems.quadratic_assignment(A, B),
        C=C,
        trace=float(n),
        rules=rules,
        missed=missed,
        upper=min(costs) + LOST * float(np.abs(C).sum()),
    )


DISCRETE: dict[str, Callable[[int], Case]] = {
    "map": map_inference,
    "qap": qap,
}
