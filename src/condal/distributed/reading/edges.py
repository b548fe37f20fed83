"""Edge lists, of which each rank reads its lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.distributed.reading.coordinates import from_edges, start_of
from condal.distributed.reading.exchange import number_labels, owners, send
from condal.distributed.team import Team
from condal.io.formats.edge_list import (
    edge_ends,
    edge_weights,
    explain_errors,
    first_of_each,
    require_columns,
    two_weights_error,
    unify_comments,
)
from condal.io.formats.table import (
    Table,
    no_rows_error,
    no_table_error,
    plain,
    table_form,
    table_values,
)
from condal.io.formats.text import Text


def edge_list_rows(team: Team, text: Text) -> tuple[sparse.csr_array, npt.NDArray[np.int64]]:
    """Return this rank's rows of what `read_edge_list` returns, and their labels."""
    table = _table(team, text)
    ends = []
    for k in (0, 1):
        with team.together():
            ends.append(edge_ends(table, k))
    n, numbers, labels = number_labels(team, np.concatenate(ends))
    i, j = np.sort(numbers.reshape(2, -1), axis=0)
    rows = team.gathered(len(table.values))
    entry = sum(rows[: team.rank]) + np.arange(len(table.values))
    i, j, w, entry = send(team, owners(team, n, i), i, j, edge_weights(table), entry)
    first = first_of_each(i * n + j) if i.size else np.empty(0, np.intp)
    _require_one_weight(team, table, (entry, entry[first]), (w, w[first]), rows)
    is_first = first == np.arange(i.size)
    return from_edges(team, text, n, i[is_first], j[is_first], w[is_first]), labels


def _table(team: Team, text: Text) -> Table:
    """Parse this rank's lines as a table of the form that the first line of the file has."""
    with team.together(), explain_errors(text):
        lines = plain(unify_comments(text))
    with team.together(), explain_errors(text):
        form = table_form(lines)
    forms = team.gathered(form)
    holder, form = next(((k, form) for k, form in enumerate(forms) if form), (0, None))
    if form is None:
        raise no_table_error(text)
    begin = start_of(team, lines, holder, form.begin)
    if not any(team.gathered(bool(lines.data[begin:].strip()))):
        raise no_rows_error(text)
    with team.together(), explain_errors(text):
        table = Table(lines, form.names, table_values(lines, form, begin), begin)
    with team.together():
        if len(table.values):
            require_columns(table)
    return table


def _require_one_weight(
    team: Team, table: Table, entries: tuple[Any, Any], weights: tuple[Any, Any], rows: list[int]
) -> None:
    """Refuse the first edge of the file that repeats another with a different weight.

    `entries` and `weights` are pairs: those of each edge, and of the first edge between its ends.
    """
    differing = np.flatnonzero(weights[0] != weights[1])
    fault = None
    if differing.size:
        k = differing[np.argmin(entries[0][differing])]
        fault = [(int(e[k]), float(w[k])) for e, w in zip(entries, weights, strict=True)]
    faults = [fault for fault in team.gathered(fault) if fault is not None]
    if not faults:
        return
    begins = np.cumsum([0, *rows])

    def line(entry: int) -> int:
        holder = int(np.searchsorted(begins, entry, side="right")) - 1
        own = table.line(entry - int(begins[holder])) if team.rank == holder else 0
        return team.gathered(own)[holder]

    second, first = min(faults)
    raise two_weights_error(table.text, (line(first[0]), first[1]), (line(second[0]), second[1]))
