"""Vertices that are known by labels: numbered in the rising order of these, over all ranks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from condal.distributed.reading.exchange import answered, owners, sent
from condal.distributed.team import Team

SAMPLES = 64  # of the labels of each rank, by which they are shared out


class Numbered(NamedTuple):
    """n, the number of each label that was asked for, and the labels of the rows of this rank."""

    n: int
    numbers: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]


def numbered(team: Team, given: npt.NDArray[np.int64]) -> Numbered:
    """The places of the labels of this rank among all that any rank has, each counted once."""
    own, places = np.unique(given, return_inverse=True)
    to = np.searchsorted(_parting(team, own), own, side="right").astype(np.intp)
    asked, back = answered(team, to, own)
    # Of the labels in this rank's interval: every rank's has lower ones on the ranks before.
    here, at = np.unique(asked, return_inverse=True)
    counts = team.gathered(int(here.size))
    first, n = sum(counts[: team.rank]), sum(counts)
    numbers = back(first + at.astype(np.int64))
    (labels,) = sent(team, owners(team, n, first + np.arange(here.size)), here)
    return Numbered(n, numbers[places.ravel()], labels)


def _parting(team: Team, own: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Labels that part all of them into about equal shares, one fewer than there are ranks."""
    places = np.linspace(0, max(own.size - 1, 0), min(SAMPLES, own.size)).astype(np.intp)
    every = np.sort(np.concatenate(team.gathered(own[places])))
    return every[[every.size * rank // team.size for rank in range(1, team.size)]]
