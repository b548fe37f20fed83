"""Thousands of small problems of every family against other solvers (see `truth`)."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from itertools import count, islice
from typing import Any

from soak.table import Row

PROCESSES = int(os.environ.get("SOAK_PROCESSES", "2"))


def run(seconds: float, seed: int) -> Iterator[Row]:
    """Yield a row per problem, the families in turn, seed after seed."""
    until = time.monotonic() + seconds
    tasks, context = _tasks(seed), multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(PROCESSES, context, _begin) as pool:
        waiting = {pool.submit(_row, task) for task in islice(tasks, 2 * PROCESSES)}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for ended in done:
                yield ended.result()
                if time.monotonic() < until:
                    waiting.add(pool.submit(_row, next(tasks)))


def _begin() -> None:
    """Ignore Ctrl-C: the parent handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _tasks(first: int) -> Iterator[tuple[str, int]]:
    from truth.trial import ATTEMPTS

    return ((family, seed) for seed in count(first) for family in ATTEMPTS)


def _row(task: tuple[str, int]) -> Row:
    from truth.trial import attempt

    found: Any = attempt(*task)
    claim = "; ".join(found.wrong)
    return Row(
        f"truth: {found.family}",
        tried=1,
        judged=int(found.judged),
        solved=int(found.solved),
        wrong=int(bool(found.wrong)),
        short=int(bool(found.short)),
        seconds=found.seconds,
        faults=(f"{claim}\n    {found.command}",) if found.wrong else (),
    )
