"""Edge lists, of which each rank reads its lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.distributed.reading.coordinates import from_edges
from condal.distributed.reading.exchange import owners, sent
from condal.distributed.reading.labels import numbered
from condal.distributed.team import Team
from condal.io.formats.edge_list import (
    commented,
    ends_of,
    explained,
    first_of_each,
    require_columns,
    two_weights,
    weights_of,
)
from condal.io.formats.table import Table, comments_alone, form_of, names_alone, plain, values_of
from condal.io.formats.text import Text


def edge_list_rows(team: Team, text: Text) -> tuple[sparse.csr_array, npt.NDArray[np.int64]]:
    """This rank's rows of what `parse_edge_list` gives, and their labels."""
    table = _table(team, text)
    ends = []
    for k in (0, 1):
        with team.together():
            ends.append(ends_of(table, k))
    n, numbers, labels = numbered(team, np.concatenate(ends))
    i, j = np.sort(numbers.reshape(2, -1), axis=0)
    rows = team.gathered(len(table.values))
    entry = sum(rows[: team.rank]) + np.arange(len(table.values))
    i, j, w, entry = sent(team, owners(team, n, i), i, j, weights_of(table), entry)
    first = first_of_each(i * n + j) if i.size else np.empty(0, np.intp)
    _require_one_weight(team, table, (entry, entry[first]), (w, w[first]), rows)
    kept = first == np.arange(i.size)
    return from_edges(team, text, n, i[kept], j[kept], w[kept]), labels


def _table(team: Team, text: Text) -> Table:
    """The table of this rank's lines, in the form that the first line of the file has."""
    with team.together(), explained(text):
        lines = plain(commented(text))
    with team.together(), explained(text):
        form = form_of(lines)
    forms = team.gathered(form)
    holder = next((rank for rank, one in enumerate(forms) if one is not None), None)
    if holder is None:
        raise comments_alone(text)
    said = forms[holder]
    assert said is not None
    begin = said.begin if team.rank == holder else 0
    if team.rank < holder:
        begin = len(lines.data)
    if not any(team.gathered(bool(lines.data[begin:].strip()))):
        raise names_alone(text)
    with team.together(), explained(text):
        table = Table(lines, said.names, values_of(lines, said, begin), begin)
    with team.together():
        if len(table.values):
            require_columns(table)
    return table


def _require_one_weight(
    team: Team, table: Table, entries: tuple[Any, Any], weights: tuple[Any, Any], rows: list[int]
) -> None:
    """Refuse the first edge of the file that was given before, with another weight: of the edges
    here, the entries that they and the first ones of their kind are, and the weights of both."""
    other = np.flatnonzero(weights[0] != weights[1])
    found = None
    if other.size:
        k = other[np.argmin(entries[0][other])]
        found = [(int(e[k]), float(w[k])) for e, w in zip(entries, weights, strict=True)]
    every = [one for one in team.gathered(found) if one is not None]
    if not every:
        return
    begins = np.cumsum([0, *rows])

    def line(entry: int) -> int:
        holder = int(np.searchsorted(begins, entry, side="right")) - 1
        here = table.line(entry - int(begins[holder])) if team.rank == holder else 0
        return team.gathered(here)[holder]

    again, before = min(every)
    raise two_weights(table.text, (line(before[0]), before[1]), (line(again[0]), again[1]))
