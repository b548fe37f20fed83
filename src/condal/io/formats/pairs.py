"""Edges that must stand in the lines of both their ends, once in each, with one weight."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from condal.io.formats.numerals import Floats, Ints

Entries: TypeAlias = tuple[Ints, Ints, Floats]


class PairFault(NamedTuple):
    """What is wrong with an edge in the line of a vertex, from 0; smaller kinds go first."""

    kind: int
    vertex: int
    text: str


def pair_fault(n: int, entries: Entries, turned: Entries) -> PairFault | None:
    """Find an edge that is given twice in a line, in one line only, or with two weights.

    `entries` are the (i, j, w) of some rows; `turned` are all entries (j, i, w) of the matrix whose
    j is one of these rows.
    """
    (i, j, w), (ti, tj, tw) = entries, turned
    key, turned_key = i * n + j, ti * n + tj
    order, turned_order = (np.argsort(k, kind="stable") for k in (key, turned_key))
    key, turned_key = key[order], turned_key[turned_order]
    if (repeated := np.flatnonzero(key[1:] == key[:-1])).size:
        k = order[repeated[0] + 1]
        text = f"neighbour {j[k] + 1} is given twice; METIS files have no parallel edges"
        return PairFault(0, int(i[k]), text)
    common = min(key.size, turned_key.size)
    differing = np.flatnonzero(key[:common] != turned_key[:common])
    if differing.size or key.size != turned_key.size:
        # Where the sorted lists first differ, the smaller of the two keys has no partner.
        at = int(differing[0]) if differing.size else common
        ours = at >= turned_key.size or (at < key.size and key[at] < turned_key[at])
        k = order[at] if ours else turned_order[at]
        vertex, other = (i[k], j[k]) if ours else (tj[k], ti[k])
        text = (
            f"the edge to vertex {other + 1} is given once: the line of vertex {other + 1} does "
            f"not name vertex {vertex + 1}; every edge stands in the lines of both its ends"
        )
        return PairFault(1, int(vertex), text)
    if (unlike := np.flatnonzero(w[order] != tw[turned_order])).size:
        k, partner = order[unlike[0]], turned_order[unlike[0]]
        text = (
            f"the edge between vertices {i[k] + 1} and {j[k] + 1} has weight {w[k]:g} in one line "
            f"and {tw[partner]:g} in the other"
        )
        return PairFault(2, int(max(i[k], j[k])), text)
    return None
