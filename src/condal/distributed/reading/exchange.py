"""Entries of a matrix, sent to the ranks that own their rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.distributed.team import Team


def owners(team: Team, n: int, rows: Any) -> npt.NDArray[np.intp]:
    """The rank that owns each row."""
    begins = [team.range(n, rank)[0] for rank in range(team.size)]
    return np.searchsorted(begins, rows, side="right") - 1


def sent(team: Team, to: npt.NDArray[np.intp], *columns: Any) -> tuple[Any, ...]:
    """What all ranks send to this one of some columns, `to` being the rank that each row of these
    goes to: in the order of the ranks, and of the rows that each has."""
    if team.size == 1:
        return columns
    order = np.argsort(to, kind="stable")
    counts = np.bincount(to, minlength=team.size)
    coming = np.empty_like(counts)
    team.comm.Alltoall(counts, coming)
    return tuple(_column(team, column[order], counts, coming) for column in columns)


def answered(team: Team, to: npt.NDArray[np.intp], ask: Any) -> tuple[Any, Any]:
    """What is asked of this rank, and a function that sends an answer to each question back, in the
    order of `ask`."""
    order = np.argsort(to, kind="stable")
    counts = np.bincount(to, minlength=team.size)
    coming = np.empty_like(counts)
    team.comm.Alltoall(counts, coming)

    def back(answers: Any) -> Any:
        found = np.empty(order.size, answers.dtype)
        found[order] = _column(team, answers, coming, counts)
        return found

    return _column(team, ask[order], counts, coming), back


def transposed(team: Team, block: sparse.csr_array) -> sparse.csr_array:
    """This rank's rows of W', of its rows of W."""
    n = block.shape[1]
    begin, end = team.range(n)
    own = sparse.coo_array(block)
    to = owners(team, n, own.col)
    j, i, w = sent(team, to, own.col, own.row.astype(np.int64) + begin, own.data)
    return sparse.csr_array((w, (j - begin, i)), shape=(end - begin, n))


def mirrored(team: Team, upper: sparse.csr_array) -> sparse.csr_array:
    """This rank's rows of U + U' with the diagonal once, of its rows of an upper triangular U."""
    begin, _ = team.range(upper.shape[1])
    W = sparse.csr_array(upper + transposed(team, sparse.triu(upper, begin + 1, format="csr")))
    W.sort_indices()
    return W


def _column(team: Team, column: Any, counts: Any, coming: Any) -> Any:
    got = np.empty(int(coming.sum()), column.dtype)
    team.comm.Alltoallv([np.ascontiguousarray(column), counts], [got, coming])
    return got
