"""Oracle calls to a certified 1e-2 with the default penalty and with the best of a grid."""

from __future__ import annotations

from typing import Any

import condal
from condal.methods.rules import Balanced, Classical, LineSearch
from condal_lab.benchmarks.runner import NAMES, Benchmark, Case, Row, graph

GRID = (1e-3, 1e-2, 1e-1, 1.0, 10.0)


def calls(model: Any, lam0: float | None, limit: int, rule: Any) -> int | None:
    """Count oracle calls to a certified gap of 1e-2; None if `limit` does not suffice."""
    penalty = Balanced() if lam0 is None else lam0  # explicit, so that all duals start at 0
    method = condal.CGAL(penalty, eta=rule)
    result = condal.solve(model, method, tol=1e-2, max_iters=limit, max_seconds=300)
    return result.oracle_calls if result.status is condal.Status.SOLVED else None


def measure(name: str) -> list[Row]:
    """Return a row per step rule: the default, and each fixed lam0 of the grid."""
    rows, model = [], condal.problems.max_cut(graph(name))
    for label, rule in {"cgal": Classical(), "cgal-ls": LineSearch()}.items():
        ours = calls(model, None, 10_000, rule)
        assert ours is not None, f"{name}: the default did not reach 1e-2"
        limit = 2 * ours + 100  # a fixed lam0 that needs more is not competitive
        fixed = {f"lam0={lam0:g}": calls(model, lam0, limit, rule) for lam0 in GRID}
        best = min((count for count in fixed.values() if count is not None), default=None)
        ratio = f"< {ours / limit:.2f}" if best is None else f"{ours / best:.2f}"
        rows.append({"method": label, "default": ours, **fixed, "ratio": ratio})
    return rows


BENCHMARK = Benchmark("penalty", tuple(Case(name, measure, (name,)) for name in NAMES))
