"""`Application`: what `condal solve --as NAME` needs to know, in one record."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import click

import condal
from condal.problems.answers import Drawn
from condal.result import Result
from condal.runtime.time_limit import TimeLimit

if TYPE_CHECKING:
    from condal.io.results.record import Saved
    from condal.report.pictures import Picture

Chosen: TypeAlias = Mapping[str, Any]  # values of options by name
Lines: TypeAlias = list[tuple[str, str]]  # names and values to print
Figures: TypeAlias = dict[str, float | None]  # the same numbers for --json

BUILD_SHARE = 0.5  # of the time limit, at most, for bounds and parameters before the solve
ANSWER_SHARE = 0.1  # of it, at least, for the answer after the solve
NO_ANSWER = ("answer", "none: interrupted while the result was rounded")

GRAPH = """\
    FILE is a graph: rudy (Gset), Matrix Market (.mtx),
    METIS (.graph), an edge list (.edges, .csv, .tsv: two integer labels per
    line and an optional weight; the vertices are the labels in increasing
    order), each optionally compressed with gzip or xz, or a matrix that SciPy
    saved (.npz)."""


@dataclass(frozen=True, eq=False)
class Application:
    """An application, from its file to its answer.

    Parameters
    ----------
    name : the name that --as takes.
    title : what the application does, in a few words.
    about : its help text: what FILE is, and what is proved.
    example : a command that runs.
    noun : what the unknowns stand for, such as vertices.
    build : make the model from a file and the chosen options: the application's own, `seed`,
        `limit`, the time limit of the whole command, and `say`, a function of a line, or None.
    answer : interpret the result, as a cut or a clustering.
    rows : the answer as names and values.
    proved : what the bound says about the answer; called only if there is a bound.
    figures : all of this for --json, with the same keys for every result, None for missing values;
        the first is the headline of a page.
    lines : the answer as lines for --out.
    labels : a rounded answer as an integer for each vertex, point or facility, to be saved.
    restore : the answer of a saved result from its labels. Both are None for an answer that is a
        function of x alone.
    picture : the answer as arrays to draw (see `condal.report.pictures`), or None; by default the
        picture of an answer that draws itself.
    out : what --out writes.
    options : the application's own options.
    inputs : names of options that are files to read and do not change the problem.
    solve, resume : functions to use instead of condal.solve and condal.resume.
    resume_command : the command that resumes from a checkpoint.
    suffixes : file name suffixes that select this application without --as.
    resolved : values that the model chose for options that were not given, by name; with these
        values given, the problem is the same.
    """

    name: str
    title: str
    about: str
    example: str
    noun: str
    build: Callable[[str, Chosen], Any]
    answer: Callable[[Any, Result, Chosen], Any]
    rows: Callable[[Any, Result, Any], Lines]
    proved: Callable[[Any, Result, Any], Lines]
    figures: Callable[[Any, Result, Any], Figures]
    lines: Callable[[Any], Iterable[str]]
    out: str
    labels: Callable[[Any], Any] | None = None
    restore: Callable[[Any, Saved], Any] | None = None
    picture: Callable[[Any, Result, Any], Picture | None] = lambda model, result, answer: (
        answer.picture() if isinstance(answer, Drawn) else None
    )
    options: tuple[click.Option, ...] = ()
    inputs: tuple[str, ...] = ()
    resolved: Callable[[Any], dict[str, Any]] = lambda model: {}
    solve: Callable[..., Result] = lambda *given, **options: condal.solve(*given, **options)
    resume: Callable[..., Result] = lambda *given, **options: condal.resume(*given, **options)
    resume_command: str = "condal resume"
    suffixes: tuple[str, ...] = ()

    def labels_of(self, answer: Any) -> Any:
        """Return the answer as labels to save; None without an answer or labels."""
        return None if answer is None or self.labels is None else self.labels(answer)

    def describe(self, model: Any, result: Result, answer: Any) -> Lines:
        """Return the answer and what is proved about it, as names and values."""
        if result.status.excludes_optimum:
            return self.rows(model, result, answer)
        bounded = math.isfinite(result.bound)
        proved = self.proved(model, result, answer) if bounded else [("bound", "none was proved")]
        return [*self.rows(model, result, answer), *proved]


def rounded(model: Any, result: Result, chosen: Chosen) -> Any:
    """Round the result --trials times, or while there is time, and return the best answer."""
    limit: TimeLimit = chosen["limit"]
    options = {"trials": chosen["trials"], "seed": chosen["seed"] or 0}
    return model.round(result, **options, max_seconds=limit.max_seconds)


def trials(default: int, what: str, *, fewer: bool = False) -> click.Option:
    """Return the option --trials; with `fewer` the model tries less on large graphs."""
    return click.Option(
        ["--trials"],
        type=click.IntRange(min=1),
        default=None if fewer else default,
        show_default=f"{default}, or fewer for a large graph" if fewer else True,
        metavar="N",
        help=f"Number of {what} to try; the best one is kept.",
    )
