"""Applications whose file holds measurements: entries, counts or relative poses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import click
import numpy as np

import condal
from condal import problems
from condal.cli.application import BUILD_SHARE, POSITIVE, Application, Chosen, option
from condal.errors import FormatError, ProblemError
from condal.io import formats
from condal.problem import Problem
from condal.result import Result
from condal.runtime.text import number

COUNTS = '{"XZ": {"00": 510, "11": 490}}'
FIRST_TOL = 1e-3  # of the squares whose solution the likelihood starts from


@dataclass(frozen=True, eq=False)
class _Task:
    """A model, and what --out needs of its file."""

    model: Any
    file: Any

    @property
    def problem(self) -> Problem:
        problem: Problem = self.model.problem
        return problem


def _matrix_completion(file: str, chosen: Chosen) -> _Task:
    known = formats.read_ratings(file, chosen["columns"])
    asked = known.rows, known.cols
    if chosen["predict"] is not None:
        asked = _places(chosen["predict"], known)
    model = problems.matrix_completion(
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
    return _Task(model, (asked, known))


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


def _places(path: str, known: formats.Ratings) -> tuple[Any, Any]:
    """Return the rows and columns that a file asks for, as indices of the known matrix."""
    table = formats.read_table(path, wanted="places to predict: row, column")
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


def _entries(task: _Task, completed: Any) -> Iterator[str]:
    """Yield row, column and value of the entries that were asked for."""
    (rows, cols), known = task.file
    names = known.row_names[rows].tolist(), known.col_names[cols].tolist()
    entries = zip(*names, completed.entries(rows, cols).tolist(), strict=True)
    return (f"{row},{column},{value:.10g}" for row, column, value in entries)


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
    build=_matrix_completion,
    out="row,column,value for the entries of --predict, or else for the known entries",
    keys=lambda task: ("rmse", "rank", "radius"),
    answer=lambda task, result, chosen: task.model.complete(result),
    lines=_entries,
    options=(
        option(
            "--columns R,C,V",
            "The columns of the table with row, column and value, by name or number; default: "
            "the first three.",
            callback=_columns,
        ),
        option("--predict FILE", "A table of row, column: the entries to predict for --out."),
        option(
            "--radius R",
            "The largest sum of singular values; default: the one that best predicts held-out "
            "entries.",
            POSITIVE,
        ),
        option(
            "--loss squares|huber|absolute",
            "The cost of a misfit; huber and absolute tolerate wrong values.",
        ),
        option(
            "--delta D",
            "Where Huber's loss becomes linear; default: from the residuals of a first fit.",
            POSITIVE,
        ),
        option("--no-effects", "Do not subtract means of rows and columns."),
    ),
    inputs=("predict",),
    resolved=lambda task: {
        "radius": task.model.radius,
        "delta": task.model.delta if task.model.loss == "huber" else None,
    },
)


def _state_tomography(file: str, chosen: Chosen) -> problems.StateTomography:
    from condal.io.formats.text import read_text
    from condal.io.strict_json import json_object

    text = read_text(file, wanted=f"counts, such as {COUNTS}")
    try:
        counts = json_object(text.data.decode())
    except (ValueError, RecursionError) as error:
        raise FormatError(f"is not JSON such as {COUNTS}: {error}", path=file) from None
    options = {name: chosen[name] for name in ("loss", "background", "l1", "trace_penalty")}
    try:
        return problems.state_tomography(counts, **options, name="state-tomography")
    except ProblemError as error:
        raise FormatError(str(error), path=file) from None


def _solve_counts(model: problems.StateTomography, *given: Any, **options: Any) -> Result:
    """Solve; the likelihood starts from the least squares."""
    if model.loss == "likelihood" and options.get("warm_start") is None:
        limit = options.get("max_seconds")
        share = None if limit is None else 0.25 * limit
        options["warm_start"] = condal.solve(model.least_squares, tol=FIRST_TOL, max_seconds=share)
    return condal.solve(model, *given, **options)


STATE_TOMOGRAPHY = Application(
    name="state-tomography",
    title="a quantum state from the counts of its measurements",
    about="""\
    Fit the density matrix rho of some qubits to the counts of measurements in
    Pauli bases, by least squares or by maximum likelihood. The command proves
    how far the fit is from the best one.

    FILE is JSON, optionally compressed with gzip or xz: an object with an entry
    for each basis, such as {"XZ": {"00": 510, "11": 490}}. A basis has a letter
    X, Y or Z for each qubit, and an outcome a bit for each, in the same order;
    0 stands for the eigenvalue 1. Outcomes without counts can be left out.""",
    example="condal solve counts.json --as state-tomography --out rho.csv",
    noun="numbers, the real and imaginary parts of a state",
    build=_state_tomography,
    out="rho, an entry per line, row by row, as real and imaginary part",
    keys=lambda model: ("purity",),
    answer=lambda model, result, chosen: model.state(result),
    options=(
        option(
            "--loss squares|likelihood",
            "What is minimised: least squares, or the negative log-likelihood.",
        ),
        option(
            "--background SHARE",
            "Share of counts that come from no state, for the likelihood.",
            POSITIVE,
            default=1e-3,
        ),
        option(
            "--l1 WEIGHT",
            "Prior for few coherences: the weight of their moduli.",
            click.FloatRange(min=0),
            default=0.0,
        ),
        option(
            "--trace-penalty WEIGHT",
            "Prior for a low rank, for the squares: the weight of the trace, then at most 1.",
            click.FloatRange(min=0),
            default=0.0,
        ),
    ),
    solve=_solve_counts,
)


def _pose_graph(file: str, chosen: Chosen) -> _Task:
    graph = formats.read_g2o(file)
    return _Task(problems.pose_graph(graph.measurements, name="pose-graph"), graph)


POSE_GRAPH = Application(
    name="pose-graph",
    title="globally optimal poses from noisy relative poses",
    about="""\
    Estimate the poses of a robot or a camera from odometry and loop closures,
    noisy measurements of relative poses. The command solves the semidefinite
    relaxation of SE-Sync, rounds its solution to poses, and proves a lower bound
    on the cost of all poses: no local minimum passes for the optimum. The cost
    is the sum of kappa |R_j - R_i R|^2 + tau |t_j - t_i - R_i t|^2.

    FILE is a pose graph in the g2o format, in the plane (EDGE_SE2) or in space
    (EDGE_SE3:QUAT), optionally compressed with gzip or xz. The poses of its
    VERTEX lines are not used: no start is needed.""",
    example="condal solve sphere.g2o --as pose-graph --tol 1e-6 --out poses.g2o",
    noun="rows of rotations",
    build=_pose_graph,
    out="a g2o file: the poses as VERTEX lines, then the measurements of FILE",
    keys=lambda task: ("cost", "poses", "optimality_gap"),
    answer=lambda task, result, chosen: task.model.round(result),
    lines=lambda task, poses: task.file.lines(poses),
)
