"""Colours of a graph whose rows are owned by ranks: the same on any number of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Indices
from condal.linalg.sparse import row_entries
from condal_mpi.checkpoint.shard_digest import mix
from condal_mpi.halo import Halo
from condal_mpi.team import Team

NONE = -1


def colouring(graph: Any, halo: Halo, team: Team, *, most: int) -> Indices | None:
    """Return the colour of each row of this rank and of its halo; None if more than `most` are
    needed.

    In the order of falling degrees, ties by a hash of the number, each vertex takes the first
    colour that no neighbour before it has. All vertices whose neighbours before them are coloured
    take theirs at once (Jones and Plassmann 1993). The columns of `graph` are those of the halo.
    """
    rows, degrees = graph.shape[0], np.diff(graph.indptr)
    before = _before(graph, halo, degrees)
    owner = np.repeat(np.arange(rows), degrees)
    places = (graph.indices[before], owner[before])
    followers = sp.csr_array((np.ones(places[0].size, bool), places), graph.shape[::-1])
    waits = np.bincount(places[1], minlength=rows)
    colour = np.full(halo.columns.size, NONE)
    ready, count = np.flatnonzero(waits == 0), 0
    while team.sum(float(ready.size)):
        at, each = row_entries(graph, ready)
        neighbours, first = graph.indices[at], before[at]
        taken = np.zeros((ready.size, count + 1), dtype=bool)
        taken[np.repeat(np.arange(ready.size), each)[first], colour[neighbours[first]]] = True
        known = colour != NONE
        colour[ready] = np.argmin(taken, axis=1)  # the last column is free
        count = max(count, int(colour[ready].max(initial=NONE)) + 1)
        count = int(team.largest(count))
        if count > most:
            return None
        colour = halo(colour[:rows])
        new = np.flatnonzero((colour != NONE) & ~known)
        freed = followers.indices[row_entries(followers, new)[0]]
        waits -= np.bincount(freed, minlength=rows)
        freed = np.unique(freed)
        ready = freed[waits[freed] == 0]
    return colour


def _before(graph: Any, halo: Halo, degrees: Indices) -> Any:
    """Whether the column of each entry comes before its row."""
    numbers = halo.columns.astype(np.int64)
    degree, hashes = halo(degrees.astype(np.int64)), mix(numbers.view(np.uint64))
    row, column = np.repeat(np.arange(graph.shape[0]), degrees), graph.indices
    higher = degree[column] > degree[row]
    tied = degree[column] == degree[row]
    equal = tied & (hashes[column] == hashes[row])
    earlier = tied & (hashes[column] < hashes[row])
    return higher | earlier | (equal & (numbers[column] < numbers[row]))
