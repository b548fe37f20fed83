"""A semidefinite program with sparse rows, in one process and on ranks."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sharded import own, own_rows

import condal
import condal_mpi
from condal.linalg.points import LowRank
from condal.maps import Inner

N, P, TRACE = 40, 12, 10.0


def data(count: int = P) -> tuple[Any, dict[str, Any]]:
    """Return C and the entries of matrices, some given several times and on any side."""
    rng = np.random.default_rng(3)
    owner = np.arange(6 * count) % count
    rows, cols = rng.integers(0, N, (2, owner.size))
    half = sp.random(N, N, 0.1, random_state=1)
    entries = {"owner": owner, "rows": rows, "cols": cols, "values": rng.standard_normal(6 * count)}
    return sp.csr_array(half + half.T), entries


def inner(entries: dict[str, Any], count: int = P) -> Inner:
    return Inner.from_triplets(N, **entries, size=count)


def dealt(team: Any, entries: dict[str, Any]) -> dict[str, Any]:
    """Deal the entries to the ranks, whichever rows they own."""
    return {name: array[team.rank :: team.size] for name, array in entries.items()}


def program(team: Any, C: Any, entries: dict[str, Any], **numbers: Any) -> condal.Problem:
    """Return the program of these ranks; arrays among the numbers are those of all constraints."""
    options = {"trace": TRACE} | {
        name: own(team, value) if isinstance(value, np.ndarray) else value
        for name, value in numbers.items()
    }
    return condal_mpi.sparse_program(
        own_rows(team, C), **dealt(team, entries), **options, team=team
    )


def bounds(A: Inner) -> tuple[Any, Any]:
    """Return bounds around the image of a multiple of I: equations, ranges and one-sided ones."""
    b = A(LowRank(np.eye(N), np.full(N, TRACE / N)))
    width = 0.05 * (np.arange(A.size) % 3)
    low = np.where(np.arange(A.size) % 4 == 1, -np.inf, b - width)
    return low, np.where(np.arange(A.size) % 4 == 2, np.inf, b + width)


def boxed(team: Any) -> condal.Problem:
    C, entries = data()
    low, high = bounds(inner(entries))
    return program(team, C, entries, low=low, high=high)


def whole_boxed() -> condal.Problem:
    """Return the same in one process."""
    C, entries = data()
    A = inner(entries)
    X, K = condal.Spectrahedron(N, TRACE), condal.Box(*bounds(A))
    return condal.Problem.of(condal.Linear(C), X, A, K)
