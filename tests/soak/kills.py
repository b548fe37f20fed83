"""Kill solves by SIGKILL at random moments while they write a checkpoint after each iteration.

Each can resume, and its answer is bit-identical to that of an uninterrupted solve. One process
imports everything and forks, so a trial takes only as long as its solve.
"""

import hashlib
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import condal
from condal import methods, storage
from condal.problems import max_cut, theta
from known import random_graph
from soak.table import Row

FEWEST = 200  # kills in total, however long it takes
MOST = 4  # kills per solve


@dataclass(frozen=True)
class Victim:
    """A problem, its method and its storage."""

    model: Callable[[], Any]
    options: Callable[[], dict[str, Any]]


def graph() -> Any:
    return max_cut(random_graph(60, 5))


VICTIMS = {
    "cgal": Victim(graph, lambda: {"method": condal.CGAL(), "tol": 5e-2}),
    "sketch": Victim(
        graph,
        lambda: {"method": condal.CGAL(), "tol": 5e-2, "storage": storage.Sketch(60, 20, seed=1)},
    ),
    "corrective": Victim(graph, lambda: {"method": methods.corrective(), "tol": 1e-2}),
    "lowrank": Victim(graph, lambda: {"method": methods.LowRankCGAL(), "tol": 1e-8}),
    "splitting": Victim(graph, lambda: {"method": methods.Splitting(), "tol": 1e-3}),
    "primal-dual": Victim(graph, lambda: {"method": methods.PrimalDual(), "tol": 1e-3}),
    "interior-point": Victim(graph, lambda: {"method": methods.InteriorPoint(), "tol": 1e-8}),
    "auto": Victim(lambda: theta(random_graph(20, 5)), lambda: {"tol": 1e-6}),
}


def run(seconds: float, seed: int) -> Iterator[Row]:
    """Yield a row per trial, the victims in turn, for `seconds` and at least FEWEST kills."""
    until, kills, i = time.monotonic() + seconds, 0, 0
    while kills < FEWEST or time.monotonic() < until:
        name = list(VICTIMS)[i % len(VICTIMS)]
        row = trial(name, seed + i)
        kills, i = kills + row.tried, i + 1
        yield row


def trial(name: str, seed: int) -> Row:
    """Kill one solve a few times; report how often, and whether its answer is right."""
    rng, began = np.random.default_rng([seed, list(VICTIMS).index(name)]), time.monotonic()
    wanted, takes = _whole(name)
    kills, found = 0, ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.checkpoint"
        for _ in range(int(rng.integers(1, MOST + 1))):
            kills += not _ended(name, path, after=float(rng.uniform(0, 1.1 * takes)))[0]
        done, found = _ended(name, path)
        left = sorted(one.name for one in Path(folder).iterdir())
    tidy = set(left) <= {"run.checkpoint", "run.checkpoint.previous"}
    right = done and tidy and found == wanted
    claim = f"it ended with {found!r}, not {wanted!r}, and left {left}"
    command = f"PYTHONPATH=tests python -m soak.kills {name} {seed}"
    faults = () if right else (f"{claim}\n    {command}",)
    seconds = time.monotonic() - began
    return Row(f"kills: {name}", kills, kills, kills * right, not right, 0, seconds, faults)


@cache
def _whole(name: str) -> tuple[str, float]:
    """Return the answer of an uninterrupted solve, and its time with a checkpoint per iteration."""
    victim = VICTIMS[name]
    wanted = _answer(condal.solve(victim.model(), seed=0, **victim.options()))
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        _ended(name, Path(folder) / "run.checkpoint")
    return wanted, time.monotonic() - began


def _ended(name: str, path: Path, after: float | None = None) -> tuple[bool, str]:
    """Run a solve in its own process and kill it `after` that many seconds; return whether it
    finished, and its answer."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reader)
            os.write(writer, _gone_on(name, path).encode())
            code = 0
        except BaseException as error:
            os.write(writer, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(code)
    os.close(writer)
    if after is not None:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reader) as pipe:
        found = pipe.read()
    _, status = os.waitpid(child, 0)
    return os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0, found


def _gone_on(name: str, path: Path) -> str:
    """Start the solve, or resume from the checkpoint if there is one."""
    victim = VICTIMS[name]
    model, previous = victim.model(), path.with_name(path.name + ".previous")
    if path.exists() or previous.exists():
        return _answer(condal.resume(path, model, seed=0, every_seconds=0))
    options = {**victim.options(), "checkpoint": path, "seed": 0}
    return _answer(condal.solve(model, every_seconds=0, **options))


def _answer(result: condal.Result) -> str:
    """Return a short digest of a result without its times."""
    digest = hashlib.sha256()
    columns = [name for name in result.history.columns if name != "seconds"]
    x = result.x if isinstance(result.x, np.ndarray) else (result.x.U, result.x.weights)
    for array in (*x, result.y, *(result.history[name] for name in columns)):
        digest.update(np.ascontiguousarray(array).tobytes())
    proved = result.certificate
    said = f"{result.status.name} {proved.objective!r} {proved.bound!r} {proved.infeasibility!r}"
    return f"{said} {digest.hexdigest()[:16]}"


if __name__ == "__main__":
    print(trial(sys.argv[1], int(sys.argv[2])))
