"""Lovasz's theta of a graph."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import click

from condal.cli.application import Application, Chosen, Lines, trials
from condal.cli.text import number
from condal.formats import read_graph
from condal.problems.theta import StableSet, Theta, theta
from condal.result import Result


def _build(file: str, chosen: Chosen) -> Theta:
    model = theta(read_graph(file), theta_plus=chosen["plus"])
    return model.complement if chosen["complement"] else model


def _answer(model: Theta, result: Result, chosen: Chosen) -> StableSet:
    return model.round(result, trials=chosen["trials"], seed=chosen["seed"])


def _rows(model: Theta, result: Result, found: StableSet) -> Lines:
    rows = [("stable set", f"{found.size:,} vertices, no two of them joined")]
    if not math.isfinite(result.bound):
        return [*rows, ("bound", "none was proved")]
    most = math.floor(result.bound)
    rows.append(
        ("bound", f"{number(result.bound, up=True)}, so no stable set has more than {most:,}")
    )
    if found.size == most:
        rows.append(("quality", "the best possible: no stable set of this graph is larger"))
    return rows


def _figures(model: Any, result: Result, found: StableSet | None) -> dict[str, float | None]:
    return {"stable_set": None if found is None else float(found.size)}


def _lines(found: StableSet) -> Iterator[str]:
    return (f"{vertex + 1}" for vertex in found.vertices)


THETA = Application(
    name="theta",
    title="Lovasz's theta: how large a stable set can be",
    about="""\
    Bound the size of the stable sets of a graph, of whose vertices no two are
    joined, by Lovasz's theta, and find a large one. Of the complement, theta
    bounds cliques, and from below the number of colours that FILE needs.

    FILE is a graph in rudy (Gset), Matrix Market or Rutherford-Boeing (.rb)
    format, plain or packed with gzip or xz; weights are not looked at.""",
    example="condal solve graph.txt --as theta --tol 1e-3 --out stable-set.txt",
    noun="vertices",
    build=_build,
    answer=_answer,
    rows=_rows,
    figures=_figures,
    lines=_lines,
    out="the vertices of the stable set, from 1, a line each",
    options=(
        click.Option(["--plus"], is_flag=True, help="theta+, with x >= 0: a better bound."),
        click.Option(["--complement"], is_flag=True, help="Of the graph's complement."),
        trials(100, "Stable sets"),
    ),
)
