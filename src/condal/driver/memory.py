"""How much memory a solve takes beside its data, part by part and in all, and what there is."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from decimal import Decimal
from math import inf
from typing import TypeAlias

import numpy as np

from condal.driver.pieces.guards import unguarded
from condal.errors import ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.limits import MAX_FACTOR_BYTES, basis_bytes, dense_factor_bytes
from condal.linalg.symmetric import Symmetric
from condal.methods.choice import Choice, choices
from condal.problem import Problem
from condal.storage import Blocks, Dense, Factored, Sketch, TwoSidedSketch
from condal.storage.choice import DEFAULT_MAX_BYTES, LEAST_RANK
from condal.types import Domain, Method, Spectral, Storage

Bytes: TypeAlias = int | float | str | None

NUMBER = 8  # bytes
IMAGES = 6  # vectors of the length of Ax and of Mx, at the worst moment,
TANGENTS = 2  # and of Mx, if f is not linear: that before, and that of the best bound
VECTORS = 8  # of the length n, of a proof that factors nothing,
GATHERED = 4  # and copies of the sparse matrix, while it is brought in order
ENTRY = 12  # bytes of a stored entry: a number and where it stands
PYTHON = 100 * 10**6  # bytes of Python itself, NumPy and SciPy
OWN = 2  # copies of the data that there are before a solve: what was given, and the problem's
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNITS |= {f"{unit}I": 1024**power for power, unit in enumerate("KMGT", 1)}
_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?I?)B?\s*")


def bytes_of(size: Bytes, name: str = "max_memory") -> float:
    """A number of bytes, or a text such as "4 GB" or "512 MiB"; inf for None."""
    if size is None:
        return inf
    found = _SIZE.fullmatch(size.upper()) if isinstance(size, str) else None
    if found is not None and found[2] in UNITS:
        size = float(found[1]) * UNITS[found[2]]
    if isinstance(size, bool | str) or not isinstance(size, int | float) or not 0 < size < inf:
        raise ProblemError(
            f"{name} must be a number of bytes, or a text such as '4 GB' or '512 MiB'; got {size!r}"
        )
    return float(size)


def physical() -> int | None:
    """The memory of the machine, where the system tells."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def estimate(problem: Problem, method: Method, storage: Storage | None = None) -> dict[str, int]:
    """At most how many bytes a solve takes at its worst moment, by parts; x as sparingly as can be,
    where no storage is given."""
    X, stored = unguarded(problem.X), _stored(problem)
    images = IMAGES * NUMBER * (problem.A.size + problem.f.M.size)
    images += TANGENTS * NUMBER * problem.f.M.size if problem.f.L > 0 else 0
    kept = 0 if storage is None and method.keeps == "factor" else _of_x(X, storage)
    own = getattr(method, "bytes", None)
    return {
        "x": kept,
        "scaled data": NUMBER * stored,
        "images and duals": images,
        "oracle": _of_oracle(X),
        "method": 0 if own is None else int(own(problem)),
        "proof": _of_proof(X) + GATHERED * ENTRY * stored,
    }


def in_all(problem: Problem, method: Method, storage: Storage | None = None) -> int:
    """At most how many bytes the process takes at its worst moment: Python, the data, the solve."""
    data = OWN * ENTRY * _stored(problem)
    return PYTHON + data + sum(estimate(problem, method, storage).values())


def fitting(
    problem: Problem,
    method: Method | None,
    storage: Storage | None,
    *,
    tol: float,
    max_memory: Bytes = None,
) -> tuple[tuple[Choice, ...], int]:
    """The methods that a solve tries, of those that fit, and what there is for x; ProblemError if
    none does."""
    if method is None:
        tried = choices(problem, tol=tol, free_storage=storage is None)
    else:
        tried = (Choice(method, "it was asked for"),)
    return require_memory(problem, tried, storage, max_memory)


def require_memory(
    problem: Problem, tried: Sequence[Choice], storage: Storage | None, max_memory: Bytes
) -> tuple[tuple[Choice, ...], int]:
    """The choices that fit, and what there is for x; ProblemError if none does."""
    limit = bytes_of(max_memory)
    machine = physical() if max_memory is None else None
    limit = float(machine) if machine is not None else limit
    found = [(choice, estimate(problem, choice.method, storage)) for choice in tried]
    fit = [(choice, parts) for choice, parts in found if sum(parts.values()) <= limit]
    if not fit:
        choice, parts = min(found, key=lambda pair: sum(pair[1].values()))
        raise ProblemError(
            f"this needs {_exactly(sum(parts.values()))} of memory with {choice.method.name} "
            f"({_told(parts)}), and {_limit(limit, max_memory)}: "
            + _advice(storage, choice.method, max_memory)
        )
    last = fit[-1][1]
    left = limit - sum(last.values()) + last["x"]
    least = sum(sketch_bytes(n, LEAST_RANK) for n in _sides(unguarded(problem.X)))
    return tuple(choice for choice, _ in fit), int(min(max(DEFAULT_MAX_BYTES, least), left))


def size(count: float) -> str:
    """A number of bytes to two digits, in the unit that fits."""
    value, units = Decimal(f"{count:.1e}"), ["bytes", "kB", "MB", "GB", "TB", "PB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value.normalize():f} {units[0]}"


def dense_bytes(n: int) -> int:
    """Of an n x n array: x, its copy for the caller, and that copy repaired."""
    return 3 * NUMBER * n * n


def factored_bytes(n: int) -> int:
    """Of 2n columns, and twice their size to compress them."""
    return 3 * NUMBER * n * 2 * n


def sketch_bytes(n: int, R: int) -> int:
    """Of S, Omega, and what a point of them takes to make."""
    return 8 * NUMBER * n * min(R, n)


def _told(parts: dict[str, int]) -> str:
    return ", ".join(f"{name} {size(count)}" for name, count in parts.items() if count)


def _limit(limit: float, max_memory: Bytes) -> str:
    return f"{'this machine has' if max_memory is None else 'max_memory is'} {_exactly(limit)}"


def _exactly(count: float) -> str:
    """In megabytes, so that two sizes that are near each other can be told apart."""
    return f"{count / 1e6:,.2f} MB"


def _advice(storage: Storage | None, method: Method, max_memory: Bytes) -> str:
    if storage is not None:
        return "leave storage= out, or give a smaller one, such as condal.storage.Sketch(n, 10)"
    if method.keeps == "factor":
        return "leave method= out, or give condal.CGAL()"
    return "raise max_memory" if max_memory is not None else "use a larger machine"


def _of_x(X: Domain, storage: Storage | None) -> int:
    """What a storage takes with a point made of it; the least that one of X can take, for None."""
    if isinstance(storage, Sketch):
        return sketch_bytes(storage.n, storage.R)
    if isinstance(storage, TwoSidedSketch):
        return 2 * sketch_bytes(storage.n, storage.R)
    if isinstance(storage, Factored):
        return factored_bytes(storage.n)
    if isinstance(storage, Blocks):
        pairs = zip(getattr(X, "parts", ()), storage.parts, strict=True)
        return sum(_of_x(part, kept) for part, kept in pairs)
    if isinstance(storage, Dense):
        return sum(map(dense_bytes, _sides(X)))
    return sum(sketch_bytes(n, 1) for n in _sides(X))


def _stored(problem: Problem) -> int:
    """How many entries of sparse matrices the gradients have."""
    maps = (problem.f.M, problem.A)
    with np.errstate(invalid="ignore"):  # of numbers that have overflowed, which solve refuses
        return sum(_entries(M.adjoint(np.zeros(M.size))) for M in maps)


def _entries(v: Gradient | None) -> int:
    if isinstance(v, tuple):
        return sum(_entries(part) for part in v)
    return sum(int(part.nnz) for part in v.sparse) if isinstance(v, Symmetric) else 0


def _of_oracle(X: Domain) -> int:
    return max(map(basis_bytes, _sides(X)), default=0)


def _of_proof(X: Domain) -> int:
    sides = _sides(X)
    dense = [need for need in map(dense_factor_bytes, sides) if need <= MAX_FACTOR_BYTES]
    return max((*dense, *(VECTORS * NUMBER * n for n in sides)), default=0)


def _sides(X: Domain) -> list[int]:
    """Those of the matrices among the parts of X."""
    parts = getattr(X, "parts", None)
    if parts is not None:
        return [n for part in parts for n in _sides(part)]
    return [X.n] if isinstance(X, Spectral) else []
