"""Many equal psd blocks, proved psd together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from condal.certificates.cones import Cone
from condal.linalg.points import Array
from condal.linalg.rounding import UNIT_ROUNDOFF, gamma

MAX_SIDE = 40  # of matrices that are stacked: larger ones gain nothing
MIN_COUNT = 4
ROUND_UP = 1 + 1e-12
UNDERFLOW = 1e-150  # more than squares that underflow can lose, relative to a matrix


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
        if cone.kind == "psd" and 0 < cone.n <= MAX_SIDE and len(members) >= MIN_COUNT:
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
    off = np.linalg.norm(error / power[:, None], axis=1) + UNDERFLOW
    off *= cone.stretch * ROUND_UP
    off += 4 * np.finfo(float).eps * np.linalg.norm(full, axis=(1, 2))  # halving may round
    diagonal = full[:, np.arange(n), np.arange(n)]
    share = ROUND_UP * gamma(n + 1) / (1 - gamma(n + 1))
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
    return bool((pivots > 0).all() and (proved >= off * ROUND_UP).all())
