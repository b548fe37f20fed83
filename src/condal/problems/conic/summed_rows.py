"""Bounds on traces, and verdicts, that sums of a program's rows prove.

Rows may add up to the trace. A linear program over the rows that use only diagonals may bound it.
"""

from __future__ import annotations

import numpy as np

from condal.linalg.points import Array
from condal.problems.conic.combinations import Combination, combine, traces
from condal.problems.conic.exact import exact_trace, identity_weights
from condal.problems.conic.linear import diagonal_weights
from condal.problems.conic.structure import Shape
from condal.problems.conic.trace_bound import TraceBound, Verdict
from condal.result import Status

MAX_SINGLE_PARTS = 64  # of which each is tried alone
MIN_TRACE, TRACE_OF_ZERO_PARTS = 1e-9, 1e-3  # relative to the largest trace


def by_rows(shape: Shape) -> TraceBound | Verdict | list[Combination]:
    """Return a bound or verdict from the rows as they are; else the combinations found."""
    folded, count = shape.folded, len(shape.maps)
    proofs: list[Combination] = []
    refuted = refuted_by_empty_row(shape)
    if refuted is not None:
        return refuted
    y = identity_weights(folded)
    if y is not None:
        total = exact_trace(folded, y)
        if total is not None and total > 0:
            how = "constraints add up to the trace"
            exact = Combination(y, np.ones(count), float(total))
            traces_ = np.full(count, float(total))
            return TraceBound(traces_, how, exact=count == 1, combinations=(exact,))
        proofs.append(combine(shape, y))
    else:
        _add_diagonal(shape, proofs, tuple(range(count)))
    return _summed(shape, proofs) or proofs


def by_single_parts(shape: Shape, proofs: list[Combination]) -> TraceBound | Verdict | None:
    """Return a bound or verdict from rows that bound the traces of single parts."""
    count = len(shape.maps)
    if not 1 < count <= MAX_SINGLE_PARTS:
        return None
    for part in range(count):
        _add_diagonal(shape, proofs, (part,))
    return _summed(shape, proofs)


def _add_diagonal(shape: Shape, proofs: list[Combination], parts: tuple[int, ...]) -> None:
    """Add what rows that use only diagonals prove about the traces of some parts."""
    weights = diagonal_weights(shape.folded, parts)
    if weights is not None:
        proofs.append(combine(shape, weights))


def _summed(shape: Shape, proofs: list[Combination]) -> TraceBound | Verdict | None:
    """Return the bound or the verdict that sums of rows prove."""
    for proof in proofs:
        if proof.impossible:
            return impossible(proof, "by a sum of rows")
    bound = traces(proofs, len(shape.maps))
    if np.all(np.isfinite(bound)):
        return roomy_bound(bound, proofs, "a sum of constraints bounds it")
    return None


def refuted_by_empty_row(shape: Shape) -> Verdict | None:
    """Return the verdict of a row without entries that requires a nonzero value."""
    empty_row = _empty_row(shape)
    if empty_row is None or not empty_row.impossible:
        return None
    return impossible(empty_row, "by a row without entries")


def _empty_row(shape: Shape) -> Combination | None:
    """Return the combination of a row without entries that requires a nonzero value."""
    entries = sum(np.diff(part.A.indptr) for part in shape.folded.parts)
    # The normal at 0 points from K to 0, so all of K is on its other side.
    asked = shape.K.normal_residual(np.zeros(shape.K.size)) * (entries == 0)
    return combine(shape, asked) if asked.any() else None


def roomy_bound(bounds: Array, proofs: list[Combination], how: str) -> TraceBound:
    """Return the bound, with some room for parts that must be 0.

    A domain needs a positive size; a size far below the others would give multipliers that rounding
    spoils.
    """
    largest = float(bounds.max()) or 1.0
    roomy = np.where(bounds > MIN_TRACE * largest, bounds, TRACE_OF_ZERO_PARTS * largest)
    return TraceBound(roomy, how, combinations=tuple(proofs))


def impossible(proof: Combination, by: str) -> Verdict:
    """Return the verdict of rows whose sum no point attains."""
    how = f"{by}: weighted constraints add up to a value that no point of the cone has, "
    how += "whatever its trace"
    return Verdict(Status.INFEASIBLE, how, y=proof.y)
