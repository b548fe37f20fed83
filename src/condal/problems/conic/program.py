"""Conic programs: the standard form that files and modelling languages are brought to."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.linalg.sparse import stored_rows
from condal.runtime.arguments import finite_array, require_whole

LARGEST = 1e150  # of which the square is a number
ASYMMETRY = 1e-12  # of the largest entry: rounding


@dataclass(frozen=True)
class Block:
    """A cone: psd n x n matrices, vectors u >= 0 of length n, or |(u_2, ..., u_n)| <= u_1."""

    kind: Literal["psd", "orthant", "second-order"]
    n: int

    def __post_init__(self) -> None:
        if self.kind not in ("psd", "orthant", "second-order"):
            raise ProblemError(f"a block is 'psd', 'orthant' or 'second-order'; got {self.kind!r}")
        require_whole(self.n, "n of a block")

    @property
    def length(self) -> int:
        """How many numbers it takes: n^2, both triangles of a matrix row by row, or n."""
        return self.n**2 if self.kind == "psd" else self.n


@dataclass(frozen=True, eq=False)
class Program:
    """minimise <c, x> + offset subject to Ax = b, x = (x_1, x_2, ...), x_j in the cone blocks[j].

    x is one long vector: a psd block gives its n^2 entries, row by row, the others their n. The
    psd parts of c and of the rows of A are symmetric. `maximise` says that the objective is to be
    maximised instead.

    Parameters
    ----------
    c : the objective, of length sum of block.length; sparse (one row) or an array.
    A : a sparse matrix of a row for each constraint.
    b : the right-hand sides.
    blocks : the cones.
    """

    c: Any = field(repr=False)
    A: Any = field(repr=False)
    b: Array = field(repr=False)
    blocks: tuple[Block, ...]
    offset: float = 0.0
    maximise: bool = False
    name: str = "conic program"

    def __post_init__(self) -> None:
        blocks = tuple(self.blocks)
        if not blocks:
            raise ProblemError("a conic program needs at least one block, such as Block('psd', n)")
        A, c = _canonical(self.A, "A"), _canonical(self.c, "c")
        b = finite_array(self.b, "b", ndim=1).copy()
        length = sum(block.length for block in blocks)
        if A.shape != (b.size, length) or c.shape != (1, length):
            raise ProblemError(
                f"the blocks take {length} numbers and b has {b.size}: wanted A of {b.size} x "
                f"{length} and c of 1 x {length}; got {A.shape} and {c.shape}"
            )
        _require_sizes(A, c, b)
        A, c = (_symmetric(part, name, blocks) for part, name in ((A, "a row of A"), (c, "c")))
        for name, value in (("c", c), ("A", A), ("b", b), ("blocks", blocks)):
            object.__setattr__(self, name, value)

    @cached_property
    def offsets(self) -> Any:
        """Where each block begins in x, and the length of x last."""
        return np.concatenate([[0], np.cumsum([block.length for block in self.blocks])])

    def place(self, j: int) -> slice:
        """Where block j stands in x."""
        return slice(int(self.offsets[j]), int(self.offsets[j + 1]))

    def owners(self, places: Indices) -> Indices:
        """The block that each of these places in x is in."""
        return np.searchsorted(self.offsets, places, side="right") - 1


def trace_of(block: Block) -> Array:
    """The vector of the trace: the diagonal, the sum, or the first entry."""
    if block.kind == "psd":
        return np.eye(block.n).ravel()
    return np.ones(block.n) if block.kind == "orthant" else np.eye(1, block.n).ravel()


def _canonical(part: Any, name: str) -> Any:
    """In CSR and memory of our own, entries that are given twice added up."""
    if sp.issparse(part):
        return stored_rows(part, name)
    full = np.atleast_2d(finite_array(part, name))
    if full.ndim > 2:
        raise ProblemError(f"{name} must have a row for each constraint; got {full.shape}")
    return sp.csr_array(full)


def _require_sizes(A: Any, c: Any, b: Array) -> None:
    """Refuse numbers whose squares are none."""
    largest = max(float(np.abs(part).max(initial=0.0)) for part in (A.data, c.data, b))
    if largest > LARGEST:
        raise ProblemError(
            f"c, A and b have numbers of up to {largest:.3g}; scale them below {LARGEST:g}"
        )
    rows = abs(A).max(axis=1).toarray().ravel() if A.nnz else np.zeros(0)
    small = np.flatnonzero((rows > 0) & (rows < 1 / LARGEST))
    if small.size:
        raise ProblemError(
            f"row {small[0]} of A has no number above {rows[small[0]]:.3g}; scale it, and its b"
        )


def _symmetric(part: Any, name: str, blocks: tuple[Block, ...]) -> Any:
    """The rows as they are, their psd parts symmetric but for rounding, which is taken out."""
    begins = np.cumsum([0, *(block.length for block in blocks)])
    owner = np.searchsorted(begins, part.indices, side="right") - 1
    sides = np.array([block.n if block.kind == "psd" else 0 for block in blocks])[owner]
    row, col = np.divmod(part.indices - begins[owner], np.maximum(sides, 1))
    columns = np.where(sides > 0, begins[owner] + col * sides + row, part.indices)
    mirrored = sp.csr_array((part.data, columns, part.indptr), part.shape, copy=True)
    mirrored.sort_indices()
    if np.array_equal(mirrored.indices, part.indices) and np.array_equal(mirrored.data, part.data):
        return part
    missed = abs(part - mirrored).max(axis=1).toarray().ravel()
    k = int(np.argmax(missed))
    if missed[k] > ASYMMETRY * abs(part).max():
        raise ProblemError(
            f"the psd parts of c and A must be symmetric, both triangles of them given: {name} "
            f"({k}) misses that by {missed[k]:.3g}; give (M + M') / 2 for a part M"
        )
    return sp.csr_array(0.5 * (part + mirrored))
