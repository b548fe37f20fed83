"""Attempts at random problems: what was found, and the command that tries the same one again.

A suite, `planted` or `truth`, has in its module `trial` a function `attempt` from a name and a seed
to an `Outcome`, `chosen` names, and `SHARES`, the problems of each name per round of a soak.
"""

import os
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

PATIENCE = 60  # seconds, after which a solve counts as hung
# A solve that waits uses no processor time, so the clock on the wall ends it in the end; on a busy
# machine that clock alone would call a slow solve a hung one.
WALL_PER_CPU = 20


class HungError(Exception):
    """A solve that does not end."""


@contextmanager
def alarm(seconds: int) -> Iterator[None]:
    """Raise HungError after `seconds` of processor time; only in the main thread."""

    def ring(number: int, frame: Any) -> None:
        if number == signal.SIGPROF:
            raise HungError(f"no end after {seconds} s of processor time")
        raise HungError(f"no end after {WALL_PER_CPU * seconds} s on the clock")

    before = {number: signal.signal(number, ring) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, WALL_PER_CPU * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


@dataclass
class Findings:
    """What was said of a problem, and what was found: `wrong` lists false claims, `short` failures.

    `judged` says whether anything was checked. `method` is "" for the default, of which alone
    failures count.
    """

    said: str = "nothing"
    wrong: list[str] = field(default_factory=list)
    short: list[str] = field(default_factory=list)
    judged: bool = False
    solved: bool = False
    method: str = ""
    story: str = ""

    def ask(self, holds: Any, claim: str) -> None:
        if not holds:
            self.wrong.append(claim)


@dataclass(frozen=True)
class Outcome:
    """The findings of one problem, the seconds it took, and the command that reproduces it."""

    findings: Findings
    seconds: float
    command: str

    @property
    def wrong(self) -> list[str]:
        return self.findings.wrong

    @property
    def judged(self) -> bool:
        return self.findings.judged

    @property
    def solved(self) -> bool:
        return self.findings.solved

    def __str__(self) -> str:
        found = self.findings
        lines = [
            f"{found.said} by {found.method or 'default'}, {self.seconds:.2f} s: {found.story}"
        ]
        lines += [f"    WRONG: {text}" for text in found.wrong]
        return "\n".join(lines + [f"    short: {text}" for text in found.short])


def attempted(suite: str, name: str, seed: int, run: Callable[[], Findings]) -> Outcome:
    """Run an attempt; an exception or a warning is wrong, with the place where it was raised."""
    began = time.perf_counter()
    try:
        with alarm(PATIENCE), warnings.catch_warnings():
            warnings.simplefilter("error")
            findings = run()
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "condal" in frame.filename] or frames
        where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
        findings = Findings("raised", [f"{type(error).__name__}: {error} ({where})"])
    command = f"PYTHONPATH=tests .venv/bin/python -m {suite} {name!r} {seed}"
    return Outcome(findings, time.perf_counter() - began, command)


def report(attempt: Callable[[str, int], Outcome], names: Sequence[str], seeds: range) -> None:
    """Print one outcome whole; of several, the wrong ones and the counts."""
    for name in names:
        said: Counter[str] = Counter()
        slowest = (0.0, 0)
        for seed in seeds:
            outcome = attempt(name, seed)
            said[outcome.findings.said] += 1
            slowest = max(slowest, (outcome.seconds, seed))
            if len(seeds) == 1 or outcome.wrong:
                print(f"{name} {seed}: {outcome}", flush=True)
        print(f"{name}: {dict(sorted(said.items()))}, slowest {slowest[0]:.2f} s ({slowest[1]})")


def main(suite: str) -> None:
    """`python -m SUITE NAME SEED [COUNT]`; the module SUITE.trial has `attempt` and `chosen`."""
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # before NumPy is imported
    trial, given = import_module(f"{suite}.trial"), sys.argv[1:]
    usage = f"python -m {suite} NAME SEED [COUNT]"
    if not 1 <= len(given) <= 3:
        sys.exit(usage)
    first, count = (int(word) for word in (given[1:] + ["0", "1"][len(given) - 1 :]))
    try:
        names = trial.chosen(given[0])
    except ValueError as error:
        sys.exit(f"{usage}: {error}")
    report(trial.attempt, names, range(first, first + count))
