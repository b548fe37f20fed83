"""The figures of a machine that the cost of an iteration is reckoned with."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from condal.distributed.team import Team

WORKING = 36  # numbers that an iteration goes over for each row: the basis and the matrix
CACHED = 2**14  # numbers, to be multiplied where nothing but flops count
WORD, LONG = 8, 2**22  # bytes of a message that is all latency, and of one that is none
TIMES = 5


@dataclass(frozen=True)
class Machine:
    """Of one rank, while all of them work.

    Parameters
    ----------
    memory : bytes through memory a second, in order.
    gather : seconds for a number that stands anywhere in a vector.
    flops : a second, where memory is no hindrance.
    latency : seconds of a message of no length.
    network : bytes of messages a second.
    """

    memory: float
    gather: float
    flops: float
    latency: float
    network: float

    @classmethod
    def measured(cls, team: Team, *, rows: int) -> Machine:
        """On these ranks, all at the same time, with vectors of so many rows a rank: what fits in a
        cache is faster. Messages go between pairs; one rank alone sends none: they cost what its
        memory does."""
        rng = np.random.default_rng(team.rank)
        a, b, c = (np.ones(max(rows, CACHED) * WORKING // 3) for _ in range(3))
        v, found = np.ones(rows), np.empty(4 * rows)
        places = rng.integers(0, rows, 4 * rows)
        short = np.ones(CACHED)

        def multiply() -> None:
            for _ in range(64):
                short @ short

        add = _best(team, lambda: np.add(a, b, out=c))
        take = _best(team, lambda: np.take(v, places, out=found, mode="clip"))
        dot = _best(team, multiply)
        memory = 32 * a.size / add  # c is read, too, before it is written
        gather = max(take / places.size - 24 / memory, 0.0)  # beside the places and what is found
        latency = _best(team, lambda: _exchange(team, WORD), times=100) / 2
        long = _best(team, lambda: _exchange(team, LONG)) / 2
        alone, memory = team.size == 1, team.sum(memory) / team.size
        return cls(
            memory=memory,
            gather=team.sum(gather) / team.size,
            flops=team.sum(64 * 2 * CACHED / dot) / team.size,
            latency=0.0 if alone else team.largest(latency),
            network=memory if alone else LONG / team.largest(max(long - latency, 1e-9)),
        )


def _best(team: Team, work: Callable[[], Any], *, times: int = TIMES) -> float:
    """The least time of it, all ranks at it."""
    least = inf
    for _ in range(times):
        team.comm.Barrier()
        began = time.perf_counter()
        work()
        least = min(least, time.perf_counter() - began)
    return least


def _exchange(team: Team, size: int) -> None:
    """There and back, between ranks 0 and 1, 2 and 3, ..."""
    other = team.rank ^ 1
    if other >= team.size:
        return
    ball = np.zeros(size, dtype=np.uint8)
    for turn in (0, 1):
        if team.rank % 2 == turn:
            team.comm.Send(ball, dest=other)
        else:
            team.comm.Recv(ball, source=other)
