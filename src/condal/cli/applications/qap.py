"""The quadratic assignment problem from a QAPLIB file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
import numpy as np

from condal.cli.application import Application, Chosen, Figures, Lines, rounded, trials
from condal.cli.quality import cost_figures
from condal.cli.text import excess, number
from condal.io.formats.qaplib import read_qaplib
from condal.problems.qap import Assignment, QuadraticAssignment, quadratic_assignment
from condal.report import pictures
from condal.report.pictures import Picture
from condal.result import Result

if TYPE_CHECKING:
    from condal.io.results.record import Saved


def _build(file: str, chosen: Chosen) -> QuadraticAssignment:
    data = read_qaplib(file)
    return quadratic_assignment(data.A, data.B, nonnegative=chosen["nonnegative"], name="qap")


def _restore(model: QuadraticAssignment, saved: Saved) -> Assignment:
    return Assignment(model.cost(saved.labels), saved.result.bound, saved.labels)


def _rows(model: QuadraticAssignment, result: Result, assignment: Assignment) -> Lines:
    first = " ".join(f"{place + 1}" for place in assignment.permutation[:12])
    return [
        ("assignment", first + " ..." * (len(assignment.permutation) > 12)),
        ("cost", number(assignment.cost)),
    ]


def _proved(model: QuadraticAssignment, result: Result, assignment: Assignment) -> Lines:
    return [
        ("bound", f"{number(result.bound, down=True)}, no assignment costs less"),
        ("quality", excess(_excess(model, result, assignment), "assignment")),
    ]


def _figures(model: QuadraticAssignment, result: Result, assignment: Assignment | None) -> Figures:
    return cost_figures(result, assignment, lambda a: _excess(model, result, a))


def _excess(model: QuadraticAssignment, result: Result, assignment: Assignment) -> float:
    # With integer matrices every assignment has an integer cost.
    whole = all(np.array_equal(M, np.rint(M)) for M in (model.A, model.B))
    if whole and assignment.cost <= math.ceil(result.bound):
        return 0.0
    return model.excess(assignment.permutation, result)


def _lines(assignment: Assignment) -> Iterator[str]:
    return (f"{place + 1}" for place in assignment.permutation)


def _picture(model: QuadraticAssignment, result: Result, assignment: Assignment) -> Picture:
    p, shown = assignment.permutation, pictures.sample(model.n)
    return pictures.images(
        [
            ("A, by facility", model.A[np.ix_(shown, shown)]),
            ("B, by its place", model.B[np.ix_(p[shown], p[shown])]),
        ],
        "The two matrices of the cost, by facility. A good assignment pairs large entries of one "
        "with small entries of the other.",
    )


QAP = Application(
    name="qap",
    title="the cheapest assignment of facilities to places",
    about="""\
    Assign n facilities to n places to minimise the sum of A_ij B_pq over all
    pairs of facilities i and j at places p and q. The command finds an
    assignment and proves a lower bound on the cost of every assignment.

    FILE is a QAPLIB .dat file: n and two n x n matrices A and B, optionally
    compressed with gzip or xz.""",
    example="condal solve nug12.dat --as qap --tol 1e-2 --out places.txt",
    noun="pairs of a facility and a place",
    build=_build,
    answer=rounded,
    rows=_rows,
    proved=_proved,
    figures=_figures,
    lines=_lines,
    labels=lambda assignment: assignment.permutation,
    restore=_restore,
    picture=_picture,
    out="the place of each facility, from 1, one per line",
    options=(
        click.Option(
            ["--nonnegative"],
            type=click.Choice(["all", "costs"]),
            default="all",
            help="Require x >= 0 for all entries, or for those with a cost: faster, but weaker.",
        ),
        trials(50, "assignments"),
    ),
)
