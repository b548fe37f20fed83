"""The command `demo`: assign two channels to the radio stations of a map."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import click
import numpy as np
import scipy.sparse as sp

from condal.certificates.history import Row
from condal.cli.result_text import exit_code
from condal.driver.solve import solve
from condal.problems.cuts import Cut, MaxCut, max_cut
from condal.report.progress import Progress
from condal.report.words import percent
from condal.result import Result, Status

STATIONS = 2000
NEIGHBOURS = 20.0
TOL = 1e-3


@click.command()
@click.pass_context
def demo(context: click.Context) -> None:
    """Solve an example and explain the result; no file is needed.

    \b
    Example:
      condal demo

    The example assigns two channels to 2,000 radio stations and takes a few
    seconds.
    """
    context.exit(exit_code(run(click.echo, watch=Progress())))


def stations(n: int = STATIONS, *, neighbours: float = NEIGHBOURS, seed: int = 0) -> MaxCut:
    """Return max-cut of a random geometric graph: random points of the unit square, with an edge
    between near ones. An inner point has `neighbours` neighbours on average."""
    places = np.random.default_rng(seed).random((n, 2))
    squared = sum(np.subtract.outer(c, c) ** 2 for c in places.T)
    i, j = np.nonzero(np.triu(squared < neighbours / (np.pi * n), k=1))
    upper = sp.csr_array((np.ones(i.size), (i, j)), shape=(n, n))
    return max_cut(upper + upper.T, name="demo")


def run(
    say: Callable[[str], Any],
    *,
    n: int = STATIONS,
    tol: float = TOL,
    watch: AbstractContextManager[Callable[[Row], Any] | None] | None = None,
) -> Result:
    """Explain the problem, solve it, explain the answer and its proof, and say what to try next."""
    model = stations(n)
    say(question(model))
    with watch or nullcontext() as callback:
        result = solve(model, tol=tol, callback=callback)
    if result.x is not None:
        say(answer(model, result, model.round(result)))
    say(NEXT)
    return result


def question(model: MaxCut) -> str:
    """Return the problem in words."""
    ways = math.floor((model.n - 1) * math.log10(2))
    return f"""\
A map holds {model.n:,} radio stations. {_pairs(model):,} pairs of them are so close that they
disturb each other on the same channel. There are two channels. Which station
should use which, so that as many close pairs as possible are on different ones?

This is max-cut: divide the vertices of a graph into two sides to maximise the
weight of the edges between them. There are more than 10^{ways} divisions.
condal solves the semidefinite relaxation with {model.n:,} x {model.n:,} unknowns:
"""


def answer(model: MaxCut, result: Result, cut: Cut) -> str:
    """Return the cut and what is proved about it, in words."""
    found = f"""
Found    A cut of weight {cut.weight:,.0f}: of the {_pairs(model):,} close pairs, that many are on
         different channels.
"""
    if not math.isfinite(result.bound):
        return found + "Proved   Nothing: the solve was stopped too early.\n"
    most = math.floor(result.bound)  # the weights are integers, so every cut has integer weight
    share = math.floor(1000 * cut.weight / most) / 10
    early = "" if result.status is Status.SOLVED else " (It was stopped before the tolerance.)"
    return f"""{found}\
Proved   No cut of this graph can weigh more than {most:,}. The cut found
         has at least {share:.1f}% of the best possible weight.{early}
Took     {result.seconds:.1f} seconds. The relaxation is solved to {percent(result.gap)}, which is
         also proved ({result.certificate.how}).
"""


NEXT = """\
Try next, with a graph of your own:

  condal info FILE                  summarise the graph
  condal solve FILE --as max-cut    find a cut and prove how good it is
  condal solve --help               list all options

FILE is text: a line `n m` with the numbers of vertices and edges, then a line
`i j weight` for each edge, with vertices numbered from 1. Matrix Market files,
METIS files and edge lists work too."""


def _pairs(model: MaxCut) -> int:
    return int(model.W.nnz) // 2
