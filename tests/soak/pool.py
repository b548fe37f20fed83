"""Random problems, tried in several processes: the suites `planted` and `truth`.

A round has as many problems of each name as its share says, and the seed of a soak is its first
round: a later round continues.
"""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from importlib import import_module
from itertools import count, islice
from math import inf
from typing import NamedTuple

from soak.table import Row

PROCESSES = int(os.environ.get("SOAK_PROCESSES") or 2)
COUNT = int(os.environ.get("SOAK_COUNT") or 0)
DOORS = os.environ.get("SOAK_DOORS") or "all"
ROUNDS = 5  # per task, so that a task takes about a second


class Task(NamedTuple):
    """Problems of one name with the seeds from `first`."""

    suite: str
    name: str
    first: int
    count: int
    next_round: int


def run(suite: str, seconds: float, seed: int) -> Iterator[Row]:
    """Yield a row per task, the names in turn."""
    goes_on, tried = going_on(seconds), 0
    remaining, context = tasks(suite, seed), multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(PROCESSES, context, _begin) as pool:
        waiting = {pool.submit(attempts, task) for task in islice(remaining, 2 * PROCESSES)}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for ended in done:
                row = ended.result()
                tried += row.tried
                yield row
                if goes_on(tried):
                    waiting.add(pool.submit(attempts, next(remaining)))


def going_on(seconds: float) -> Callable[[int], bool]:
    """Return whether to go on after so many problems: until the time is over or COUNT is reached.

    A COUNT is reached however long it takes, unless SOAK_SECONDS is given as well.
    """
    unlimited = COUNT and not os.environ.get("SOAK_SECONDS")
    until = inf if unlimited else time.monotonic() + seconds
    return lambda tried: time.monotonic() < until and (not COUNT or tried < COUNT)


def _begin() -> None:
    """Ignore Ctrl-C: the parent handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def tasks(suite: str, first: int) -> Iterator[Task]:
    trial = import_module(f"{suite}.trial")
    names = trial.chosen(DOORS if suite == "planted" else "all")
    names = [name for name in names if name in trial.SHARES]
    for begin in count(first, ROUNDS):
        for name in names:
            share = trial.SHARES[name]
            yield Task(suite, name, begin * share, ROUNDS * share, begin + ROUNDS)


def attempts(task: Task) -> Row:
    """Return the counts of a task."""
    attempt = import_module(f"{task.suite}.trial").attempt
    outcomes = [attempt(task.name, seed) for seed in range(task.first, task.first + task.count)]
    wrong = [outcome for outcome in outcomes if outcome.wrong]
    return Row(
        f"{task.suite}: {task.name}",
        tried=len(outcomes),
        judged=sum(outcome.judged for outcome in outcomes),
        solved=sum(outcome.solved for outcome in outcomes),
        wrong=len(wrong),
        short=sum(bool(outcome.findings.short) for outcome in outcomes),
        seconds=max(outcome.seconds for outcome in outcomes),
        faults=tuple(f"{'; '.join(one.wrong)}\n    {one.command}" for one in wrong),
        resume=task.next_round,
    )
