"""How much memory a solve takes beside its data, and how much there is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from decimal import Decimal
from math import inf
from pathlib import Path
from typing import TypeAlias

import numpy as np

from condal.driver.pieces.guards import unguarded
from condal.errors import ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.limits import MAX_FACTOR_BYTES, basis_bytes, dense_factor_bytes
from condal.linalg.symmetric import Symmetric
from condal.problem import Problem
from condal.storage.blocks import storage_bytes
from condal.storage.whole import FLOAT_BYTES, matrix_sides
from condal.types import Domain, Method, Storage

Bytes: TypeAlias = int | float | str | None

IMAGE_VECTORS = 6  # of the length of Ax and of Mx, at the worst moment,
TANGENT_VECTORS = 2  # and of Mx, if f is not linear: the one before, and that of the best bound
PROOF_VECTORS = 8  # of length n, of a proof that factors nothing,
PROOF_COPIES = 4  # and copies of the sparse matrix, while it is reordered
ENTRY_BYTES = 12  # of a stored entry: a number and its place
PYTHON_BYTES = 100 * 10**6  # of Python itself, NumPy and SciPy
DATA_COPIES = 2  # of the data before a solve: the user's, and the problem's
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNITS |= {f"{unit}I": 1024**power for power, unit in enumerate("KMGT", 1)}
_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?I?)B?\s*")


def bytes_of(size: Bytes, name: str = "max_memory") -> float:
    """Return the bytes of a number or a text such as "4 GB" or "512 MiB"; inf for None."""
    if size is None:
        return inf
    match = _SIZE.fullmatch(size.upper()) if isinstance(size, str) else None
    if match is not None and match[2] in UNITS:
        size = float(match[1]) * UNITS[match[2]]
    if isinstance(size, bool | str) or not isinstance(size, int | float) or not 0 < size < inf:
        raise ProblemError(
            f"{name} must be a number of bytes, or a text such as '4 GB' or '512 MiB'; got {size!r}"
        )
    return float(size)


def size(count: float) -> str:
    """Format a number of bytes to two digits, in the unit that fits."""
    value, units = Decimal(f"{count:.1e}"), ["bytes", "kB", "MB", "GB", "TB", "PB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value.normalize():f} {units[0]}"


def physical() -> int | None:
    """Return the memory of the machine in bytes; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def available(root: Path = Path("/")) -> int | None:
    """Return the bytes that this process may use: the memory of the machine, or the limit of the
    process's control group (cgroup v1 or v2) where that is less."""
    machine = physical()
    limits = [*([] if machine is None else [machine]), *_cgroup_limits(root)]
    return min(limits, default=None)


def _cgroup_limits(root: Path) -> Iterator[int]:
    """Yield the limits of the control groups of this process and of those above them.

    A container may see its own group at the top of the tree, whatever /proc says of its path.
    """
    mount = root / "sys/fs/cgroup"
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        _, _, controllers_and_path = line.partition(":")
        controllers, _, path = controllers_and_path.partition(":")
        if not controllers:
            top, name = mount, "memory.max"
        elif "memory" in controllers.split(","):
            top, name = mount / "memory", "memory.limit_in_bytes"
        else:
            continue
        group = Path(path.strip().lstrip("/"))
        for level in {Path(), group, *group.parents}:
            try:
                text = (top / level / name).read_text(encoding="ascii").strip()
            except (OSError, ValueError):
                continue
            if text.isdecimal():  # no limit is "max"
                yield int(text)


def estimate(problem: Problem, method: Method, storage: Storage | None = None) -> dict[str, int]:
    """Return at most how many bytes a solve takes at its worst moment, by parts. Where no storage
    is given, x is stored as sparingly as possible."""
    X, stored = unguarded(problem.X), _stored_entries(problem)
    images = IMAGE_VECTORS * FLOAT_BYTES * (problem.A.size + problem.f.M.size)
    images += TANGENT_VECTORS * FLOAT_BYTES * problem.f.M.size if problem.f.L > 0 else 0
    of_x = 0 if storage is None and method.keeps == "factor" else storage_bytes(X, storage)
    own = getattr(method, "bytes", None)
    return {
        "x": of_x,
        "scaled data": FLOAT_BYTES * stored,
        "images and duals": images,
        "oracle": _oracle_bytes(X),
        "method": 0 if own is None else int(own(problem)),
        "proof": _proof_bytes(X) + PROOF_COPIES * ENTRY_BYTES * stored,
    }


def in_all(problem: Problem, method: Method, storage: Storage | None = None) -> int:
    """Return at most how many bytes the process takes: Python, the data and the solve."""
    data = DATA_COPIES * ENTRY_BYTES * _stored_entries(problem)
    return PYTHON_BYTES + data + sum(estimate(problem, method, storage).values())


def _stored_entries(problem: Problem) -> int:
    """Return the number of entries in the sparse matrices of the gradients."""
    maps = (problem.f.M, problem.A)
    with np.errstate(invalid="ignore"):  # of numbers that have overflowed, which solve refuses
        return sum(_entries(M.adjoint(np.zeros(M.size))) for M in maps)


def _entries(v: Gradient | None) -> int:
    if isinstance(v, tuple):
        return sum(_entries(part) for part in v)
    return sum(int(part.nnz) for part in v.sparse) if isinstance(v, Symmetric) else 0


def _oracle_bytes(X: Domain) -> int:
    """Return the bytes of the basis of a Lanczos run."""
    return max(map(basis_bytes, matrix_sides(X)), default=0)


def _proof_bytes(X: Domain) -> int:
    sides = matrix_sides(X)
    dense = [need for need in map(dense_factor_bytes, sides) if need <= MAX_FACTOR_BYTES]
    return max((*dense, *(PROOF_VECTORS * FLOAT_BYTES * n for n in sides)), default=0)
