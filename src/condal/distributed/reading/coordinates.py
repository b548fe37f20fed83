"""Lists of entries, rudy and Matrix Market, of which each rank reads its lines."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from condal.distributed.reading.exchange import mirror, owners, send, transpose
from condal.distributed.team import Team
from condal.io.formats.adjacency import BOTH_TRIANGLES, require_symmetric, sum_entries
from condal.io.formats.coordinate import Entries, scan, truncated_error
from condal.io.formats.header import Layout, check_claims
from condal.io.formats.matrix_market import (
    first_side,
    read_banner,
    read_sizes,
    require_one_triangle,
    require_square,
)
from condal.io.formats.rudy import read_header
from condal.io.formats.text import Text

_Value = TypeVar("_Value")


def rudy_rows(team: Team, text: Text) -> sparse.csr_array:
    """Return this rank's rows of what `read_rudy` returns."""
    with team.together():
        header = read_header(text) if team.rank == 0 else None
    layout, start = value_of(team, 0, header)
    entries = _read_entries(team, text, layout, start if team.rank == 0 else 0, line=1)
    return from_edges(team, text, layout.n, *entries)


def matrix_market_rows(team: Team, text: Text) -> sparse.csr_array:
    """Return this rank's rows of what `read_matrix_market` returns."""
    with team.together():
        banner = read_banner(text) if team.rank == 0 else None
    field, symmetry = value_of(team, 0, banner)
    holder = header_rank(team, text)
    with team.together():
        own = read_sizes(text, field) if team.rank == holder else None
    sizes = value_of(team, holder, own)
    require_square(text, sizes)
    start = start_of(team, text, holder, sizes.start)
    entries = _read_entries(team, text, sizes.layout, start, line=sizes.line)
    if symmetry == "general":
        W = sum_rows(team, text, sizes.rows, *entries)
        return symmetric_rows(team, text, W, hint=BOTH_TRIANGLES)
    side = next((side for side in team.gathered(first_side(entries)) if side), 0)
    with team.together():
        require_one_triangle(text, entries, side, start)
    return from_edges(team, text, sizes.rows, *entries)


def header_rank(team: Team, text: Text) -> int:
    """Return the rank of the first line that is neither blank nor a comment.

    If there is no such line, return the last rank that has lines.
    """
    has = team.gathered((text.header() is not None, len(text.data) > 0))
    ranks = [rank for rank, (header, _) in enumerate(has) if header]
    return ranks[0] if ranks else last_rank(team, text)


def last_rank(team: Team, text: Text) -> int:
    """Return the last rank that has lines."""
    return max(rank for rank, size in enumerate(team.gathered(len(text.data))) if size)


def value_of(team: Team, rank: int, value: _Value | None) -> _Value:
    """Return the value of a rank, the only one that knows it."""
    known = team.gathered(value)[rank]
    assert known is not None
    return known


def start_of(team: Team, text: Text, holder: int, start: int) -> int:
    """Return where the lines after the header begin here, given the `start` on its rank."""
    if team.rank == holder:
        return start
    return len(text.data) if team.rank < holder else 0


def require_claims(team: Team, text: Text, layout: Layout, start: int, line: int) -> None:
    """Refuse claims that the whole file is too small for."""
    sizes = team.gathered((len(text.data), len(text.data) - start))
    size, rest = (sum(column) for column in zip(*sizes, strict=True))
    check_claims(text, layout, size - rest, line, size=size)


def _read_entries(team: Team, text: Text, layout: Layout, start: int, *, line: int) -> Entries:
    """Read the entries of this rank's lines from `start` on; `line` is that of the header."""
    require_claims(team, text, layout, start, line)
    with team.together():
        scanned = scan(text, layout, start)
    counts = team.gathered((scanned.count, scanned.faulty))
    seen = np.cumsum([0] + [count for count, _ in counts])
    faulty = (r for r, (_, bad) in enumerate(counts) if bad or seen[r + 1] > layout.m)
    first = next(faulty, None)
    with team.together():
        if team.rank == first:
            scanned.refuse(text, layout, start, seen=int(seen[first]))
    if seen[-1] < layout.m:
        last = last_rank(team, text)
        with team.together():
            if team.rank == last:
                raise truncated_error(text, layout, int(seen[-1]))
    return scanned.entries


def sum_rows(team: Team, text: Text, n: int, *entries: Any) -> sparse.csr_array:
    """Return this rank's rows of what `sum_entries` returns for the entries of all ranks."""
    i, j, w = send(team, owners(team, n, entries[0]), *entries)
    with team.together():
        return sum_entries(text, n, i, j, w, rows=team.range(n))


def from_edges(team: Team, text: Text, n: int, i: Any, j: Any, w: Any) -> sparse.csr_array:
    """Return this rank's rows of what `adjacency.from_edges` returns for a whole file."""
    return mirror(team, sum_rows(team, text, n, np.minimum(i, j), np.maximum(i, j), w))


def symmetric_rows(team: Team, text: Text, W: sparse.csr_array, *, hint: str) -> sparse.csr_array:
    """Return this rank's rows of what `check_symmetric` returns, given its rows of W."""
    begin, _ = team.range(W.shape[1])
    T = transpose(team, W)
    with team.together():
        require_symmetric(text, W, T, hint=hint, begin=begin)
    return mirror(team, sparse.triu(W, begin, format="csr"))
