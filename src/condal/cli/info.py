"""The command `info`: properties of a graph, and what a solve would cost."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click
import numpy as np
import scipy.sparse as sp

from condal.cli.settings import describe
from condal.driver.memory import in_all, make_plan
from condal.driver.run_record import Stop
from condal.errors import ProblemError
from condal.io.formats.graph_files import read_graph
from condal.io.formats.signatures import is_shard_folder
from condal.methods.lowrank.method import LowRankCGAL
from condal.problems.cuts import max_cut
from condal.runtime.extras import MPI, part
from condal.runtime.limits import size
from condal.runtime.text import escape_terminal, number, table


@click.command()
@click.argument("file", type=click.Path())
def info(file: str) -> None:
    """Summarise the graph in FILE and estimate the cost of a solve.

    \b
    Example:
      condal info G1.txt

    FILE may be a folder of shards that condal convert made.
    """
    W = read_graph(file)
    click.echo(f"{escape_terminal(Path(file).name)}\n")
    click.echo(table([*shard_facts(file), *facts(W)]))
    click.echo(f"\n{advice(W, file)}")


def shard_facts(path: str) -> list[tuple[str, str]]:
    """Return names and values that describe a folder of shards; none for a file."""
    if not is_shard_folder(path):
        return []
    described: list[tuple[str, str]] = part(
        "parts", "shards", package=MPI, what="a folder of shards"
    ).facts(path)
    return described


def facts(W: Any) -> list[tuple[str, str]]:
    """Return names and values that describe the graph with the symmetric weights W."""
    from scipy.sparse.csgraph import connected_components

    n = int(W.shape[0])
    edges = sp.triu(W, k=1).tocoo()
    weights = edges.data
    loops = int(np.count_nonzero(W.diagonal()))
    touched = np.zeros(n, dtype=bool)
    touched[edges.row] = touched[edges.col] = True
    components, _ = connected_components(W, directed=False)
    pairs = n * (n - 1) / 2
    rows = [
        ("vertices", f"{n:,}"),
        ("edges", f"{weights.size:,}"),
        ("weights", _weights(weights)),
        ("self-loops", f"{loops:,}" + (", which no cut separates" if loops else "")),
        ("isolated vertices", f"{n - int(touched.sum()):,}"),
        ("connected components", f"{components:,}"),
        ("density", f"{100 * weights.size / pairs:.3g}%" if pairs else "0%"),
    ]
    if not weights.size:
        return rows
    return [*rows, *_plan(W)]


def advice(W: Any, path: str) -> str:
    """Return the command to try next."""
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
    with np.errstate(over="ignore", invalid="ignore"):  # the sum of the weights may overflow
        problem = max_cut(W).problem
        try:
            chosen = make_plan(problem, None, None, tol=Stop().tol)
        except ProblemError as error:
            return [("memory", str(error))]
    method, storage = chosen.method, chosen.first_storage(problem, None)
    if isinstance(method, LowRankCGAL):
        plan = ("method auto", f"lowrank, a factor of x: about {size(method.bytes(problem))}")
    else:
        assert storage is not None
        name, most = describe(storage, int(W.shape[0]))
        plan = ("storage auto", f"{name}, at most {size(most)}")
    return [plan, ("memory in total", f"at most {size(in_all(problem, method, storage))}")]
