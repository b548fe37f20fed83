"""Graphs whose rows are owned by ranks, as they are given."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.runtime.arguments import refuse_complex
from condal_mpi.team import Team


@dataclass(frozen=True, eq=False)
class GraphModel:
    """A relaxation of a problem of a graph, of which each rank has some rows."""

    block: Any = field(repr=False)
    team: Team = field(repr=False)
    name: str = ""
    numbers: Any = field(default=None, repr=False)

    @property
    def n(self) -> int:
        """The number of vertices."""
        return int(self.block.shape[1])


def graph_rows(block: Any, team: Team, without_edges: str) -> Any:
    """Return this rank's rows of a graph as a CSR array without loops and zeros.

    ProblemError on all ranks if the rows of one are not its own, or hold NaN; or if there are no
    edges, for the reason `without_edges`.
    """
    own = own_entries(block, team, "W", "the number of vertices")
    begin, _ = team.range(block.shape[1])
    edge = (own.row.astype(np.int64) + begin != own.col) & (own.data != 0)
    entries = own.data[edge].astype(np.float64), (own.row[edge], own.col[edge])
    W = sp.csr_array(entries, shape=block.shape)
    if team.sum(float(W.nnz)) == 0:
        raise ProblemError(f"the graph has no edges: {without_edges}; nothing to solve")
    return W


def own_entries(block: Any, team: Team, name: str, columns: str) -> Any:
    """Return this rank's rows of a sparse matrix, called `name` in errors, as a COO array.

    ProblemError on all ranks if the rows of one are not its own, are complex or hold NaN, or if the
    ranks differ in `columns`, the number of columns.
    """
    team.require_alike()
    with team.together():
        if not sp.issparse(block):
            raise ProblemError(
                f"the rows of {name} must be a SciPy sparse array; got {type(block).__name__}"
            )
        refuse_complex(block.dtype, name)
        begin, end = team.range(block.shape[1])
        if block.shape[0] != end - begin:
            raise ProblemError(
                f"rank {team.rank} owns the rows {begin} to {end - 1} of {block.shape[1]}; got "
                f"{block.shape[0]} rows"
            )
        own = sp.coo_array(block)
        if not np.all(np.isfinite(own.data)):
            raise ProblemError(f"the entries of {name} hold NaN or infinity: clean the data first")
    team.require_same(block.shape[1], columns)
    return own
