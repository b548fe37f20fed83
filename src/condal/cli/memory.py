"""--storage: what it stands for, and how much memory it takes."""

from __future__ import annotations

import re

from condal.driver.memory import Plan, estimate, in_all
from condal.errors import ProblemError
from condal.problem import Problem
from condal.runtime.memory import available, size
from condal.storage.sketch import Sketch
from condal.storage.whole import Dense, Factored
from condal.types import Spectral, Storage

MIN_BYTES_TO_MENTION = 10**9
STORAGE = re.compile(r"auto|dense|factored|sketch:[1-9][0-9]{0,8}")


def check_storage(spec: str) -> str:
    """Return the specification if it is auto, dense, factored or sketch:R."""
    if STORAGE.fullmatch(spec):
        return spec
    raise ProblemError(
        f"--storage must be auto, dense, factored or sketch:R with R at least 1, such as "
        f"sketch:10; got {spec!r}"
    )


def build_storage(spec: str, problem: Problem, noun: str, seed: int) -> Storage | None:
    """Return the storage of a checked specification; None for auto, where the solver chooses.

    Raise ProblemError if it needs more memory than the machine has. `noun` names what the n
    unknowns stand for.
    """
    if spec == "auto":
        return None
    if not isinstance(problem.X, Spectral):
        raise ProblemError(
            f"--storage {spec} is for problems whose unknown is a matrix: leave it out here"
        )
    n = problem.X.n
    kind, _, rank = spec.partition(":")
    needed, machine = _bytes(kind, n, int(rank or 0)), available()
    if machine is not None and needed > machine:
        raise ProblemError(
            f"--storage {spec} needs about {size(needed)} for {n} {noun}, and this machine has "
            f"{size(machine)}: use --storage auto, or sketch:R with a small R"
        )
    if kind == "sketch":
        return Sketch(n, int(rank), seed=seed)
    return Dense() if kind == "dense" else Factored(n)


def memory_note(problem: Problem, plan: Plan, storage: Storage | None) -> str | None:
    """Return the estimated memory of the process and its largest parts; None if it is small."""
    method, storage = plan.method, plan.first_storage(problem, storage)
    total, parts = in_all(problem, method, storage), estimate(problem, method, storage)
    if total < MIN_BYTES_TO_MENTION:
        return None
    largest = sorted(parts, key=lambda name: -parts[name])[:3]
    listed = ", ".join(f"{name} {size(parts[name])}" for name in largest if parts[name])
    return f"memory: at most {size(total)} in total with {method.name}, including {listed}"


def describe(storage: Storage, n: int) -> tuple[str, int]:
    """Return the name of a storage as --storage takes it, and an upper bound on its bytes."""
    if isinstance(storage, Sketch):
        return f"sketch:{storage.R}", _bytes("sketch", n, storage.R)
    kind = "factored" if isinstance(storage, Factored) else "dense"
    return kind, _bytes(kind, n, 0)


def _bytes(kind: str, n: int, rank: int) -> int:
    if kind == "sketch":
        return Sketch.bytes_for(n, rank)
    return Factored.bytes_for(n) if kind == "factored" else Dense.bytes_for(n)
