"""A matrix of low rank from some of its entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import click
import numpy as np

from condal.cli.application import Application, Chosen, Figures, Lines
from condal.cli.text import number
from condal.errors import FormatError
from condal.io.formats import Ratings, read_ratings, read_table
from condal.problem import Problem
from condal.problems.completion import Completed, MatrixCompletion, matrix_completion
from condal.report import pictures
from condal.report.pictures import Picture
from condal.result import Result

ZERO = 1e-6  # of the largest singular value: one below it is none


@dataclass(frozen=True, eq=False)
class _Task:
    """The model, the file that it is of, and the places that are to be predicted."""

    model: MatrixCompletion
    known: Ratings
    rows: Any
    cols: Any

    @property
    def problem(self) -> Problem:
        """That of the model."""
        return self.model.problem


@dataclass(frozen=True, eq=False)
class _Prediction:
    """The whole matrix, how well it fits what is known, and what it says of some places."""

    completed: Completed
    rmse: float
    rank: int
    places: Any
    values: Any


def _build(file: str, chosen: Chosen) -> _Task:
    known = read_ratings(file, chosen["columns"])
    rows, cols = known.rows, known.cols
    if chosen["predict"] is not None:
        rows, cols = _places(chosen["predict"], known)
    limit = chosen["max_seconds"]
    model = matrix_completion(
        known.rows,
        known.cols,
        known.values,
        shape=known.shape,
        radius=chosen["radius"],
        effects=not chosen["no_effects"],
        loss=chosen["loss"],
        delta=chosen["delta"],
        seed=chosen["seed"],
        watch=None if chosen["say"] is None else partial(_tell, chosen["say"]),
        max_seconds=None if limit is None else limit / 2,  # the solve's is the other half
        name="matrix-completion",
    )
    return _Task(model, known, rows, cols)


def _tell(say: Callable[[str], Any], radius: float, loss: float) -> None:
    say(f"radius {number(radius)}: mean loss {loss:.4g} of what was held back")


def _columns(ctx: click.Context, option: click.Parameter, value: str | None) -> list[str] | None:
    """Three names or numbers."""
    if value is None:
        return None
    named = [word.strip() for word in value.split(",")]
    if len(named) != 3:
        raise click.BadParameter(
            f"wanted three names or numbers, as row,column,value; got {value!r}", ctx, option
        )
    return named


def _places(path: str, known: Ratings) -> tuple[Any, Any]:
    """The rows and columns that a file asks for, by their numbers in the other file."""
    table = read_table(path, wanted="places to predict: row, column")
    if table.values.shape[1] < 2:
        raise FormatError("has 1 column; wanted two: row, column", path=path)
    found = []
    for what, asked, names in (
        ("row", table.values[:, 0], known.row_names),
        ("column", table.values[:, 1], known.col_names),
    ):
        place = np.minimum(np.searchsorted(names, asked), names.size - 1)
        strange = np.flatnonzero(names[place] != asked)
        if strange.size:
            raise FormatError(
                f"asks for {what} {asked[strange[0]]:g}, of which no entry is known: leave it out",
                path=path,
                line=table.line(int(strange[0])),
            )
        found.append(place)
    return found[0], found[1]


def _answer(task: _Task, result: Result, chosen: Chosen) -> _Prediction:
    completed, known = task.model.complete(result), task.known
    sizes = completed.x.singular_values()
    return _Prediction(
        completed,
        completed.rmse(known.rows, known.cols, known.values),
        int(np.count_nonzero(sizes > ZERO * sizes.max(initial=0.0))),
        np.column_stack([known.row_names[task.rows], known.col_names[task.cols]]),
        completed.entries(task.rows, task.cols),
    )


def _rows(task: _Task, result: Result, found: _Prediction) -> Lines:
    m, n = task.model.shape
    return [
        ("matrix", f"{m:,} x {n:,}, of rank {found.rank} beside means of rows and columns"),
        ("known", f"{task.model.values.size:,} entries, fitted to {found.rmse:.4g} (rmse)"),
        ("radius", f"{number(task.model.radius)}, of the sum of singular values"),
    ]


def _proved(task: _Task, result: Result, found: _Prediction) -> Lines:
    return [("bound", f"{number(result.bound, down=True)}, no x has a smaller objective")]


def _figures(task: _Task, result: Result, found: _Prediction | None) -> Figures:
    if found is None:
        return {"rmse": None, "rank": None, "radius": float(task.model.radius)}
    return {"rmse": found.rmse, "rank": float(found.rank), "radius": float(task.model.radius)}


def _resolved(task: _Task) -> dict[str, Any]:
    """The radius and, of Huber's loss, the delta that were chosen."""
    huber = task.model.loss == "huber"
    return {"radius": task.model.radius, "delta": task.model.delta if huber else None}


def _lines(found: _Prediction) -> Iterator[str]:
    pairs = zip(found.places.tolist(), found.values.tolist(), strict=True)
    return (f"{row},{column},{value:.10g}" for (row, column), value in pairs)


def _picture(task: _Task, result: Result, found: _Prediction) -> Picture:
    """Some rows and columns: what is known of them, and what they are completed to."""
    m, n = found.completed.shape
    i, j = pictures.sample(m), pictures.sample(n)
    places = [np.full(size, -1) for size in (m, n)]
    places[0][i], places[1][j] = np.arange(i.size), np.arange(j.size)
    rows, cols = places[0][task.known.rows], places[1][task.known.cols]
    seen = (rows >= 0) & (cols >= 0)
    known = np.full((i.size, j.size), np.nan)
    known[rows[seen], cols[seen]] = task.known.values[seen]
    completed = found.completed.entries(*np.meshgrid(i, j, indexing="ij"))
    return pictures.images(
        [("known", known), ("completed", completed)],
        f"{i.size:,} of {m:,} rows and {j.size:,} of {n:,} columns.",
    )


MATRIX_COMPLETION = Application(
    name="matrix-completion",
    title="a matrix of low rank from some of its entries",
    about="""\
    Predict the entries of a matrix from those that are known, such as ratings
    of films by users: the matrix of the best fit among those whose singular
    values have a sum of at most a radius. It is proved that none fits better
    than the bound says.

    FILE is a Matrix Market coordinate file, or a table by commas, semicolons,
    tabs or blanks with a line an entry: row, column, value. Rows and columns
    are whole numbers; the first line may name the columns, and --columns chooses
    three of them, by name or by number. Plain, or packed with gzip or xz.""",
    example="condal solve ratings.csv --as matrix-completion --out fitted.csv",
    noun="rows and columns",
    build=_build,
    answer=_answer,
    rows=_rows,
    proved=_proved,
    figures=_figures,
    lines=_lines,
    picture=_picture,
    out="row,column,value for the places of --predict, or else those that are known",
    options=(
        click.Option(
            ["--columns"],
            metavar="R,C,V",
            callback=_columns,
            help="Which columns of a table are row, column and value, by names or numbers; else "
            "the first three.",
        ),
        click.Option(
            ["--predict"],
            metavar="FILE",
            help="A table of row, column: the entries that --out is to predict.",
        ),
        click.Option(
            ["--radius"],
            type=click.FloatRange(min=0, min_open=True),
            metavar="R",
            help="The most that singular values may sum to; else what predicts best a part that is "
            "held back.",
        ),
        click.Option(
            ["--loss"],
            type=click.Choice(["squares", "huber", "absolute"]),
            default="squares",
            help="What a misfit costs; the last two bear values that are wrong.",
        ),
        click.Option(
            ["--delta"],
            type=click.FloatRange(min=0, min_open=True),
            metavar="D",
            help="Where Huber's loss turns from squares; else by the spread of what a first fit "
            "leaves.",
        ),
        click.Option(
            ["--no-effects"], is_flag=True, help="Do not take out means of rows and columns."
        ),
    ),
    inputs=("predict",),
    resolved=_resolved,
)
