"""max-cut from a graph."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from condal.cli.application import Application, Chosen, Lines, trials
from condal.cli.text import number, percent
from condal.formats import read_graph
from condal.problems.maxcut import Cut, MaxCut, max_cut
from condal.result import Result


def _answer(model: MaxCut, result: Result, chosen: Chosen) -> Cut:
    return model.round(result, trials=chosen["trials"], seed=chosen["seed"])


def _rows(model: MaxCut, result: Result, cut: Cut) -> Lines:
    ones = int((cut.signs > 0).sum())
    sides = f"sides of {ones:,} and {cut.signs.size - ones:,} vertices"
    rows = [("cut", f"{number(cut.weight)}, {sides}")]
    if not math.isfinite(result.bound):
        return [*rows, ("bound", "none was proved")]
    # The weight of a cut is an integer if the weights are: so is the best of them.
    whole = bool(np.all(model.W.data == np.rint(model.W.data)))
    most = float(math.floor(result.bound)) if whole else result.bound
    rows.append(("bound", f"{number(result.bound, up=True)}, no cut of this graph weighs more"))
    if whole and cut.weight == most:
        rows.append(("quality", "the best possible: no cut of this graph is heavier"))
    elif most > 0 and cut.weight >= 0:
        rows.append(("quality", f"at least {percent(cut.weight, most)} of the best possible cut"))
    return rows


def _figures(model: Any, result: Result, cut: Cut | None) -> dict[str, float | None]:
    return {"cut": None if cut is None else cut.weight}


def _lines(cut: Cut) -> Iterator[str]:
    return (f"{int(sign)}" for sign in cut.signs)


MAX_CUT = Application(
    name="max-cut",
    title="the heaviest cut of a graph",
    about="""\
    Part the vertices of a graph into two sides, so that the edges between them
    weigh the most. A cut is found, and it is proved that no cut weighs more
    than the bound.

    FILE is a graph in rudy (Gset), Matrix Market or Rutherford-Boeing (.rb)
    format, plain or packed with gzip or xz.""",
    example="condal solve G1.txt --as max-cut --tol 1e-2 --json result.json",
    noun="vertices",
    build=lambda file, chosen: max_cut(read_graph(file), name="max-cut"),
    answer=_answer,
    rows=_rows,
    figures=_figures,
    lines=_lines,
    out="each vertex's side, 1 or -1, a line each",
    options=(trials(100, "Cuts"),),
)
