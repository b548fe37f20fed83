"""The cost of a step of an interior-point method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from condal.methods.interior.schur_stack import schur_nanoseconds

FACTOR = 0.025  # ns: a third of a multiplication and an addition
WRITE = 8.0  # ns per entry of the Schur complement, all operations together
READ = 20.0  # ns per entry of A, all reads together
PRODUCT = 1.2  # ns: about 30 products, factors and spectra of the size of x
CALLS = 2e6  # ns per block, whatever its size
STACK_CALLS = 4e5  # ns per stack of equal blocks
MAX_STEP_SECONDS = 1.0  # of a step of the default method
MAX_ENGINE_SECONDS = 2.0  # of a step of an engine, before methods with cheaper steps are tried


class Sized(Protocol):
    """A block of x: its kind, its side, and the number of its entries in x."""

    @property
    def kind(self) -> str:
        """The kind."""

    @property
    def n(self) -> int:
        """The side of a matrix."""

    @property
    def length(self) -> int:
        """The number of entries."""


def step_seconds(A: Any, parts: Sequence[Sized]) -> float:
    """Estimate the seconds of a step: the Schur complement and its factor, and the matrices."""
    matrices = sum(part.kind == "psd" for part in parts)
    return arithmetic_seconds(A, parts) + 1e-9 * CALLS * (1 + matrices)


def stacked_step_seconds(A: Any, parts: Sequence[Sized]) -> float:
    """Estimate the seconds of a step in which equal matrices are one stack."""
    stacks = len({part.n for part in parts if part.kind == "psd"})
    return arithmetic_seconds(A, parts) + 1e-9 * STACK_CALLS * (2 + stacks)


def arithmetic_seconds(A: Any, parts: Sequence[Sized]) -> float:
    """Estimate the seconds of the arithmetic of a step, without its calls."""
    rows, columns = A.shape[0] + len(parts), sp.csc_array(A)
    total = FACTOR * rows**3 + WRITE * rows**2 + READ * A.nnz
    end = 0
    for part in parts:
        begin, end = end, end + part.length
        if part.kind == "psd":
            owner = columns.indices[columns.indptr[begin] : columns.indptr[end]]
            counts = np.bincount(owner)
            total += PRODUCT * part.n**3 + schur_nanoseconds(counts[counts > 0], part.n)
    return 1e-9 * float(total)


def least_step_seconds(n: int, rows: int) -> float:
    """Return what a step takes at least for one n x n matrix, without the entries of A."""
    return 1e-9 * (FACTOR * float(rows) ** 3 + WRITE * float(rows) ** 2 + PRODUCT * float(n) ** 3)
