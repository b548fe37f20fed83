"""METIS files, of which each rank reads the lines of some vertices."""

from __future__ import annotations

from dataclasses import replace

from scipy import sparse

from condal.distributed.reading.coordinates import (
    holder_of_header,
    require_claims,
    start_of,
    word_of,
)
from condal.distributed.reading.exchange import owners, sent
from condal.distributed.team import Team
from condal.io.formats.adjacency import sum_entries
from condal.io.formats.metis import (
    Plan,
    line_of_vertex,
    neighbours,
    plan_of,
    refuse,
    require_edges,
    require_lines,
    without_comments,
)
from condal.io.formats.pairs import Entries, pair_fault
from condal.io.formats.text import Text


def metis_rows(team: Team, text: Text) -> sparse.csr_array:
    """This rank's rows of what `parse_metis` gives."""
    holder = holder_of_header(team, text)
    with team.together():
        found = plan_of(text) if team.rank == holder else None
    said = word_of(team, holder, found)
    start = start_of(team, text, holder, said.start)
    require_claims(team, text, replace(said.layout, m=0), start, said.line)
    body = without_comments(text.data[start:])
    ends = team.gathered(body.count(b"\n"))
    require_lines(text, said, sum(ends))

    before, n = sum(ends[: team.rank]), said.layout.n
    plan = replace(said, start=start, line=text.line_at(start) - 1)
    with team.together():
        here = neighbours(body, plan, before)
    # The lines of vertices here, of which one may lack its end.
    lines = min(body.count(b"\n") + (body != b"" and not body.endswith(b"\n")), n - before)
    faulty = here is None or (plan.own > 0 and here.full < lines)
    first = next((rank for rank, one in enumerate(team.gathered(faulty)) if one), None)
    if first is None and plan.own and sum(team.gathered(here.full if here else 0)) < n:
        first = max(rank for rank, size in enumerate(team.gathered(len(text.data))) if size)
    with team.together():
        if team.rank == first:
            refuse(text, plan, before)
    assert here is not None

    i, j, w = sent(team, owners(team, n, here.entries[0]), *here.entries)
    turned = sent(team, owners(team, n, j), j, i, w)
    _check_pairs(team, text, plan, (i, j, w), turned, (before, before + lines))
    require_edges(text, said, sum(team.gathered(int(i.size))))
    return sum_entries(text, n, i, j, w, rows=team.range(n))


def _check_pairs(
    team: Team, text: Text, plan: Plan, given: Entries, turned: Entries, lines: tuple[int, int]
) -> None:
    """Refuse an edge that is given twice, or once, or with two weights; this rank has read the
    lines of the vertices lines[0] ... lines[1] - 1."""
    faults = team.gathered(pair_fault(plan.layout.n, given, turned))
    kinds = [(fault.kind, rank) for rank, fault in enumerate(faults) if fault is not None]
    if not kinds:
        return
    fault = faults[min(kinds)[1]]
    assert fault is not None
    here = lines[0] <= fault.vertex < lines[1]
    line = line_of_vertex(text, plan, fault.vertex - lines[0]) if here else None
    raise text.error(fault.text, next(one for one in team.gathered(line) if one is not None))
