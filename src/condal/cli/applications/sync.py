"""Signs from noisy products of pairs of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from condal.cli.application import Application, Chosen, Lines, trials
from condal.cli.text import number, percent
from condal.formats import read_graph
from condal.problems.synchronisation import (
    Signs,
    SignSynchronisation,
    sign_synchronisation,
)
from condal.result import Result


def _answer(model: SignSynchronisation, result: Result, chosen: Chosen) -> Signs:
    return model.round(result, trials=chosen["trials"], seed=chosen["seed"])


def _rows(model: SignSynchronisation, result: Result, found: Signs) -> Lines:
    ones = int((found.signs > 0).sum())
    rows = [
        ("signs", f"{ones:,} of +1 and {found.signs.size - ones:,} of -1, or all turned"),
        ("agreement", f"{number(found.value)}, the sum of C_ij s_i s_j"),
    ]
    if not math.isfinite(result.bound):
        return [*rows, ("bound", "none was proved")]
    rows.append(("bound", f"{number(result.bound, up=True)}, no signs agree with C better"))
    if result.bound > 0 and found.value >= 0:
        share = percent(min(found.value, result.bound), result.bound)
        rows.append(("quality", f"at least {share} of the best possible agreement"))
    return rows


def _figures(model: Any, result: Result, found: Signs | None) -> dict[str, float | None]:
    return {"agreement": None if found is None else found.value}


def _lines(found: Signs) -> Iterator[str]:
    return (f"{int(sign)}" for sign in found.signs)


SYNC = Application(
    name="sync",
    title="signs from noisy products of pairs of them",
    about="""\
    Find signs s_i, +1 or -1, from measurements C_ij of their products s_i s_j,
    some of them wrong: those that agree best with C, the sum of C_ij s_i s_j
    being the most. It is proved that no signs agree better than the bound.

    FILE is a graph in rudy (Gset), Matrix Market or Rutherford-Boeing (.rb)
    format, plain or packed with gzip or xz: a pair that was measured is an
    edge, and its weight the measurement.""",
    example="condal solve measured.mtx --as sync --out signs.txt",
    noun="signs",
    build=lambda file, chosen: sign_synchronisation(read_graph(file), name="sync"),
    answer=_answer,
    rows=_rows,
    figures=_figures,
    lines=_lines,
    out="the signs, 1 or -1, a line each",
    options=(trials(50, "Choices of signs"),),
)
