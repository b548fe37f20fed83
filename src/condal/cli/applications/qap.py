"""The quadratic assignment problem from a file of QAPLIB."""

from __future__ import annotations

import math
from collections.abc import Iterator

import click
import numpy as np

from condal.cli.application import Application, Chosen, Figures, Lines, rounded, trials
from condal.cli.quality import cost_figures
from condal.cli.text import excess, number
from condal.io.formats import read_qaplib
from condal.problems.qap import Assignment, QuadraticAssignment, quadratic_assignment
from condal.report import pictures
from condal.report.pictures import Picture
from condal.result import Result


def _build(file: str, chosen: Chosen) -> QuadraticAssignment:
    data = read_qaplib(file)
    return quadratic_assignment(data.A, data.B, nonnegative=chosen["nonnegative"], name="qap")


def _rows(model: QuadraticAssignment, result: Result, found: Assignment) -> Lines:
    first = " ".join(f"{place + 1}" for place in found.permutation[:12])
    return [
        ("assignment", first + " ..." * (len(found.permutation) > 12)),
        ("cost", number(found.cost)),
    ]


def _proved(model: QuadraticAssignment, result: Result, found: Assignment) -> Lines:
    return [
        ("bound", f"{number(result.bound, down=True)}, no assignment costs less"),
        ("quality", excess(_excess(model, result, found), "assignment")),
    ]


def _figures(model: QuadraticAssignment, result: Result, found: Assignment | None) -> Figures:
    return cost_figures(result, found, lambda one: _excess(model, result, one))


def _excess(model: QuadraticAssignment, result: Result, found: Assignment) -> float:
    # The cost of an assignment is an integer if all numbers are: so is the least of them.
    whole = all(np.array_equal(M, np.rint(M)) for M in (model.A, model.B))
    if whole and found.cost <= math.ceil(result.bound):
        return 0.0
    return model.excess(found.permutation, result)


def _lines(found: Assignment) -> Iterator[str]:
    return (f"{place + 1}" for place in found.permutation)


def _picture(model: QuadraticAssignment, result: Result, found: Assignment) -> Picture:
    p, kept = found.permutation, pictures.sample(model.n)
    return pictures.images(
        [
            ("A, of facilities", model.A[np.ix_(kept, kept)]),
            ("B, of their places", model.B[np.ix_(p[kept], p[kept])]),
        ],
        "The two matrices of the cost, facility by facility: where one is large, the other is to "
        "be small.",
    )


QAP = Application(
    name="qap",
    title="the cheapest assignment of facilities to places",
    about="""\
    Assign n facilities to n places, with the least sum of A_ij B_pq over all
    pairs of facilities i and j at places p and q. An assignment is found, and
    it is proved that none costs less than the bound.

    FILE is a .dat file of QAPLIB: n, and two n x n matrices A and B; plain or
    packed with gzip or xz.""",
    example="condal solve nug12.dat --as qap --tol 1e-2 --out places.txt",
    noun="pairs of a facility and a place",
    build=_build,
    answer=rounded,
    rows=_rows,
    proved=_proved,
    figures=_figures,
    lines=_lines,
    picture=_picture,
    out="the place of each facility, from 1, a line each",
    options=(
        click.Option(
            ["--nonnegative"],
            type=click.Choice(["all", "costs"]),
            default="all",
            help="Ask x >= 0 of all entries, or of those with a cost: sooner, and weaker.",
        ),
        trials(50, "Assignments"),
    ),
)
