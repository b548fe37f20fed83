"""The figures of a machine from which the cost of an iteration is computed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from condal.distributed.team import Team

ROW_NUMBERS = 36  # that an iteration reads per row: the basis and the matrix
CACHED_NUMBERS = 2**14  # of vectors that fit in a cache, to measure flops
SHORT_BYTES, LONG_BYTES = 8, 2**22  # of messages that measure latency and bandwidth
REPEATS = 5


@dataclass(frozen=True)
class Machine:
    """The speed of one rank while all ranks work.

    Parameters
    ----------
    memory : float
        Bytes per second through memory, in order.
    gather : float
        Seconds to read a number at a random place of a vector.
    flops : float
        Floating-point operations per second on data in the cache.
    latency : float
        Seconds per message of no length.
    network : float
        Bytes of messages per second.
    """

    memory: float
    gather: float
    flops: float
    latency: float
    network: float

    @classmethod
    def measured(cls, team: Team, *, rows: int) -> Machine:
        """Measure these ranks, all at the same time, with vectors of `rows` rows per rank.

        Data that fits in a cache is faster. Messages are exchanged between pairs of ranks. A single
        rank sends none: its messages cost as much as its memory traffic.
        """
        rng = np.random.default_rng(team.rank)
        a, b, c = (np.ones(max(rows, CACHED_NUMBERS) * ROW_NUMBERS // 3) for _ in range(3))
        v, taken = np.ones(rows), np.empty(4 * rows)
        places = rng.integers(0, rows, 4 * rows)
        short = np.ones(CACHED_NUMBERS)

        def multiply() -> None:
            for _ in range(64):
                short @ short

        add = _best(team, lambda: np.add(a, b, out=c))
        take = _best(team, lambda: np.take(v, places, out=taken, mode="clip"))
        dot = _best(team, multiply)
        memory = 32 * a.size / add  # c is also read before it is written
        gather = max(take / places.size - 24 / memory, 0.0)  # without `places` and `taken`
        latency = _best(team, lambda: _exchange(team, SHORT_BYTES), times=100) / 2
        long = _best(team, lambda: _exchange(team, LONG_BYTES)) / 2
        alone, memory = team.size == 1, team.sum(memory) / team.size
        return cls(
            memory=memory,
            gather=team.sum(gather) / team.size,
            flops=team.sum(64 * 2 * CACHED_NUMBERS / dot) / team.size,
            latency=0.0 if alone else team.largest(latency),
            network=memory if alone else LONG_BYTES / team.largest(max(long - latency, 1e-9)),
        )


def _best(team: Team, work: Callable[[], Any], *, times: int = REPEATS) -> float:
    """Return the least time of `work` while all ranks do it."""
    least = inf
    for _ in range(times):
        team.comm.Barrier()
        began = time.perf_counter()
        work()
        least = min(least, time.perf_counter() - began)
    return least


def _exchange(team: Team, size: int) -> None:
    """Send `size` bytes there and back between ranks 0 and 1, 2 and 3, ..."""
    other = team.rank ^ 1
    if other >= team.size:
        return
    message = np.zeros(size, dtype=np.uint8)
    for turn in (0, 1):
        if team.rank % 2 == turn:
            team.comm.Send(message, dest=other)
        else:
            team.comm.Recv(message, source=other)
