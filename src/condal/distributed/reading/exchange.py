"""Send entries of a matrix to the ranks that own their rows, and number labels over all ranks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.distributed.team import Team

SAMPLES_PER_RANK = 64  # of the labels, from which the intervals of the ranks are chosen


def owners(team: Team, n: int, rows: Any) -> npt.NDArray[np.intp]:
    """Return the rank that owns each row."""
    begins = [team.range(n, rank)[0] for rank in range(team.size)]
    return np.searchsorted(begins, rows, side="right") - 1


class Route:
    """The exchange of one row per entry of `to`, the rank that it goes to."""

    def __init__(self, team: Team, to: npt.NDArray[np.intp]) -> None:
        self._team = team
        self._order = np.argsort(to, kind="stable")
        self._sent = np.bincount(to, minlength=team.size)
        self._received = np.empty_like(self._sent)
        team.comm.Alltoall(self._sent, self._received)

    def send(self, column: Any) -> Any:
        """Return what all ranks send to this one, in the order of the ranks and their rows."""
        return self._exchange(column[self._order], self._sent, self._received)

    def reply(self, answers: Any) -> Any:
        """Send one answer per received row back, and return those to the rows sent."""
        replies = np.empty(self._order.size, answers.dtype)
        replies[self._order] = self._exchange(answers, self._received, self._sent)
        return replies

    def _exchange(self, column: Any, sent: Any, received: Any) -> Any:
        buffer = np.empty(int(received.sum()), column.dtype)
        self._team.comm.Alltoallv([np.ascontiguousarray(column), sent], [buffer, received])
        return buffer


def send(team: Team, to: npt.NDArray[np.intp], *columns: Any) -> tuple[Any, ...]:
    """Send the rows of some columns to the ranks `to`, and return the received ones."""
    if team.size == 1:
        return columns
    route = Route(team, to)
    return tuple(route.send(column) for column in columns)


def transpose(team: Team, block: sparse.csr_array) -> sparse.csr_array:
    """Return this rank's rows of W', given its rows of W."""
    n = block.shape[1]
    begin, end = team.range(n)
    own = sparse.coo_array(block)
    to = owners(team, n, own.col)
    j, i, w = send(team, to, own.col, own.row.astype(np.int64) + begin, own.data)
    return sparse.csr_array((w, (j - begin, i)), shape=(end - begin, n))


def mirror(team: Team, upper: sparse.csr_array) -> sparse.csr_array:
    """Return this rank's rows of U + U' with the diagonal once, given its rows of an upper U."""
    begin, _ = team.range(upper.shape[1])
    W = sparse.csr_array(upper + transpose(team, sparse.triu(upper, begin + 1, format="csr")))
    W.sort_indices()
    return W


class NumberedLabels(NamedTuple):
    """n, the number of each given label, and the labels of the rows of this rank."""

    n: int
    numbers: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]


def number_labels(team: Team, labels: npt.NDArray[np.int64]) -> NumberedLabels:
    """Number the labels of all ranks in rising order, each label once."""
    own, places = np.unique(labels, return_inverse=True)
    to = np.searchsorted(_interval_ends(team, own), own, side="right").astype(np.intp)
    route = Route(team, to)
    # The labels of an interval are numbered by one rank, after those of the ranks before it.
    distinct, at = np.unique(route.send(own), return_inverse=True)
    counts = team.gathered(int(distinct.size))
    first, n = sum(counts[: team.rank]), sum(counts)
    numbers = route.reply(first + at.astype(np.int64))
    (row_labels,) = send(team, owners(team, n, first + np.arange(distinct.size)), distinct)
    return NumberedLabels(n, numbers[places.ravel()], row_labels)


def _interval_ends(team: Team, own: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Choose labels that separate all labels into about equal intervals, one per rank."""
    places = np.linspace(0, max(own.size - 1, 0), min(SAMPLES_PER_RANK, own.size)).astype(np.intp)
    samples = np.sort(np.concatenate(team.gathered(own[places])))
    return samples[[samples.size * rank // team.size for rank in range(1, team.size)]]
