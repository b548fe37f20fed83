"""Bisection of a graph."""

from __future__ import annotations

import math
from collections.abc import Iterator

import click
import numpy as np

from condal.cli.application import GRAPH, Application, Chosen, Figures, Lines, rounded, trials
from condal.cli.text import excess, number
from condal.io.formats.graph_files import read_graph
from condal.problems.graph_bisection import BalancedCut, Bisection, bisection
from condal.result import Result


def _build(file: str, chosen: Chosen) -> Bisection:
    return bisection(read_graph(file), imbalance=chosen["imbalance"])


def _rows(model: Bisection, result: Result, cut: BalancedCut) -> Lines:
    ones = int((cut.signs > 0).sum())
    sides = f"sides of {ones:,} and {cut.signs.size - ones:,} vertices"
    return [("cut", f"{number(cut.weight)}, {sides}")]


def _proved(model: Bisection, result: Result, cut: BalancedCut) -> Lines:
    bound, apart = number(result.bound, down=True), model.imbalance
    sides = f"sides that differ by at most {apart}" if apart else "halves"
    return [
        ("bound", f"{bound}, no cut into {sides} is lighter"),
        ("quality", excess(_excess(model, result, cut), "cut")),
    ]


def _figures(model: Bisection, result: Result, cut: BalancedCut | None) -> Figures:
    if cut is None:
        return {"cut": None, "excess": None}
    bounded = math.isfinite(result.bound)
    return {"cut": cut.weight, "excess": _excess(model, result, cut) if bounded else None}


def _excess(model: Bisection, result: Result, cut: BalancedCut) -> float:
    # With integer weights every cut has an integer weight.
    whole = np.array_equal(model.weights, np.rint(model.weights))
    if whole and cut.weight <= math.ceil(result.bound):
        return 0.0
    return model.excess(cut.signs, result)


def _lines(cut: BalancedCut) -> Iterator[str]:
    return (f"{int(sign)}" for sign in cut.signs)


BISECTION = Application(
    name="bisection",
    title="the lightest cut of a graph into halves",
    about=f"""\
    Divide the vertices of a graph into two sides of equal size to minimise the
    weight of the edges between them. The command finds a balanced cut and proves
    a lower bound on the weight of every balanced cut.

{GRAPH}""",
    example="condal solve mesh.graph --as bisection --tol 1e-3 --out sides.txt",
    noun="vertices",
    build=_build,
    answer=rounded,
    rows=_rows,
    proved=_proved,
    figures=_figures,
    lines=_lines,
    out="the side of each vertex, 1 or -1, one per line",
    options=(
        click.Option(
            ["--imbalance"],
            type=click.IntRange(min=0),
            default=None,
            show_default="0, or 1 for an odd number of vertices",
            metavar="N",
            help="The largest difference between the sizes of the two sides.",
        ),
        trials(100, "cuts", fewer=True),
    ),
)
