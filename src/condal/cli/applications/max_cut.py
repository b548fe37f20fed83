"""Max-cut of a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from condal.cli.application import GRAPH, Application, Figures, Lines, rounded, trials
from condal.cli.quality import AtMost
from condal.cli.text import number
from condal.io.formats.graph_files import read_graph
from condal.problems.cuts import Cut, MaxCut, max_cut
from condal.result import Result

if TYPE_CHECKING:
    from condal.io.results.record import Saved


def _restore(model: MaxCut, saved: Saved) -> Cut:
    return Cut(model.weight(saved.labels), saved.result.bound, saved.labels, model)


def _rows(model: MaxCut, result: Result, cut: Cut) -> Lines:
    ones = int((cut.signs > 0).sum())
    sides = f"sides of {ones:,} and {cut.signs.size - ones:,} vertices"
    return [("cut", f"{number(cut.weight)}, {sides}")]


def _proved(model: MaxCut, result: Result, cut: Cut) -> Lines:
    return _at_most(model, result, cut).lines("no cut of this graph weighs more", "cut")


def _figures(model: MaxCut, result: Result, cut: Cut | None) -> Figures:
    if cut is None:
        return {"cut": None, "share": None}
    return {"cut": cut.weight, "share": _at_most(model, result, cut).share}


def _at_most(model: MaxCut, result: Result, cut: Cut) -> AtMost:
    return AtMost(cut.weight, result.bound, model.weights)


def _lines(cut: Cut) -> Iterator[str]:
    return (f"{int(sign)}" for sign in cut.signs)


MAX_CUT = Application(
    name="max-cut",
    title="the heaviest cut of a graph",
    about=f"""\
    Divide the vertices of a graph into two sides to maximise the weight of the
    edges between them. The command finds a cut and proves a bound on the weight
    of every cut.

{GRAPH}""",
    example="condal solve G1.txt --as max-cut --tol 1e-2 --json result.json",
    noun="vertices",
    build=lambda file, chosen: max_cut(read_graph(file), name="max-cut"),
    answer=rounded,
    rows=_rows,
    proved=_proved,
    figures=_figures,
    lines=_lines,
    labels=lambda cut: cut.signs,
    restore=_restore,
    out="the side of each vertex, 1 or -1, one per line",
    options=(trials(100, "cuts", fewer=True),),
)
