"""Semidefinite programs with sparse data that are distributed over ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.symmetric import Symmetric
from condal.maps.inner import require_triplets
from condal.problem import Problem
from condal.runtime.arguments import require_positive
from condal.sets.boxes import Box, Equal
from condal_mpi.graphs import own_entries
from condal_mpi.maps import DistributedInner, SparseMatrices
from condal_mpi.matrix import ShardedTerm, require_symmetric
from condal_mpi.pieces import (
    DistributedBox,
    DistributedEqual,
    DistributedLinear,
    DistributedSpectrahedron,
)
from condal_mpi.sharded_array import ShardedArray
from condal_mpi.team import Team


def sparse_program(
    C: Any,
    *,
    owner: Any,
    rows: Any,
    cols: Any,
    values: Any,
    trace: float,
    b: Any = None,
    low: Any = None,
    high: Any = None,
    at_most: bool = False,
    maximise: bool = False,
    name: str = "sparse program",
    team: Team | None = None,
) -> Problem:
    r"""Build a semidefinite program whose data are distributed over ranks.

    Minimise :math:`\langle C, x \rangle` subject to :math:`\langle A_k, x \rangle = b_k`, or
    :math:`l_k \le \langle A_k, x \rangle \le u_k`, for k = 0, ..., p - 1,
    :math:`\operatorname{tr} x = t` and x psd.

    Parameters
    ----------
    C : sparse matrix
        The rows begin ... end - 1 of C, where ``begin, end = Team().range(n)``, with n columns.
    owner, rows, cols, values : array_like
        Entries of the matrices :math:`A_k`, as in `condal.maps.Inner.from_triplets`: k, row, column
        and value of each. An entry off the diagonal is given once, for both triangles. Any rank may
        give any entries; those given for one place are added.
    trace : float
        The trace :math:`t`.
    b : array_like, optional
        This rank's numbers :math:`b_k`, for the k of ``Team().range(p)``.
    low, high : array_like, optional
        This rank's bounds :math:`l_k` and :math:`u_k` in place of b; a bound may be infinite.
    at_most : bool
        If true, the trace is at most `trace`.
    maximise : bool
        Whether the objective is maximised.
    name : str, optional
        The name in results and reports.
    team : Team, optional
        The ranks; by default all.

    Returns
    -------
    Problem
        The problem, for `condal_mpi.solve`.

    Raises
    ------
    ProblemError
        On all ranks, if the data of one of them are wrong or do not fit those of the others.
    """
    team = Team() if team is None else team
    given = own_entries(C, team, "C", "the number of columns of C")
    n = int(C.shape[1])
    with team.together():
        require_positive(trace, "trace")
        K = _set_of(b, low, high, team)
    kinds = "b" if low is None else "low, high", float(trace), bool(at_most), bool(maximise)
    team.require_same(kinds, "the set K, the trace, at_most and maximise")
    counts = team.gathered(K.size)
    count = sum(counts)
    with team.together():
        _require_shared(counts, team)
        _, k, i, j, entries = require_triplets(n, owner, rows, cols, values, count)
    matrices, cost = SparseMatrices.beside(given, count, (k, i, j, entries), team)
    require_symmetric(cost, "C", "matrix")
    return Problem.of(
        f=DistributedLinear(Symmetric(n, [ShardedTerm(cost)])),
        X=DistributedSpectrahedron.of(n, float(trace), team, at_most=bool(at_most)),
        A=DistributedInner(n, ShardedArray(np.ones(K.size), team), matrices),
        K=K,
        maximise=bool(maximise),
        name=name,
    )


def _set_of(b: Any, low: Any, high: Any, team: Team) -> DistributedEqual | DistributedBox:
    """Return K, of which this rank has these numbers."""
    if b is not None and low is None and high is None:
        return DistributedEqual(ShardedArray(Equal(b).b, team))
    if b is None and low is not None and high is not None:
        own = Box(low, high)
        return DistributedBox(ShardedArray(own.low, team), ShardedArray(own.high, team))
    given = [name for name, each in (("b", b), ("low", low), ("high", high)) if each is not None]
    raise ProblemError(
        f"give b for equations, or low and high for bounds; got {' and '.join(given) or 'none'}"
    )


def _require_shared(counts: list[int], team: Team) -> None:
    """Raise ProblemError unless each rank has its share of the numbers of the constraints."""
    count = sum(counts)
    if count < team.size:
        raise ProblemError(
            f"{count} constraints cannot be shared by {team.size} ranks: start fewer ranks"
        )
    begin, end = team.range(count)
    if counts[team.rank] != end - begin:
        raise ProblemError(
            f"rank {team.rank} owns the constraints {begin} to {end - 1} of {count}; got "
            f"{counts[team.rank]} numbers"
        )
