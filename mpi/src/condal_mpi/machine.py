"""The figures of a machine from which the cost of a solve is computed.

They are measured by the kernels of a solve, at the size and of the kind of the problem: products of
a rank's rows with a vector and with a block of vectors, passes over a Krylov basis, sums over the
ranks, and the exchange of halos. All ranks work at the same time, and each kernel is repeated for
some tenths of a second: what they lose to each other, or to other processes on their cores, is in
the figures.
"""

from __future__ import annotations

import mmap
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log2, nan
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.sparse import gathered_product, gathers
from condal.methods.projection.relaxation import BlocksByPrecision
from condal_mpi.sharded_array import ShardedArray
from condal_mpi.team import Team

CALL_NUMBERS = 16  # of a vector whose operations take no time but Python's
BASIS = 24  # vectors of the basis whose passes are measured
COLUMNS, BLOCK_BYTES = 64, 2**28  # of the block, at most
CACHED_NUMBERS = 2**14  # of vectors that fit in a cache, to measure flops
SHORT_BYTES, LONG_BYTES = 8, 2**22  # of messages that measure latency and bandwidth
MIN_SECONDS, MIN_REPEATS = 0.3, 3  # of each kernel
WAIT_SECONDS = 1.0  # of kernels in which ranks wait for each other: such waits come in bursts
NUMBER, INDEX = 8, 4  # bytes


@dataclass(frozen=True)
class Machine:
    """The speed of one rank while all ranks work.

    Parameters
    ----------
    memory : float
        Bytes per second through memory, in passes over a basis.
    gather : float
        Seconds per entry of a sparse product with a vector, beyond the bytes of its arrays.
    flops : float
        Floating-point operations per second on data in the cache.
    latency : float
        Seconds per message of no length in a sum over the ranks, after a short product: the wait
        for the slowest rank is part of it.
    network : float
        Bytes of messages per second.
    block, single : float
        Seconds per entry and column of a sparse product with a block of vectors, in double
        precision, and in single precision as sweeps multiply; NaN if they were not measured.
    fresh : float
        Seconds per byte of memory that is written for the first time.
    call : float
        Seconds per operation of Python on an array, however short.
    imbalance : float
        Seconds that a rank waits for the slowest, per second of work between messages.
    """

    memory: float
    gather: float
    flops: float
    latency: float
    network: float
    block: float = nan
    single: float = nan
    fresh: float = 0.0
    call: float = 0.0
    imbalance: float = 0.0

    @classmethod
    def measured(
        cls,
        team: Team,
        *,
        rows: int,
        degree: float = 4.0,
        halo: int | None = None,
        local: bool = False,
    ) -> Machine:
        """Measure these ranks, all at the same time.

        Parameters
        ----------
        team : Team
            The ranks.
        rows : int
            The rows of the problem per rank: data that fits in a cache is faster.
        degree : float
            The entries per row beside the diagonal.
        halo : int, optional
            The numbers of other ranks that a product needs; by default as many as the rows, and
            none on a single rank.
        local : bool
            Whether the columns of a row are near each other, as in a grid, or anywhere.
        """
        alone = team.size == 1
        halo = (0 if alone else rows) if halo is None else halo
        A = _rows(team.rank, rows, rows + halo, degree, local)
        v = np.ones(A.shape[1])
        basis, w, u = np.ones((BASIS, rows)), np.ones(rows), np.ones(rows)
        columns = max(1, min(COLUMNS, BLOCK_BYTES // (NUMBER * A.shape[1])))
        X, A32 = np.ones((A.shape[1], columns)), A.astype(np.float32)
        X32: Any = X.astype(np.float32)
        short = np.ones(CACHED_NUMBERS)

        def orthogonalise() -> None:
            np.subtract(w, (basis @ w) @ basis, out=u)

        def multiply() -> None:
            for _ in range(64):
                short @ short

        every = BlocksByPrecision(A32, [slice(0, rows)])[np.float32]
        blocks, kept = every[0], threading.local()

        def pull() -> None:
            for some in blocks:
                some.pull(X32, kept)

        passes = _mean(team, orthogonalise)
        memory = NUMBER * (2 * BASIS + 5) * rows / passes
        product = _mean(team, lambda: A @ v)
        moved = (NUMBER + INDEX) * A.nnz + (3 * NUMBER + INDEX) * rows
        gather = max(product - moved / memory, 0.0) / max(A.nnz - rows, 1)

        def multiply_block() -> None:
            gathered_product(A, X) if gathers(A, X) else A @ X

        block, single = _mean(team, multiply_block), _mean(team, pull)
        flops = 64 * 2 * CACHED_NUMBERS / _mean(team, multiply)
        each = columns * A.nnz
        fresh = _mean(team, lambda: _fill_new(BASIS * NUMBER * rows)) / (BASIS * NUMBER * rows)
        few = ShardedArray(np.ones(CALL_NUMBERS), team)
        call = _mean(team, lambda: few + few)
        numbers = np.array([memory, gather, flops, block / each, single / each, fresh, call, block])
        *figures, work = (team.sums(numbers) / team.size).tolist()
        memory, gather, flops, block, single, fresh, call = figures
        if alone:
            return cls(memory, gather, flops, 0.0, memory, block, single, fresh, call)

        def step() -> None:
            A @ v
            team.sum(1.0)

        # After some work, as in a solve: a sum also waits for the slowest rank.
        waiting = team.largest(_mean(team, step, WAIT_SECONDS)) - team.sum(product) / team.size
        latency = max(waiting, team.largest(_mean(team, lambda: team.sum(1.0))))

        def long_step() -> None:
            multiply_block()
            team.sum(1.0)

        # Between messages that are further apart, the ranks drift further apart.
        behind = team.largest(_mean(team, long_step, WAIT_SECONDS)) - work - latency
        latency /= ceil(log2(team.size))
        long = team.largest(_mean(team, lambda: _exchange(team, LONG_BYTES)))
        network = LONG_BYTES / max(long - latency, 1e-9)
        imbalance = max(behind, 0.0) / work
        return cls(memory, gather, flops, latency, network, block, single, fresh, call, imbalance)


def _rows(seed: int, rows: int, columns: int, degree: float, local: bool) -> Any:
    """Return rows of a sparse matrix with a diagonal and `degree` more entries per row: as many in
    each if they are near, and otherwise as in a random graph, whose rows differ in length."""
    rng = np.random.default_rng(seed)
    row = np.repeat(np.arange(rows), ceil(degree))
    if local:
        near = rng.integers(1, max(2, int(rows**0.5)), row.size)
        column = np.clip(row + np.where(rng.random(row.size) < 0.5, -near, near), 0, columns - 1)
    else:
        row, column = (rng.integers(0, size, row.size) for size in (rows, columns))
    kept = rng.random(row.size) < degree / ceil(degree) if degree else np.zeros(0, bool)
    i, j = (np.concatenate([np.arange(rows), index[kept]]) for index in (row, column))
    return sp.csr_array((np.ones(i.size), (i, j)), shape=(rows, columns))


def _mean(team: Team, work: Callable[[], Any], seconds: float = MIN_SECONDS) -> float:
    """Return the mean time of `work`, which all ranks do equally often at the same time."""
    team.comm.Barrier()
    began = time.perf_counter()
    work()
    first = team.largest(time.perf_counter() - began)
    repeats = max(MIN_REPEATS, ceil(seconds / max(first, 1e-7)))
    team.comm.Barrier()
    began = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - began) / repeats


def _fill_new(size: int) -> None:
    """Write to new memory of the system: an array may get what another has left."""
    with mmap.mmap(-1, size) as memory:
        numbers = np.frombuffer(memory, np.uint8)
        numbers.fill(1)
        del numbers  # before the memory is returned


def _exchange(team: Team, size: int) -> None:
    """Send `size` bytes to and receive as many from the other rank of each pair."""
    other = team.rank ^ 1
    if other >= team.size:
        return
    message = np.zeros(size, dtype=np.uint8)
    team.comm.Sendrecv(message, other, recvbuf=np.empty_like(message), source=other)
