"""What can be said of a graph before it is solved."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from condal.cli.memory import describe
from condal.cli.text import number
from condal.driver.memory import in_all, size
from condal.driver.plan import make_plan
from condal.driver.stop import Stop
from condal.errors import ProblemError
from condal.methods import LowRankCGAL
from condal.problems import max_cut
from condal.runtime.text import escape_terminal


def facts(W: Any) -> list[tuple[str, str]]:
    """Names and values of the graph with the symmetric weights W."""
    n = int(W.shape[0])
    edges = sp.triu(W, k=1).tocoo()
    weights = edges.data
    loops = int(np.count_nonzero(W.diagonal()))
    touched = np.zeros(n, dtype=bool)
    touched[edges.row] = touched[edges.col] = True
    pieces, _ = connected_components(W, directed=False)
    pairs = n * (n - 1) / 2
    rows = [
        ("vertices", f"{n:,}"),
        ("edges", f"{weights.size:,}"),
        ("weights", _weights(weights)),
        ("self-loops", f"{loops:,}" + (", which no cut separates" if loops else "")),
        ("isolated vertices", f"{n - int(touched.sum()):,}"),
        ("connected components", f"{pieces:,}"),
        ("density", f"{100 * weights.size / pairs:.3g}%" if pairs else "0%"),
    ]
    if not weights.size:
        return rows
    return [*rows, *_plan(W)]


def advice(W: Any, path: str) -> str:
    """What to type next."""
    if not sp.triu(W, k=1).nnz:
        return "Without edges every cut weighs 0: there is nothing to solve."
    return f"Next:\n\n  condal solve {escape_terminal(shlex.quote(path))} --as max-cut"


def _weights(weights: Any) -> str:
    if not weights.size:
        return "none"
    with np.errstate(over="ignore"):
        low, high, total = (number(float(f(weights))) for f in (np.min, np.max, np.sum))
    return f"all {low}, sum {total}" if low == high else f"{low} to {high}, sum {total}"


def _plan(W: Any) -> list[tuple[str, str]]:
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # weights whose sum is beyond the largest number
        problem = max_cut(W).problem
        try:
            chosen = make_plan(problem, None, None, tol=Stop().tol)
        except ProblemError as error:
            return [("memory", str(error))]
    method, storage = chosen.method, chosen.first_storage(problem, None)
    if isinstance(method, LowRankCGAL):
        kept = method.bytes(problem)
        plan = ("method auto", f"lowrank, a factor of x: about {size(kept)}")
    else:
        assert storage is not None
        name, kept = describe(storage, int(W.shape[0]))
        plan = ("storage auto", f"{name}, at most {size(kept)}")
    return [plan, ("memory in all", f"at most {size(in_all(problem, method, storage))}")]
