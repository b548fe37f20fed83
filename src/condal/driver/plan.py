"""The plan of a solve: the methods to try in turn, of those that fit into memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from condal.driver.memory import Bytes, available, bytes_of, estimate, physical, size
from condal.driver.pieces.guards import unguarded
from condal.errors import ProblemError
from condal.methods.choice import Choice, choices
from condal.problem import Problem
from condal.storage.choice import DEFAULT_MAX_BYTES, LEAST_RANK, automatic
from condal.storage.sketch import Sketch
from condal.storage.whole import matrix_sides
from condal.types import Method, Storage


@dataclass(frozen=True)
class Plan:
    """The methods that a solve tries in turn, and how many bytes x may take."""

    tried: tuple[Choice, ...]
    max_bytes: int

    @property
    def method(self) -> Method:
        """The first method."""
        return self.tried[0].method

    def first_storage(self, problem: Problem, storage: Storage | None) -> Storage | None:
        """Return what the first method stores of x; None for a factor of its own."""
        if storage is not None or self.method.keeps == "factor":
            return storage
        rows = problem.A.size + problem.f.M.size
        return automatic(problem.X, rows, keeps=self.method.keeps, max_bytes=self.max_bytes)


def make_plan(
    problem: Problem,
    method: Method | None,
    storage: Storage | None,
    *,
    tol: float,
    max_memory: Bytes = None,
) -> Plan:
    """Choose the methods by the problem and tol, unless one is given; ProblemError if none fits."""
    if method is None:
        tried = choices(problem, tol=tol, free_storage=storage is None)
    else:
        tried = (Choice(method, "it was asked for"),)
    return require_memory(problem, tried, storage, max_memory)


def require_memory(
    problem: Problem, tried: Sequence[Choice], storage: Storage | None, max_memory: Bytes
) -> Plan:
    """Return the plan of the choices that fit into memory; ProblemError if none does."""
    limit = bytes_of(max_memory)
    machine = available() if max_memory is None else None
    limit = float(machine) if machine is not None else limit
    estimates = [(choice, estimate(problem, choice.method, storage)) for choice in tried]
    fit = [(choice, parts) for choice, parts in estimates if sum(parts.values()) <= limit]
    if not fit:
        choice, parts = min(estimates, key=lambda pair: sum(pair[1].values()))
        listed = ", ".join(f"{name} {size(count)}" for name, count in parts.items() if count)
        raise ProblemError(
            f"this needs {_exactly(sum(parts.values()))} of memory with {choice.method.name} "
            f"({listed}), and {_limited_by(limit, max_memory)} {_exactly(limit)}: "
            + _advice(storage, choice.method, max_memory)
        )
    last = fit[-1][1]
    left = limit - sum(last.values()) + last["x"]
    least = sum(Sketch.bytes_for(n, LEAST_RANK) for n in matrix_sides(unguarded(problem.X)))
    max_bytes = int(min(max(DEFAULT_MAX_BYTES, least), left))
    return Plan(tuple(choice for choice, _ in fit), max_bytes)


def _limited_by(limit: float, max_memory: Bytes) -> str:
    if max_memory is not None:
        return "max_memory is"
    machine = physical()
    limited = machine is not None and limit < machine
    return "the control group of this process allows" if limited else "this machine has"


def _exactly(count: float) -> str:
    """Format bytes in megabytes, so that sizes near each other can be told apart."""
    return f"{count / 1e6:,.2f} MB"


def _advice(storage: Storage | None, method: Method, max_memory: Bytes) -> str:
    if storage is not None:
        return "leave storage= out, or give a smaller one, such as condal.storage.Sketch(n, 10)"
    if method.keeps == "factor":
        return "leave method= out, or give condal.CGAL()"
    return "raise max_memory" if max_memory is not None else "use a larger machine"
