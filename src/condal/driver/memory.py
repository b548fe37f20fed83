"""How much memory a solve and its data take, and how much there is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import tee

import numpy as np

from condal.domains.wrapped import unguarded
from condal.errors import ProblemError
from condal.linalg.factorisations import MAX_FACTOR_BYTES, dense_factor_bytes
from condal.linalg.gradients import Gradient
from condal.linalg.lanczos import basis_bytes
from condal.linalg.symmetric import Symmetric
from condal.methods.choice import Choice, choices
from condal.problem import Problem
from condal.runtime.limits import Bytes, available, bytes_of, physical, size
from condal.storage.choice import (
    DEFAULT_MAX_BYTES,
    LEAST_RANK,
    automatic,
    require_fit,
    storage_bytes,
)
from condal.storage.sketch import Sketch
from condal.storage.whole import FLOAT_BYTES
from condal.types import Method, Storage, matrix_sides

IMAGE_VECTORS = 6  # of the length of Ax and of Mx, at the worst moment,
TANGENT_VECTORS = 2  # and of Mx, if f is not linear: the one before, and that of the best bound
PROOF_VECTORS = 8  # of length n, of a proof that factors nothing,
PROOF_COPIES = 4  # and copies of the sparse matrix, while it is reordered
ENTRY_BYTES = 12  # of a stored entry: a number and its place
PYTHON_BYTES = 100 * 10**6  # of Python itself, NumPy and SciPy
DATA_COPIES = 2  # of the data before a solve: the user's, and the problem's


def estimate(problem: Problem, method: Method, storage: Storage | None = None) -> dict[str, int]:
    """Return at most how many bytes a solve takes at its worst moment, by parts. Where no storage
    is given, x is stored as sparingly as possible."""
    return {**_method_bytes(problem, method, storage), **_problem_bytes(problem)}


def _method_bytes(problem: Problem, method: Method, storage: Storage | None) -> dict[str, int]:
    """Return the bytes of x and of what a method holds beside it."""
    own = getattr(method, "bytes", None)
    carries_x = storage is None and method.keeps == "factor"
    return {
        "x": 0 if carries_x else storage_bytes(unguarded(problem.X), storage),
        "method": 0 if own is None else int(own(problem)),
    }


def _problem_bytes(problem: Problem) -> dict[str, int]:
    """Return the bytes that any method takes for its oracle, images and proofs."""
    (stored, dense), sides = _entries(problem), matrix_sides(unguarded(problem.X))
    images = IMAGE_VECTORS * FLOAT_BYTES * (problem.A.size + problem.f.M.size)
    images += TANGENT_VECTORS * FLOAT_BYTES * problem.f.M.size if problem.f.L > 0 else 0
    factors = [need for need in map(dense_factor_bytes, sides) if need <= MAX_FACTOR_BYTES]
    vectors = [PROOF_VECTORS * FLOAT_BYTES * n for n in sides]
    return {
        "scaled data": FLOAT_BYTES * (stored + dense),
        "images and duals": images,
        "oracle": max(map(basis_bytes, sides), default=0),  # of a Lanczos run
        "proof": max((*factors, *vectors), default=0) + PROOF_COPIES * ENTRY_BYTES * stored,
    }


def in_all(problem: Problem, method: Method, storage: Storage | None = None) -> int:
    """Return at most how many bytes the process takes: Python, the data and the solve."""
    parts = {**estimate(problem, method, storage), **_process_bytes(problem)}
    return sum(parts.values())


def _process_bytes(problem: Problem) -> dict[str, int]:
    """Return the bytes outside the solve: the user's data, and Python itself."""
    stored, dense = _entries(problem)
    data = ENTRY_BYTES * stored + FLOAT_BYTES * dense
    return {"data": DATA_COPIES * data, "Python": PYTHON_BYTES}


def _entries(problem: Problem) -> tuple[int, int]:
    """Return the numbers of entries in the sparse matrices of the gradients, and in the dense ones
    of the objective.

    The dense ones of the adjoint of A are images, which are counted by themselves.
    """
    maps = (problem.f.M, problem.A)
    with np.errstate(invalid="ignore"):  # of numbers that have overflowed, which solve refuses
        of_f, of_A = (list(_symmetric_parts(M.adjoint(np.zeros(M.size)))) for M in maps)
    stored = sum(int(part.nnz) for V in (*of_f, *of_A) for part in V.sparse)
    return stored, sum(V.n**2 for V in of_f if V.has_dense)


def _symmetric_parts(v: Gradient | None) -> Iterator[Symmetric]:
    for part in v if isinstance(v, tuple) else (v,):
        if isinstance(part, tuple):
            yield from _symmetric_parts(part)
        elif isinstance(part, Symmetric):
            yield part


class LazyChoices:
    """Choices that are made when they are first reached: a solve seldom needs the second."""

    def __init__(self, choices: Iterable[Choice]) -> None:
        self._choices = iter(choices)

    def __iter__(self) -> Iterator[Choice]:
        self._choices, again = tee(self._choices)
        return again


def storage_for(
    problem: Problem, method: Method, *, max_bytes: int | None, seed: int = 0
) -> Storage:
    """Return the storage that suits a method and the size of x."""
    X, rows = unguarded(problem.X), problem.A.size + problem.f.M.size
    storage = automatic(X, rows, keeps=method.keeps, seed=seed, max_bytes=max_bytes)
    require_fit(storage, X)
    return storage


@dataclass(frozen=True)
class Plan:
    """The methods that a solve tries in turn, how many bytes x may take, and who chose them."""

    tried: Iterable[Choice]
    max_bytes: int
    by_user: bool = False

    @property
    def method(self) -> Method:
        """The first method."""
        return next(iter(self.tried)).method

    def first_storage(self, problem: Problem, storage: Storage | None) -> Storage | None:
        """Return what the first method stores of x; None for a factor of its own."""
        if storage is not None or self.method.keeps == "factor":
            return storage
        return storage_for(problem, self.method, max_bytes=self.max_bytes)


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
        tried = iter([Choice(method, "it was asked for")])
    asked = method is not None
    return require_memory(problem, LazyChoices(tried), storage, max_memory, by_user=asked)


def require_memory(
    problem: Problem,
    tried: Iterable[Choice],
    storage: Storage | None,
    max_memory: Bytes,
    *,
    by_user: bool = False,
) -> Plan:
    """Return the plan of the choices that fit into memory; ProblemError if none does."""
    limit = bytes_of(max_memory)
    machine = available() if max_memory is None else None
    limit = float(machine) if machine is not None else limit
    shared = sum({**_problem_bytes(problem), **_process_bytes(problem)}.values())

    def needed(choice: Choice) -> int:
        return shared + sum(_method_bytes(problem, choice.method, storage).values())

    fit = LazyChoices(choice for choice in tried if needed(choice) <= limit)
    if next(iter(fit), None) is None:
        choice = min(tried, key=needed)
        parts = {**estimate(problem, choice.method, storage), **_process_bytes(problem)}
        listed = ", ".join(f"{name} {size(count)}" for name, count in parts.items() if count)
        raise ProblemError(
            f"this needs {_exactly(needed(choice))} of memory with {choice.method.name} "
            f"({listed}), and {_limited_by(limit, max_memory)} {_exactly(limit)}: "
            + _advice(storage, choice.method if by_user else None, max_memory)
        )
    # A method that holds more than x carries x itself, and needs none of this.
    least = sum(Sketch.bytes_for(n, LEAST_RANK) for n in matrix_sides(unguarded(problem.X)))
    return Plan(fit, int(min(max(DEFAULT_MAX_BYTES, least), limit - shared)), by_user)


def _limited_by(limit: float, max_memory: Bytes) -> str:
    if max_memory is not None:
        return "max_memory is"
    machine = physical()
    limited = machine is not None and limit < machine
    return "the control group of this process allows" if limited else "this machine has"


def _exactly(count: float) -> str:
    """Format bytes in megabytes, so that sizes near each other can be told apart."""
    return f"{count / 1e6:,.2f} MB"


def _advice(storage: Storage | None, method: Method | None, max_memory: Bytes) -> str:
    if storage is not None:
        return "leave storage= out, or give a smaller one, such as condal.storage.Sketch(n, 10)"
    if method is not None and method.keeps == "factor":
        return "leave method= out, or give condal.CGAL()"
    return "raise max_memory" if max_memory is not None else "use a larger machine"
