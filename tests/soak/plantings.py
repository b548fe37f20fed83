"""Planted problems with exact truth through every door (see `planted`).

A round has as many problems of each door as its share says, and the seed of a soak is its first
round: a later round continues.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from itertools import count, islice
from math import inf
from typing import NamedTuple

from soak.table import Row

PROCESSES = int(os.environ.get("SOAK_PROCESSES") or 2)
COUNT = int(os.environ.get("SOAK_COUNT") or 0)
CHOSEN = os.environ.get("SOAK_DOORS") or "all"
ROUNDS = 5  # per task, so that a task takes about a second


class Task(NamedTuple):
    """Problems of one door with the seeds from `first`."""

    door: str
    first: int
    count: int
    next_round: int


def run(seconds: float, seed: int) -> Iterator[Row]:
    """Yield a row per task, the doors in turn, until the time is over or COUNT is reached.

    A COUNT is reached however long it takes, unless SOAK_SECONDS is given as well.
    """
    unlimited = COUNT and not os.environ.get("SOAK_SECONDS")
    until, tried = inf if unlimited else time.monotonic() + seconds, 0
    tasks, context = _tasks(seed), multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(PROCESSES, context, _begin) as pool:
        waiting = {pool.submit(attempts, task) for task in islice(tasks, 2 * PROCESSES)}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for ended in done:
                row = ended.result()
                tried += row.tried
                yield row
                if time.monotonic() < until and (not COUNT or tried < COUNT):
                    waiting.add(pool.submit(attempts, next(tasks)))


def _begin() -> None:
    """Ignore Ctrl-C: the parent handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _tasks(first: int) -> Iterator[Task]:
    from planted.doors import DOORS, chosen, there

    doors = {name: DOORS[name] for name in chosen(CHOSEN) if there(name)}
    for begin in count(first, ROUNDS):
        for name, door in doors.items():
            yield Task(name, begin * door.share, ROUNDS * door.share, begin + ROUNDS)


def attempts(task: Task) -> Row:
    """Return the counts of a task."""
    from planted.trial import attempt

    outcomes = [attempt(task.door, seed) for seed in range(task.first, task.first + task.count)]
    wrong = [outcome for outcome in outcomes if outcome.wrong]
    right = sum(outcome.right for outcome in outcomes)
    return Row(
        f"planted: {task.door}",
        tried=len(outcomes),
        judged=right + len(wrong),
        solved=right,
        wrong=len(wrong),
        short=len(outcomes) - right - len(wrong),
        seconds=max(outcome.seconds for outcome in outcomes),
        faults=tuple(f"{'; '.join(one.wrong)}\n    {one.command}" for one in wrong),
        resume=task.next_round,
    )
