"""Vectors that a proof may succeed with: near a proposed one, on the rows, inside the cones.

Nothing here is trusted: `conic` proves what it can about each vector.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, product
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from condal.certificates.cones import Cone, ConicForm
from condal.certificates.conic import proved_upper_bound
from condal.certificates.faces import exact_value
from condal.certificates.inner import inner_value
from condal.certificates.row_space import residual
from condal.linalg.points import Array
from condal.linalg.rounding import stable_norm
from condal.linalg.sparse import diagonal_matrix
from condal.runtime.limits import current_limit

SNAPS = (0.0, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3)  # relative to v: less counts as 0
SIMPLE, SIMPLE_UNITS = 1e-4, (1.0, 0.25, 2.0**-6)  # how near simple numbers must be, and of what
MAX_SIMPLE = 200  # entries of a vector that is tried as simple numbers
LARGE = 100_000  # entries of A above which fewer vectors are tried
LARGE_SNAPS = (1e-12, 1e-9, 1e-6)
SHIFTS = tuple(4.0**k for k in range(-24, 0))  # towards a point inside the cones
MAX_DENSE_ROWS = 150  # of a least-squares problem that is solved by singular values
CORRECTIONS = 3


@np.errstate(invalid="ignore", over="ignore")  # what is not finite proves nothing
def proved_value(
    form: ConicForm,
    v: Array,
    inner: Callable[[], Array | None] = lambda: None,
    enough: float = -inf,
) -> tuple[float, Array]:
    """Return the least objective that is proved near v, and the vector that proves it.

    `inner` returns a point inside the cones that satisfies the rows; it is called if nothing else
    is `enough`. When the time is up, no more vectors are tried.
    """
    best = inner_value(form, v)
    if best[0] <= enough:
        return best
    for w in chain(_on_rows(form, v), _simple(form, v), _towards(form, v, inner)):
        value = proved_upper_bound(form, w)
        best = min(best, (value, w), key=lambda pair: pair[0])
        if best[0] <= enough or current_limit().is_over():
            return best
    return min(best, exact_value(form, v, enough), key=lambda pair: pair[0])


def _on_rows(form: ConicForm, v: Array) -> Iterator[Array]:
    """Yield vectors near v on the rows, with more and more of the small entries 0."""
    yield v
    for eps in LARGE_SNAPS if form.A.nnz > LARGE else SNAPS:
        w = _snapped(form, v, eps)
        for _ in range(2):
            w = _snapped(form, corrected(form, w), eps)
        yield corrected(form, w)


def _simple(form: ConicForm, v: Array) -> Iterator[Array]:
    """Yield vectors near v whose second-order blocks are simple, and may be on the boundary."""
    blocks = [
        p for cone, p in zip(form.cones, form.places, strict=True) if cone.kind == "second-order"
    ]
    inside = np.concatenate([np.zeros(0), *(v[place] for place in blocks)])
    largest = float(np.abs(inside).max(initial=0.0))
    if form.c.size > MAX_SIMPLE or largest == 0.0 or not np.isfinite(v).all():
        return
    scales = [1.0]
    if not form.b.any():  # any multiple of v will do
        scales = [k / np.abs(inside[np.abs(inside) > SIMPLE * largest]).min() for k in range(1, 13)]
    for scale, unit in product(scales, SIMPLE_UNITS):
        w = scale * v
        for place in blocks:
            w[place] = np.round(w[place] / unit) * unit
        if np.abs(w - scale * v).max() <= SIMPLE * scale * largest:
            yield corrected(form, _snapped(form, w, SIMPLE, lift=False), fixed=True)


def _towards(form: ConicForm, v: Array, inner: Callable[[], Array | None]) -> Iterator[Array]:
    """Yield vectors from v towards a point inside the cones, the nearest first."""
    inside = inner()
    if inside is None:
        return
    face = np.where(inside == 0.0, 0.0, 1.0)
    for cone, place in zip(form.cones, form.places, strict=True):
        if cone.kind in ("free", "second-order"):
            face[place] = 1.0
        elif cone.kind == "psd":
            some = cone.matrix(inside[place]).any(axis=1)
            face[place] = cone.coordinates(np.outer(some, some))
    on_rows = corrected(form, v * face)
    first = next((k for k, t in enumerate(SHIFTS) if _clears(form, on_rows, inside, t)), None)
    for t in () if first is None else SHIFTS[first : first + 6]:
        yield corrected(form, on_rows + t * (inside - on_rows))


def _clears(form: ConicForm, v: Array, inside: Array, t: float) -> bool:
    """Whether v + t (inside - v) seems to be in the cones."""
    w = v + t * (inside - v)
    for cone, place in zip(form.cones, form.places, strict=True):
        if cone.kind == "orthant" and (w[place] < 0).any():
            return False
        if cone.kind == "second-order" and w[place][0] < stable_norm(w[place][1:]):
            return False
        if cone.kind == "psd":
            full = cone.matrix(w[place])
            some = full.any(axis=1)
            if some.any() and np.linalg.eigvalsh(full[np.ix_(some, some)])[0] <= 0:
                return False
    return True


def corrected(form: ConicForm, v: Array, *, fixed: bool = False) -> Array:
    """Return v moved onto Av = b by least squares; entries that are 0 stay 0 unless free.

    With `fixed`, second-order blocks stay as they are.
    """
    weight = np.zeros(v.size)
    largest = float(np.abs(v).max(initial=0.0)) or 1.0
    for cone, place in zip(form.cones, form.places, strict=True):
        if cone.kind == "free":
            weight[place] = largest
        elif cone.kind == "orthant":
            weight[place] = np.maximum(v[place], 0.0)
        elif cone.kind == "psd":
            some = cone.matrix(v[place]).any(axis=1)
            weight[place] = stable_norm(v[place]) * cone.coordinates(np.outer(some, some))
        elif not fixed:
            weight[place] = stable_norm(v[place])
    scaled = sp.csr_array(form.A * weight[None, :])
    if not (np.isfinite(v).all() and np.isfinite(scaled.data).all()):
        return v
    solve = _least_squares(scaled)
    for _ in range(CORRECTIONS):
        r, _ = residual(form.b, form.A, v)
        moved = v + weight * solve(r)
        if not r.any() or not np.isfinite(moved).all():
            break
        v = moved
    return v


def _least_squares(M: Any) -> Callable[[Array], Array]:
    """Return r -> u, the shortest u with Mu = r."""
    norms = np.sqrt(np.asarray(M.multiply(M).sum(axis=1)).ravel())
    norms[norms == 0] = 1.0
    M = sp.csr_array((1 / norms)[:, None] * M)
    if M.shape[0] <= MAX_DENSE_ROWS:
        try:
            inverse = np.linalg.pinv(M.toarray(), rcond=1e-15)
        except np.linalg.LinAlgError:  # squares that under- or overflow
            return lambda r: np.zeros(M.shape[1])
        return lambda r: np.asarray(inverse @ (r / norms))
    gram = sp.csc_array(M @ M.T) + diagonal_matrix(np.full(M.shape[0], 1e-13))
    try:
        factors = splu(sp.csc_matrix(gram))
    except RuntimeError:
        return lambda r: np.zeros(M.shape[1])
    return lambda r: np.asarray(M.T @ factors.solve(r / norms))


def _snapped(form: ConicForm, v: Array, eps: float, *, lift: bool = True) -> Array:
    """Return v in the cones, with entries below eps times the largest 0 and blocks that deep.

    Without `lift`, second-order blocks stay as they are.
    """
    v = v.copy()
    least = eps * float(np.abs(v).max(initial=0.0))
    for cone, place in zip(form.cones, form.places, strict=True):
        block = v[place]
        if cone.kind == "orthant":
            v[place] = np.where(block > least, block, 0.0)
        elif cone.kind == "second-order" and lift:
            width = stable_norm(block[1:])
            if block[0] <= least and width <= least:
                v[place] = 0.0
            else:
                v[place.start] = max(block[0], width + least)
        elif cone.kind == "psd":
            v[place] = _lifted(cone, block, least)
    return v


def _lifted(cone: Cone, block: Array, least: float) -> Array:
    full = cone.matrix(block)
    some = np.diagonal(full) > least
    mask = cone.coordinates(np.outer(some, some))
    inner = full[np.ix_(some, some)]
    if not inner.size or not np.isfinite(inner).all():
        return block * mask
    lift = max(least - float(np.linalg.eigvalsh(inner)[0]), 0.0)
    return block * mask + lift * mask * cone.coordinates(np.eye(cone.n))
