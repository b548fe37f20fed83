"""A problem to try at once: two channels for the radio stations of a map."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.driver.solve import solve
from condal.problems import max_cut
from condal.problems.maxcut import Cut, MaxCut
from condal.result import Result, Row, Status

STATIONS = 2000
NEIGHBOURS = 20.0
TOL = 1e-3


def stations(n: int = STATIONS, *, neighbours: float = NEIGHBOURS, seed: int = 0) -> MaxCut:
    """Max-cut of a random geometric graph: points of the unit square, joined where they are near.

    A point far from the border has `neighbours` neighbours on average.
    """
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
    """Tell the problem, solve it, and tell what was found, what was proved and what to try next."""
    model = stations(n)
    say(question(model))
    with watch or nullcontext() as callback:
        result = solve(model, tol=tol, callback=callback)
    if result.x is not None:
        say(answer(model, result, model.round(result)))
    say(NEXT)
    return result


def question(model: MaxCut) -> str:
    """The problem, to someone who has never heard of it."""
    ways = math.floor((model.n - 1) * math.log10(2))
    return f"""\
A map holds {model.n:,} radio stations. {_pairs(model):,} pairs of them are so near that they
disturb each other on the same channel, and there are two channels. Which
station takes which, so that as many near pairs as possible are separated?

This is max-cut: cut a graph in two so that the edges between the two sides
weigh as much as possible. There are more than 10^{ways} ways to choose from.
condal solves the semidefinite relaxation, {model.n:,} x {model.n:,} unknowns:
"""


def answer(model: MaxCut, result: Result, cut: Cut) -> str:
    """What was found and what was proved."""
    found = f"""
Found    The cut found weighs {cut.weight:,.0f}: so many of the {_pairs(model):,} near pairs are on
         different channels.
"""
    if not math.isfinite(result.bound):
        return found + "Proved   Nothing: the solve was stopped too early.\n"
    most = math.floor(result.bound)  # the weights are integers: so is the best cut's
    share = math.floor(1000 * cut.weight / most) / 10
    tried = "" if result.status is Status.SOLVED else " (It was stopped before the tolerance.)"
    return f"""{found}\
Proved   No cut of this graph can weigh more than {most:,}. The one found
         is at least {share:.1f}% of the best possible.{tried}
Took     {result.seconds:.1f} seconds; the relaxation is solved to {100 * result.gap:.2f}%, which is
         proved too ({result.certificate.how}).
"""


NEXT = """\
Try next, with a graph of your own:

  condal info FILE                  what is in it
  condal solve FILE --as max-cut    its cut, and the proof
  condal solve --help               all there is to choose

FILE is text: a line `n m` with the numbers of vertices and edges, then a line
`i j weight` for each edge, vertices from 1. Matrix Market and METIS files and
edge lists do as well."""


def _pairs(model: MaxCut) -> int:
    return int(model.W.nnz) // 2
