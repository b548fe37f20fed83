"""What --storage stands for, and how much memory it takes."""

from __future__ import annotations

import re

from condal.driver.memory import available, estimate, in_all, size
from condal.driver.plan import Plan
from condal.errors import ProblemError
from condal.problem import Problem
from condal.storage import Dense, Factored, Sketch
from condal.types import Spectral, Storage

MUCH = 10**9  # bytes that are worth a word
SPEC = re.compile(r"auto|dense|factored|sketch:[1-9][0-9]{0,8}")


def checked(spec: str) -> str:
    """The specification, if it is one: auto, dense, factored or sketch:R."""
    if SPEC.fullmatch(spec):
        return spec
    raise ProblemError(
        f"--storage must be auto, dense, factored or sketch:R with R at least 1, such as "
        f"sketch:10; got {spec!r}"
    )


def build(spec: str, problem: Problem, noun: str, seed: int) -> Storage | None:
    """The storage of a checked specification; refused if the machine has not the memory.

    None for auto: the solver chooses what the method needs. `noun` is what the n unknowns stand
    for.
    """
    if spec == "auto":
        return None
    if not isinstance(problem.X, Spectral):
        raise ProblemError(
            f"--storage {spec} is for matrices, which are no unknowns here: leave it"
        )
    n = problem.X.n
    kind, _, rank = spec.partition(":")
    wanted, machine = _bytes(kind, n, int(rank or 0)), available()
    if machine is not None and wanted > machine:
        raise ProblemError(
            f"--storage {spec} needs about {size(wanted)} for {n} {noun}, and this machine has "
            f"{size(machine)}: use --storage auto, or sketch:R with a small R"
        )
    if kind == "sketch":
        return Sketch(n, int(rank), seed=seed)
    return Dense() if kind == "dense" else Factored(n)


def told(problem: Problem, plan: Plan, storage: Storage | None) -> str | None:
    """What the process may take in all, and the largest parts of it, where that is much."""
    method, storage = plan.method, plan.first_storage(problem, storage)
    total, parts = in_all(problem, method, storage), estimate(problem, method, storage)
    if total < MUCH:
        return None
    largest = sorted(parts, key=lambda name: -parts[name])[:3]
    shown = ", ".join(f"{name} {size(parts[name])}" for name in largest if parts[name])
    return f"memory: at most {size(total)} in all, with {method.name}; of it {shown}"


def describe(storage: Storage, n: int) -> tuple[str, int]:
    """Its name as --storage takes it, and at most how many bytes it takes."""
    if isinstance(storage, Sketch):
        return f"sketch:{storage.R}", _bytes("sketch", n, storage.R)
    kind = "factored" if isinstance(storage, Factored) else "dense"
    return kind, _bytes(kind, n, 0)


def _bytes(kind: str, n: int, rank: int) -> int:
    if kind == "sketch":
        return Sketch.bytes_for(n, rank)
    return Factored.bytes_for(n) if kind == "factored" else Dense.bytes_for(n)
