"""Sign synchronisation: signs from noisy products of pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from condal.cli.application import GRAPH, Application, Chosen, Figures, Lines, rounded, trials
from condal.cli.quality import AtMost
from condal.cli.text import number
from condal.io.formats.graph_files import read_graph
from condal.problems.synchronisation import (
    Signs,
    SignSynchronisation,
    sign_synchronisation,
)
from condal.result import Result

if TYPE_CHECKING:
    from condal.io.results.record import Saved


def _build(file: str, chosen: Chosen) -> SignSynchronisation:
    # Halving is exact, and s'C s counts every pair twice.
    return sign_synchronisation(0.5 * read_graph(file), name="sync")


def _answer(model: SignSynchronisation, result: Result, chosen: Chosen) -> Signs:
    answer = rounded(model, result, chosen)
    return replace(answer, signs=answer.signs * answer.signs[0])


def _restore(model: SignSynchronisation, saved: Saved) -> Signs:
    return Signs(model.value(saved.labels), saved.result.bound, saved.labels, model)


def _rows(model: SignSynchronisation, result: Result, answer: Signs) -> Lines:
    ones = int((answer.signs > 0).sum())
    return [
        ("signs", f"{ones:,} of +1 and {answer.signs.size - ones:,} of -1, or all flipped"),
        ("agreement", f"{number(answer.value)}, the sum of C_ij s_i s_j over all pairs"),
    ]


def _proved(model: SignSynchronisation, result: Result, answer: Signs) -> Lines:
    return _at_most(model, result, answer).lines("no signs agree with C better", "agreement")


def _figures(model: SignSynchronisation, result: Result, answer: Signs | None) -> Figures:
    if answer is None:
        return {"agreement": None, "share": None}
    return {"agreement": answer.value, "share": _at_most(model, result, answer).share}


def _at_most(model: SignSynchronisation, result: Result, answer: Signs) -> AtMost:
    return AtMost(answer.value, result.bound, 2 * model.C.data)


def _lines(answer: Signs) -> Iterator[str]:
    return (f"{int(sign)}" for sign in answer.signs)


SYNC = Application(
    name="sync",
    title="signs from noisy products of pairs",
    about=f"""\
    Recover signs s_i, +1 or -1, from measurements C_ij of their products
    s_i s_j, some of them wrong. The signs maximise the agreement, the sum of
    C_ij s_i s_j over all pairs. Flipping all signs changes nothing, so the first
    sign is +1. The command proves a bound on the agreement of all signs.

{GRAPH} A measured pair is an edge, and its weight is the
    measurement.""",
    example="condal solve measured.mtx --as sync --out signs.txt",
    noun="signs",
    build=_build,
    answer=_answer,
    rows=_rows,
    proved=_proved,
    figures=_figures,
    lines=_lines,
    labels=lambda answer: answer.signs,
    restore=_restore,
    out="the signs, 1 or -1, one per line",
    options=(trials(50, "choices of signs", fewer=True),),
)
