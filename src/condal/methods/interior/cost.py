"""The cost of a step of an interior-point method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.methods.choice import (
    INTERIOR_CALLS,
    INTERIOR_FACTOR,
    INTERIOR_PRODUCT,
    INTERIOR_WRITE,
)
from condal.methods.interior.schur_stack import schur_nanoseconds
from condal.methods.interior.standard import Sized
from condal.runtime.meter import spend

READ = 2e-8  # seconds per entry of A, all reads together
STACK_CALLS = 4e-4  # seconds per stack of equal blocks
MAX_ENGINE_SECONDS = 2.0  # of a step of an engine, before methods with cheaper steps are tried


def step_seconds(A: Any, parts: Sequence[Sized]) -> float:
    """Estimate the seconds of a step: the Schur complement and its factor, and the matrices."""
    matrices = sum(part.kind == "psd" for part in parts)
    return arithmetic_seconds(A, parts) + INTERIOR_CALLS * (1 + matrices)


def stacked_step_seconds(A: Any, parts: Sequence[Sized]) -> float:
    """Estimate the seconds of a step in which equal matrices are one stack."""
    stacks = len({part.n for part in parts if part.kind == "psd"})
    return arithmetic_seconds(A, parts) + STACK_CALLS * (2 + stacks)


def arithmetic_seconds(A: Any, parts: Sequence[Sized]) -> float:
    """Estimate the seconds of the arithmetic of a step, without its calls."""
    rows, columns, end = A.shape[0] + len(parts), sp.csc_array(A), 0
    total = INTERIOR_FACTOR * rows**3 + INTERIOR_WRITE * rows**2 + READ * A.nnz
    for part in parts:
        spend(0.0)
        begin, end = end, end + part.length
        if part.kind == "psd":
            counts = np.bincount(columns.indices[columns.indptr[begin] : columns.indptr[end]])
            schur = 1e-9 * schur_nanoseconds(counts[counts > 0], part.n)
            total += INTERIOR_PRODUCT * part.n**3 + schur
    return float(total)
