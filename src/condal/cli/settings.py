"""The settings of a solve on the command line: limits, storage, ranks, the method's parameters."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from io import StringIO
from typing import Any

import click

from condal.driver.memory import Plan, estimate, in_all
from condal.driver.run_record import Stop
from condal.errors import ProblemError
from condal.methods import registry
from condal.problem import Problem
from condal.runtime.extras import MPI, part
from condal.runtime.limits import available, bytes_of, size
from condal.storage.sketch import Sketch
from condal.storage.whole import Dense, Factored
from condal.types import Method, Spectral, Storage

SETTINGS = ("tol", "method", "max_iters", "max_seconds", "storage", "seed")
PARAMETERS = ("lam0", "D_Y", "eps", "rho", "normalise")  # of the method
MIN_BYTES_TO_MENTION = 10**9
STORAGE = re.compile(r"auto|dense|factored|sketch:[1-9][0-9]{0,8}")
# Environment variables with the number of processes and the rank: Open MPI, MPICH and others.
WORLD = (("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"), ("PMI_SIZE", "PMI_RANK"))


def settings_of(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a solve, and the parameters of its method that are given."""
    given = {name: chosen[name] for name in PARAMETERS if chosen.get(name) is not None}
    return {**{name: chosen[name] for name in SETTINGS}, **given}


def method_in(settings: Mapping[str, Any]) -> Method | None:
    """Build the method of the settings, None for auto; UsageError for a parameter of another."""
    name = settings["method"]
    given = {each: settings[each] for each in PARAMETERS if each in settings}
    method = None if name == registry.AUTOMATIC else registry.METHODS[name]
    for each in given:
        if method is None or each not in method.options:
            owners = [other for other, named in registry.METHODS.items() if each in named.options]
            advice = f"add --method {owners[0]}"
            if method is not None:
                taken = ", ".join(map(_option, method.options)) or "none"
                advice = f"--method {name} takes {taken}"
            text = f"{_option(each)} is a parameter of {', '.join(owners)}; {advice}"
            raise click.UsageError(text)
    return None if method is None else method(**given)


def _option(parameter: str) -> str:
    return f"--{parameter.replace('_', '-')}"


def check_settings(settings: Mapping[str, Any], max_memory: str | None) -> None:
    """Refuse bad limits and parameters before the file is read."""
    Stop(settings["tol"], settings["max_iters"], settings["max_seconds"])
    method_in(settings)
    bytes_of(max_memory, "--max-memory")
    check_storage(settings["storage"])


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


def engine() -> Any:
    """Return what runs a command on ranks: `condal_mpi.commands.ranks`."""
    return part("parts", "ranks", package=MPI, what="a solve on several ranks")


def refuse_crowd(advice: str) -> None:
    """Raise ProblemError if mpirun started several processes, which would all do the same work.

    Only the first process prints the error.
    """
    for number, rank in WORLD:
        count = os.environ.get(number, "")
        if count.isdecimal() and int(count) > 1:
            if os.environ.get(rank, "0") != "0":
                sys.stdout = sys.stderr = StringIO()
            raise ProblemError(f"mpirun or the like started condal {count} times: {advice}")


def refusing_together(distributed: bool) -> AbstractContextManager[None]:
    """Return a context in which all ranks refuse if one does."""
    together: AbstractContextManager[None] = (
        engine().refusing_together() if distributed else nullcontext()
    )
    return together
