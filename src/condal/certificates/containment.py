"""Membership in cones, proved of every vector within an error of a given one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

import numpy as np

from condal.certificates.cones import Cone
from condal.certificates.exact import in_second_order, is_psd
from condal.certificates.row_space import ROUND_UP
from condal.linalg.factorisations import dense_cholesky
from condal.linalg.points import Array
from condal.linalg.reductions import has_outlier, without_outlier
from condal.linalg.rounding import UNDERFLOW, UNIT_ROUNDOFF, gamma, norm_above
from condal.linalg.symmetric import Symmetric

MAX_SIDE = 2000  # of a Gram matrix or a psd block: proofs here use dense factorisations
MAX_EXACT_SIDE = 24  # of a psd matrix that is factorised in fractions
MAX_EXACT_LENGTH = 4_000  # of a second-order vector that is squared in fractions
MAX_STACKED_SIDE = 40  # of matrices that are stacked: larger ones gain nothing
MIN_COUNT = 4
STACKED_ROUND_UP = 1 + 1e-12
STACKED_UNDERFLOW = 1e-150  # more than squares that underflow can lose, relative to a matrix


def contains(cone: Cone, v: Array, error: Array) -> bool:
    """Whether every vector within `error` of v, coordinate by coordinate, is in the cone."""
    if cone.kind == "free":
        return True
    if cone.kind == "orthant":
        return bool(np.all(v >= error))
    if cone.kind == "second-order":
        if v[0] - error[0] >= (norm_above(v[1:]) + norm_above(error[1:])) * ROUND_UP + UNDERFLOW:
            return True
        return not error.any() and v.size <= MAX_EXACT_LENGTH and in_second_order(v)
    some = np.flatnonzero(np.abs(cone.matrix(v)).any(axis=1) | cone.matrix(error).any(axis=1))
    if not some.size:
        return True
    full = cone.matrix(v)[np.ix_(some, some)]
    off = norm_above(error) * cone.stretch * ROUND_UP
    # Halving may round each entry.
    rounding = 4 * np.finfo(float).eps * norm_above(full.ravel()) + UNDERFLOW * some.size
    if smallest_eigenvalue(full) >= off + rounding:
        return True
    return off == 0.0 and some.size <= MAX_EXACT_SIDE and cone.exact(v) and is_psd(full)


def smallest_eigenvalue(full: Array) -> float:
    """Return a proved lower bound on the smallest eigenvalue; -inf if it is not positive."""
    if len(full) > MAX_SIDE or not np.isfinite(full).all():
        return -inf
    scale = float(np.abs(full).max())
    if scale == 0.0:
        return 0.0
    power = 2.0 ** np.floor(np.log2(scale))  # an exact scaling: no square under- or overflows
    full, loss = full / power, 0.0
    values = np.asarray(np.linalg.eigvalsh(full), dtype=np.float64)
    if has_outlier(values):
        full, loss = without_outlier(full)
        values = np.asarray(np.linalg.eigvalsh(full), dtype=np.float64)
    estimate = float(values[0])
    if not estimate > loss:
        return -inf
    for share in (0.5, 0.1):
        proof = dense_cholesky(Symmetric(len(full), dense=full), loss + share * (estimate - loss))
        if proof is not None and proof.value > loss:
            return (proof.value - loss) * power * (1 - 1e-15)
    return -inf


def unproved(
    cones: Sequence[Cone], places: Sequence[slice], v: Array, error: Array
) -> Iterator[tuple[Cone, slice]]:
    """Yield the cones for which nothing is proved here: the others contain their part of v.

    They contain every vector within `error` of it, coordinate by coordinate.
    """
    stacks: dict[Cone, list[slice]] = {}
    for cone, place in zip(cones, places, strict=True):
        stacks.setdefault(cone, []).append(place)
    for cone, members in stacks.items():
        if cone.kind == "psd" and 0 < cone.n <= MAX_STACKED_SIDE and len(members) >= MIN_COUNT:
            at = np.array([place.start for place in members])[:, None] + np.arange(cone.length)
            if all_psd(cone, v[at], error[at]):
                continue
        yield from ((cone, place) for place in members)


def all_psd(cone: Cone, v: Array, error: Array) -> bool:
    """Return whether all matrices within `error` of the rows of v are proved to be psd.

    Rump (2006): if Cholesky completes on S, lambda_min(S) >= -g / (1 - g) tr S, g = gamma_{n+1}.
    """
    n, full = cone.n, cone.matrices(v)
    largest = np.abs(full).max(axis=(1, 2))
    if not (np.isfinite(largest).all() and np.isfinite(error).all() and (largest > 0).all()):
        return False
    power = np.ldexp(1.0, np.frexp(largest)[1] - 1)  # an exact scaling: no square overflows
    full /= power[:, None, None]
    off = np.linalg.norm(error / power[:, None], axis=1) + STACKED_UNDERFLOW
    off *= cone.stretch * STACKED_ROUND_UP
    off += 4 * np.finfo(float).eps * np.linalg.norm(full, axis=(1, 2))  # halving may round
    diagonal = full[:, np.arange(n), np.arange(n)]
    share = STACKED_ROUND_UP * gamma(n + 1) / (1 - gamma(n + 1))
    rounding = share * np.abs(diagonal).sum(axis=1) + 4 * UNIT_ROUNDOFF
    tau = 2.0 * (off + rounding)
    full[:, np.arange(n), np.arange(n)] = diagonal - tau[:, None]
    try:
        factors = np.linalg.cholesky(full)
    except np.linalg.LinAlgError:
        return False
    pivots = factors[:, np.arange(n), np.arange(n)]
    shift_error = UNIT_ROUNDOFF * (np.abs(diagonal).max(axis=1) + tau)
    proved = tau - share * np.abs(diagonal).sum(axis=1) - shift_error
    return bool((pivots > 0).all() and (proved >= off * STACKED_ROUND_UP).all())
