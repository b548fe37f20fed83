"""A low-rank matrix from some of its entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import click
import numpy as np

from condal.cli.application import BUILD_SHARE, Application, Chosen, Figures, Lines
from condal.cli.text import number
from condal.errors import FormatError
from condal.io.formats.ratings import Ratings, read_ratings
from condal.io.formats.table import read_table
from condal.problem import Problem
from condal.problems.completed import Completed
from condal.problems.completion import MatrixCompletion, matrix_completion
from condal.result import Result

RANK_TOL = 1e-6  # relative to the largest singular value: smaller ones do not count


@dataclass(frozen=True, eq=False)
class _Task:
    """The model, the contents of its file, and the entries to predict."""

    model: MatrixCompletion
    known: Ratings
    rows: Any
    cols: Any

    @property
    def problem(self) -> Problem:
        return self.model.problem


@dataclass(frozen=True, eq=False)
class _Prediction:
    """The completed matrix, how well it fits the known entries, and the predicted entries."""

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
    model = matrix_completion(
        known.rows,
        known.cols,
        known.values,
        shape=known.shape,
        radius=chosen["radius"],
        effects=not chosen["no_effects"],
        loss=chosen["loss"],
        delta=chosen["delta"],
        seed=chosen["seed"] or 0,
        watch=None if chosen["say"] is None else partial(_tell, chosen["say"]),
        max_seconds=chosen["limit"].share(BUILD_SHARE).max_seconds,
        name="matrix-completion",
    )
    return _Task(model, known, rows, cols)


def _tell(say: Callable[[str], Any], radius: float, loss: float) -> None:
    say(f"radius {number(radius)}: mean loss {loss:.4g} on the held-out entries")


def _columns(ctx: click.Context, option: click.Parameter, value: str | None) -> list[str] | None:
    """Return three names or numbers."""
    if value is None:
        return None
    columns = [word.strip() for word in value.split(",")]
    if len(columns) != 3:
        raise click.BadParameter(
            f"wanted three names or numbers, such as row,column,value; got {value!r}", ctx, option
        )
    return columns


def _places(path: str, known: Ratings) -> tuple[Any, Any]:
    """Return the rows and columns that a file asks for, as indices of the known matrix."""
    table = read_table(path, wanted="places to predict: row, column")
    if table.values.shape[1] < 2:
        raise FormatError("has 1 column; wanted two: row, column", path=path)
    indices = []
    for what, asked, names in (
        ("row", table.values[:, 0], known.row_names),
        ("column", table.values[:, 1], known.col_names),
    ):
        place = np.minimum(np.searchsorted(names, asked), names.size - 1)
        unknown = np.flatnonzero(names[place] != asked)
        if unknown.size:
            raise FormatError(
                f"asks for {what} {asked[unknown[0]]:g}, which has no known entry: leave it out",
                path=path,
                line=table.line(int(unknown[0])),
            )
        indices.append(place)
    return indices[0], indices[1]


def _answer(task: _Task, result: Result, chosen: Chosen) -> _Prediction:
    completed, known = task.model.complete(result), task.known
    sizes = completed.x.singular_values()
    return _Prediction(
        completed,
        completed.rmse(known.rows, known.cols, known.values),
        int(np.count_nonzero(sizes > RANK_TOL * sizes.max(initial=0.0))),
        np.column_stack([known.row_names[task.rows], known.col_names[task.cols]]),
        completed.entries(task.rows, task.cols),
    )


def _rows(task: _Task, result: Result, prediction: _Prediction) -> Lines:
    m, n = task.model.shape
    return [
        ("matrix", f"{m:,} x {n:,}, rank {prediction.rank} plus means of rows and columns"),
        ("known", f"{task.model.values.size:,} entries, fitted to {prediction.rmse:.4g} (rmse)"),
        ("radius", f"{number(task.model.radius)}, the largest sum of singular values"),
    ]


def _proved(task: _Task, result: Result, prediction: _Prediction) -> Lines:
    return [("bound", f"{number(result.bound, down=True)}, no x has a smaller objective")]


def _figures(task: _Task, result: Result, prediction: _Prediction | None) -> Figures:
    if prediction is None:
        return {"rmse": None, "rank": None, "radius": float(task.model.radius)}
    return {
        "rmse": prediction.rmse,
        "rank": float(prediction.rank),
        "radius": float(task.model.radius),
    }


def _resolved(task: _Task) -> dict[str, Any]:
    """Return the chosen radius and, for Huber's loss, the chosen delta."""
    huber = task.model.loss == "huber"
    return {"radius": task.model.radius, "delta": task.model.delta if huber else None}


def _lines(prediction: _Prediction) -> Iterator[str]:
    pairs = zip(prediction.places.tolist(), prediction.values.tolist(), strict=True)
    return (f"{row},{column},{value:.10g}" for (row, column), value in pairs)


MATRIX_COMPLETION = Application(
    name="matrix-completion",
    title="a low-rank matrix from some of its entries",
    about="""\
    Predict the entries of a matrix from the known ones, such as ratings of films
    by users. The command fits a matrix whose singular values sum to at most a
    radius, and proves a bound on how well any such matrix can fit.

    FILE is a Matrix Market coordinate file, or a table with one entry per line:
    row, column, value, separated by commas, semicolons, tabs or blanks. Rows and
    columns are integers. The first line may name the columns, and --columns
    selects three of them, by name or by number. FILE may be compressed with gzip
    or xz.""",
    example="condal solve ratings.csv --as matrix-completion --out fitted.csv",
    noun="rows and columns",
    build=_build,
    answer=_answer,
    rows=_rows,
    proved=_proved,
    figures=_figures,
    lines=_lines,
    picture=lambda model, result, prediction: prediction.completed.picture(),
    out="row,column,value for the entries of --predict, or else for the known entries",
    options=(
        click.Option(
            ["--columns"],
            metavar="R,C,V",
            callback=_columns,
            help="The columns of the table with row, column and value, by name or number; default: "
            "the first three.",
        ),
        click.Option(
            ["--predict"],
            metavar="FILE",
            help="A table of row, column: the entries to predict for --out.",
        ),
        click.Option(
            ["--radius"],
            type=click.FloatRange(min=0, min_open=True),
            metavar="R",
            help="The largest sum of singular values; default: the one that best predicts held-out "
            "entries.",
        ),
        click.Option(
            ["--loss"],
            type=click.Choice(["squares", "huber", "absolute"]),
            default="squares",
            help="The cost of a misfit; huber and absolute tolerate wrong values.",
        ),
        click.Option(
            ["--delta"],
            type=click.FloatRange(min=0, min_open=True),
            metavar="D",
            help="Where Huber's loss becomes linear; default: from the residuals of a first fit.",
        ),
        click.Option(
            ["--no-effects"], is_flag=True, help="Do not subtract means of rows and columns."
        ),
    ),
    inputs=("predict",),
    resolved=_resolved,
)
