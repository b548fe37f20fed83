"""What `condal solve --as NAME` knows of an application: one record."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import click

import condal
from condal.report.pictures import Picture
from condal.result import Result

Chosen: TypeAlias = Mapping[str, Any]  # the values of its own options, by name, and some of all
Lines: TypeAlias = list[tuple[str, str]]  # names and values, as a person reads them
Figures: TypeAlias = dict[str, float | None]  # the same for --json

NO_ANSWER = ("answer", "none: interrupted while the result was rounded")

GRAPH = """\
    FILE is a graph: rudy (Gset), Matrix Market (.mtx), Rutherford-Boeing (.rb),
    METIS (.graph) or an edge list (.edges, .csv, .tsv: two labels, which are
    whole numbers, and perhaps a weight; its vertices are the labels in rising
    order), plain or packed with gzip or xz; or a matrix that SciPy saved
    (.npz)."""


@dataclass(frozen=True)
class Application:
    """An application from its file to its answer.

    Parameters
    ----------
    name : what --as calls it.
    title : what it does, in a few words.
    about : the help of its own: what FILE is, and what is proved.
    example : a command that runs.
    noun : what its unknowns stand for, such as vertices.
    build : the model of a file, with the options chosen: its own, `seed`, `max_seconds` (of the
        whole command, or None) and `say`, to be called with a line (or None).
    answer : what the result means: a cut, a clustering.
    rows : that, for a person.
    proved : what the bound says of it; asked for only if there is one.
    figures : all of that, for --json: the keys are the same for every result, None where there is
        none.
    lines : the answer, for --out.
    picture : the answer as arrays to be drawn (see `condal.report.pictures`), or None.
    out : what --out writes.
    options : its own, beside those that all have.
    inputs : those of them that name files to be read, which the problem does not depend on.
    solve, resume : how a model is solved, and a checkpoint gone on from: as condal.solve and
        condal.resume do, where they are left out.
    again : the command that goes on from a checkpoint.
    suffixes : of names of files that are solved as this without --as.
    resolved : values of options that the model chose where they were left out, by name: typed, they
        make the very same problem.
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
    picture: Callable[[Any, Result, Any], Picture | None] = lambda model, result, answer: None
    options: tuple[click.Option, ...] = ()
    inputs: tuple[str, ...] = ()
    resolved: Callable[[Any], dict[str, Any]] = lambda model: {}
    solve: Callable[..., Result] = lambda *given, **options: condal.solve(*given, **options)
    resume: Callable[..., Result] = lambda *given, **options: condal.resume(*given, **options)
    again: str = "condal resume"
    suffixes: tuple[str, ...] = ()

    def told(self, model: Any, result: Result, answer: Any) -> Lines:
        """What was found, and what is proved of it."""
        bounded = math.isfinite(result.bound)
        proved = self.proved(model, result, answer) if bounded else [("bound", "none was proved")]
        return [*self.rows(model, result, answer), *proved]


def rounded(model: Any, result: Result, chosen: Chosen) -> Any:
    """The best of so many roundings as --trials says."""
    return model.round(result, trials=chosen["trials"], seed=chosen["seed"])


def trials(default: int, what: str, *, fewer: bool = False) -> click.Option:
    """How many roundings to try; `fewer` where the model tries less than that of large graphs."""
    return click.Option(
        ["--trials"],
        type=click.IntRange(min=1),
        default=None if fewer else default,
        show_default=f"{default}, or fewer of a large graph" if fewer else True,
        metavar="N",
        help=f"{what} to try, the best of which is kept.",
    )
