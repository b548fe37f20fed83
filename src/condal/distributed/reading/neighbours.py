"""METIS files, of which each rank reads the lines of some vertices."""

from __future__ import annotations

from dataclasses import replace

from scipy import sparse

from condal.distributed.reading.coordinates import (
    header_rank,
    last_rank,
    require_claims,
    start_of,
    value_of,
)
from condal.distributed.reading.exchange import owners, send
from condal.distributed.team import Team
from condal.io.formats.adjacency import Entries, pair_fault, sum_entries
from condal.io.formats.metis import (
    Plan,
    line_of_vertex,
    parse_neighbours,
    read_header,
    refuse_first_fault,
    require_edges,
    require_lines,
    without_comments,
)
from condal.io.formats.text import Text


def metis_rows(team: Team, text: Text) -> sparse.csr_array:
    """Return this rank's rows of what `read_metis` returns."""
    holder = header_rank(team, text)
    with team.together():
        header = read_header(text) if team.rank == holder else None
    whole = value_of(team, holder, header)
    start = start_of(team, text, holder, whole.start)
    require_claims(team, text, replace(whole.layout, m=0), start, whole.line)
    body = without_comments(text.data[start:])
    ends = team.gathered(body.count(b"\n"))
    require_lines(text, whole, sum(ends))

    before, n = sum(ends[: team.rank]), whole.layout.n
    plan = replace(whole, start=start)
    with team.together():
        parsed = parse_neighbours(body, plan, before)
    # The number of lines of vertices on this rank; the last may lack its end.
    lines = min(body.count(b"\n") + (body != b"" and not body.endswith(b"\n")), n - before)
    faulty = parsed is None or (plan.own > 0 and parsed.full < lines)
    first = next((rank for rank, bad in enumerate(team.gathered(faulty)) if bad), None)
    if first is None and plan.own and sum(team.gathered(parsed.full if parsed else 0)) < n:
        first = last_rank(team, text)
    with team.together():
        if team.rank == first:
            refuse_first_fault(text, plan, before)
    assert parsed is not None

    i, j, w = send(team, owners(team, n, parsed.entries[0]), *parsed.entries)
    turned = send(team, owners(team, n, j), j, i, w)
    _check_pairs(team, text, plan, (i, j, w), turned, (before, before + lines))
    require_edges(text, whole, sum(team.gathered(int(i.size))))
    return sum_entries(text, n, i, j, w, rows=team.range(n))


def _check_pairs(
    team: Team, text: Text, plan: Plan, entries: Entries, turned: Entries, lines: tuple[int, int]
) -> None:
    """Refuse an edge that is given twice, in one line only, or with two weights.

    This rank has read the lines of the vertices lines[0] ... lines[1] - 1.
    """
    faults = [fault for fault in team.gathered(pair_fault(plan.layout.n, entries, turned)) if fault]
    if not faults:
        return
    fault = min(faults, key=lambda fault: fault.kind)
    ours = lines[0] <= fault.vertex < lines[1]
    line = line_of_vertex(text, plan, fault.vertex - lines[0]) if ours else None
    raise text.error(fault.text, next(known for known in team.gathered(line) if known is not None))
