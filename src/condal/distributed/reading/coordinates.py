"""Lists of entries, rudy and Matrix Market, of which each rank reads its lines."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from condal.distributed.reading.exchange import mirrored, owners, sent, transposed
from condal.distributed.team import Team
from condal.io.formats.adjacency import BOTH_TRIANGLES, require_symmetric, sum_entries
from condal.io.formats.coordinate import Entries, scan, truncated
from condal.io.formats.header import Layout, check_claims
from condal.io.formats.matrix_market import (
    banner,
    first_side,
    require_one_triangle,
    require_square,
    sizes,
)
from condal.io.formats.rudy import promised
from condal.io.formats.text import Text

_Word = TypeVar("_Word")


def rudy_rows(team: Team, text: Text) -> sparse.csr_array:
    """This rank's rows of what `parse_rudy` gives."""
    with team.together():
        found = promised(text) if team.rank == 0 else None
    layout, start = word_of(team, 0, found)
    entries = _entries(team, text, layout, start if team.rank == 0 else 0, line=1)
    return from_edges(team, text, layout.n, *entries)


def matrix_market_rows(team: Team, text: Text) -> sparse.csr_array:
    """This rank's rows of what `parse_matrix_market` gives."""
    with team.together():
        first = banner(text) if team.rank == 0 else None
    field, symmetry = word_of(team, 0, first)
    holder = holder_of_header(team, text)
    with team.together():
        found = sizes(text, field) if team.rank == holder else None
    rows, columns, start, line, layout = word_of(team, holder, found)
    require_square(text, rows, columns, line)
    start = start_of(team, text, holder, start)
    entries = _entries(team, text, layout, start, line=line)
    if symmetry == "general":
        return symmetric(team, text, summed(team, text, rows, *entries), hint=BOTH_TRIANGLES)
    side = next((one for one in team.gathered(first_side(entries)) if one), 0)
    with team.together():
        require_one_triangle(text, entries, side, start, text.line_at(start))
    return from_edges(team, text, rows, *entries)


def holder_of_header(team: Team, text: Text) -> int:
    """The rank in whose lines the first stands that is neither blank nor a comment; the last that
    has lines, if there is none."""
    has = team.gathered((text.header() is not None, len(text.data) > 0))
    found = [rank for rank, (header, _) in enumerate(has) if header]
    return found[0] if found else max(rank for rank, (_, lines) in enumerate(has) if lines)


def word_of(team: Team, rank: int, word: _Word | None) -> _Word:
    """What a rank says, which is the only one to know."""
    said = team.gathered(word)[rank]
    assert said is not None
    return said


def start_of(team: Team, text: Text, holder: int, start: int) -> int:
    """Where the lines after the header begin in this rank's, if they do at `start` in those of its
    holder."""
    if team.rank == holder:
        return start
    return len(text.data) if team.rank < holder else 0


def require_claims(team: Team, text: Text, layout: Layout, start: int, line: int) -> None:
    """Refuse what the whole file is too small for."""
    sizes = team.gathered((len(text.data), len(text.data) - start))
    size, rest = (sum(column) for column in zip(*sizes, strict=True))
    check_claims(text, layout, size - rest, line, size=size)


def _entries(team: Team, text: Text, layout: Layout, start: int, *, line: int) -> Entries:
    """The entries of this rank's lines, from `start` on; the header is on the line `line` of the
    file."""
    require_claims(team, text, layout, start, line)
    with team.together():
        found = scan(text, layout, start)
    counts = team.gathered((found.count, found.faulty))
    seen = np.cumsum([0] + [count for count, _ in counts])
    guilty = (r for r, (_, faulty) in enumerate(counts) if faulty or seen[r + 1] > layout.m)
    first = next(guilty, None)
    with team.together():
        if team.rank == first:
            found.refuse(text, layout, start, text.line_at(start), seen=int(seen[first]))
    if seen[-1] < layout.m:
        last = max(rank for rank, size in enumerate(team.gathered(len(text.data))) if size)
        with team.together():
            if team.rank == last:
                raise truncated(text, layout, int(seen[-1]))
    return found.entries


def summed(team: Team, text: Text, n: int, *entries: Any) -> sparse.csr_array:
    """This rank's rows of what `sum_entries` gives, of the entries that all ranks have read."""
    i, j, w = sent(team, owners(team, n, entries[0]), *entries)
    with team.together():
        return sum_entries(text, n, i, j, w, rows=team.range(n))


def from_edges(team: Team, text: Text, n: int, i: Any, j: Any, w: Any) -> sparse.csr_array:
    """This rank's rows of what the function of that name gives of a whole file."""
    upper = summed(team, text, n, np.minimum(i, j), np.maximum(i, j), w)
    return mirrored(team, upper)


def symmetric(team: Team, text: Text, W: sparse.csr_array, *, hint: str) -> sparse.csr_array:
    """This rank's rows of what `check_symmetric` gives, of its rows of W."""
    begin, _ = team.range(W.shape[1])
    T = transposed(team, W)
    with team.together():
        require_symmetric(text, W, T, hint=hint, begin=begin)
    return mirrored(team, sparse.triu(W, begin, format="csr"))
