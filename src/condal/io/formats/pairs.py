"""Edges that are to stand in the lines of both their ends, once in each, with one weight."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from condal.io.formats.words import Floats, Ints

Entries: TypeAlias = tuple[Ints, Ints, Floats]


class PairFault(NamedTuple):
    """What is wrong with an edge, in the line of a vertex, from 0; of a smaller kind, it is told of
    first."""

    kind: int
    vertex: int
    text: str


def pair_fault(n: int, given: Entries, turned: Entries) -> PairFault | None:
    """An edge that is given twice, or once, or with two weights, of the entries (i, j, w) of some
    rows; `turned` are all entries (j, i, w) of the matrix whose j is one of these."""
    (i, j, w), (ti, tj, tw) = given, turned
    one, other = i * n + j, ti * n + tj
    order, back = np.argsort(one, kind="stable"), np.argsort(other, kind="stable")
    one, other = one[order], other[back]
    if (again := np.flatnonzero(one[1:] == one[:-1])).size:
        k = order[again[0] + 1]
        what = f"neighbour {j[k] + 1} is given twice; METIS files have no parallel edges"
        return PairFault(0, int(i[k]), what)
    short = min(one.size, other.size)
    apart = np.flatnonzero(one[:short] != other[:short])
    if apart.size or one.size != other.size:
        # Where the sorted lists first part, the smaller of the two has no partner.
        at = int(apart[0]) if apart.size else short
        lone = at >= other.size or (at < one.size and one[at] < other[at])
        here, there = (i[order[at]], j[order[at]]) if lone else (tj[back[at]], ti[back[at]])
        what = (
            f"the edge to vertex {there + 1} is given once: the line of vertex {there + 1} does "
            f"not name vertex {here + 1}; every edge stands in the lines of both its ends"
        )
        return PairFault(1, int(here), what)
    if (unlike := np.flatnonzero(w[order] != tw[back])).size:
        k, partner = order[unlike[0]], back[unlike[0]]
        what = (
            f"the edge between vertices {i[k] + 1} and {j[k] + 1} weighs {w[k]:g} in the line of "
            f"the one and {tw[partner]:g} in that of the other"
        )
        return PairFault(2, int(max(i[k], j[k])), what)
    return None
