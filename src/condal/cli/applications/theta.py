"""Lovasz's theta of a graph or of its complement."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from condal.cli.application import GRAPH, Application, Chosen, Figures, Lines, rounded, trials
from condal.cli.text import number
from condal.errors import ProblemError
from condal.io.formats.graph_files import read_labelled_graph
from condal.problem import Problem
from condal.problems.lovasz_theta import StableSet, theta
from condal.report import pictures
from condal.report.pictures import Picture
from condal.result import Result

if TYPE_CHECKING:
    from condal.io.results.record import Saved

SUM_ROUNDING = 1e-9  # relative error of a sum of n^2 numbers, before it is rounded up


@dataclass(frozen=True, eq=False)
class Task:
    """The `Theta` of the graph in the file or of its complement, whose stable sets are cliques of
    the graph. `labels` are the labels of the vertices in the file."""

    model: Any
    complement: bool
    labels: Any

    @property
    def problem(self) -> Problem:
        return self.model.problem

    @property
    def noun(self) -> str:
        """What the answer is in the graph of the file."""
        return "clique" if self.complement else "stable set"


@dataclass(frozen=True, eq=False)
class _Answer:
    """A stable set or a clique of n vertices, and its labels; for the complement, a lower bound on
    the number of colours."""

    vertices: StableSet
    n: int
    labels: Any
    colours: int | None


def _build(file: str, chosen: Chosen) -> Task:
    graph, labels = read_labelled_graph(file)
    model = theta(graph, theta_plus=chosen["plus"])
    complement = chosen["complement"]
    return Task(model.complement if complement else model, complement, labels)


def _answer(task: Task, result: Result, chosen: Chosen) -> _Answer:
    answer = rounded(task.model, result, chosen)
    return _described(task, result, answer, quick=chosen["limit"].is_over())


def _described(task: Task, result: Result, answer: StableSet, *, quick: bool) -> _Answer:
    """Add labels and colours; with `quick`, the clique alone bounds the number of colours."""
    n, labels = task.model.n, task.labels[answer.vertices]
    if not task.complement:
        return _Answer(answer, n, labels, None)
    if quick:
        return _Answer(answer, n, labels, answer.size)
    # The vertices of a clique need different colours, and theta is a lower bound, too.
    value = float(task.model.feasible(result).sum())
    return _Answer(answer, n, labels, max(answer.size, math.ceil(value * (1 - SUM_ROUNDING))))


def _indicator(answer: _Answer) -> Any:
    inside = np.zeros(answer.n, dtype=int)
    inside[answer.vertices.vertices] = 1
    return inside


def _restore(task: Task, saved: Saved) -> _Answer:
    inside = saved.labels
    if inside.shape != (task.model.n,) or not np.isin(inside, (0, 1)).all():
        raise ProblemError(f"labels must be {task.model.n} numbers, each 0 or 1")
    vertices = np.flatnonzero(inside)
    if not task.model.is_stable(vertices):
        raise ProblemError(f"the vertices are not a {task.noun}")
    answer = StableSet(vertices.size, saved.result.bound, vertices)
    quick = saved.figures.get("colours") == vertices.size
    return _described(task, saved.result, answer, quick=quick)


def _rows(task: Task, result: Result, answer: _Answer) -> Lines:
    joined = "all of them adjacent" if task.complement else "no two of them adjacent"
    rows = [(task.noun, f"{answer.vertices.size:,} vertices, {joined}")]
    if answer.colours is None:
        return rows
    return [*rows, ("colours", f"at least {answer.colours:,}, in every proper colouring")]


def _proved(task: Task, result: Result, answer: _Answer) -> Lines:
    most = math.floor(result.bound)
    rows = [
        ("bound", f"{number(result.bound, up=True)}, so no {task.noun} has more than {most:,}"),
    ]
    if answer.vertices.size == most:
        rows.append(("quality", f"the best possible: no {task.noun} of this graph is larger"))
    return rows


def _figures(task: Task, result: Result, answer: _Answer | None) -> Figures:
    key = task.noun.replace(" ", "_")
    figures: Figures = {
        key: None if answer is None else float(answer.vertices.size),
        f"{key}_bound": math.floor(result.bound) if math.isfinite(result.bound) else None,
    }
    if task.complement:
        colours = None if answer is None else answer.colours
        figures["colours"] = None if colours is None else float(colours)
    return figures


def _lines(answer: _Answer) -> Iterator[str]:
    return (f"{label}" for label in answer.labels)


def _picture(task: Task, result: Result, answer: _Answer) -> Picture:
    graph = task.model.complement if task.complement else task.model
    inside = np.isin(np.arange(graph.n), answer.vertices.vertices)
    return pictures.graph(
        graph.W,
        (~inside).astype(int),
        (f"the {task.noun}", "other vertices"),
        f"The graph and the {task.noun} found.",
    )


THETA = Application(
    name="theta",
    title="Lovasz's theta: a bound on stable sets",
    about=f"""\
    Bound the size of the stable sets of a graph (no two vertices adjacent) by
    Lovasz's theta, and find a large one. With --complement, bound the size of
    the cliques (all vertices adjacent) instead, find a large one, and prove a
    lower bound on the number of colours of a proper colouring.

{GRAPH} Weights are ignored.""",
    example="condal solve graph.txt --as theta --tol 1e-3 --out stable-set.txt",
    noun="vertices",
    build=_build,
    answer=_answer,
    rows=_rows,
    proved=_proved,
    figures=_figures,
    lines=_lines,
    labels=_indicator,
    restore=_restore,
    picture=_picture,
    out="the vertices of the stable set or clique, as numbered in FILE, one per line",
    options=(
        click.Option(["--plus"], is_flag=True, help="Use theta+, with x >= 0: a better bound."),
        click.Option(
            ["--complement"],
            is_flag=True,
            help="Use the complement of FILE: cliques and colours instead of stable sets.",
        ),
        trials(100, "stable sets or cliques", fewer=True),
    ),
)
