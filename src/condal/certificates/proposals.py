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

from condal.certificates.conic import Cone, ConicForm, proved_upper_bound, residual
from condal.linalg.points import Array
from condal.runtime.time_limit import current_limit

SNAPS = (0.0, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3)  # relative to v: less counts as 0
SIMPLE, SIMPLE_UNITS = 1e-4, (1.0, 0.25, 2.0**-6)  # how near simple numbers must be, and of what
MAX_SIMPLE = 200  # entries of a vector that is tried as simple numbers
LARGE = 100_000  # entries of A above which fewer vectors are tried
LARGE_SNAPS = (1e-12, 1e-9, 1e-6)
SHIFTS = tuple(4.0**k for k in range(-24, 0))  # towards a point inside the cones
MAX_DENSE_ROWS = 150  # of a least-squares problem that is solved by singular values
CORRECTIONS = 3
MAX_COLUMNS, MAX_PSD_SIDE = 4_000, 60  # of a form whose interior is searched for
FACE = 1e-6  # relative to the largest depth: less is the boundary
MAX_INTERIOR_ITERS = 100
PENALTY = 1e3  # on the remainder of the rows, relative to the costs


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
    best = inf, v
    for w in chain(_on_rows(form, v), _simple(form, v), _towards(form, v, inner)):
        value = proved_upper_bound(form, w)
        best = min(best, (value, w), key=lambda pair: pair[0])
        if best[0] <= enough or current_limit().is_over():
            break
    return best


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
        if cone.kind == "second-order" and w[place][0] < np.linalg.norm(w[place][1:]):
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
            weight[place] = np.linalg.norm(v[place]) * cone.coordinates(np.outer(some, some))
        elif not fixed:
            weight[place] = np.linalg.norm(v[place])
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
    gram = sp.csc_array(M @ M.T) + 1e-13 * sp.eye_array(M.shape[0], format="csc")
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
            width = float(np.linalg.norm(block[1:]))
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


# ---- inside the cones ------------------------------------------------------------------------


def interior_point(form: ConicForm, size: float = 1.0) -> Array | None:
    r"""Return a feasible point as deep in the cones as possible, proposed by Clarabel.

    It maximises the sum of depths d_i <= size, with :math:`v - \mathrm{Diag}(d)` in the cones.
    Entries and rows of matrices without depth are set to 0. None if Clarabel is not installed,
    fails, or the form is large.
    """
    sides = [cone.n for cone in form.cones if cone.kind == "psd"]
    too_large = form.c.size > MAX_COLUMNS or max(sides, default=0) > MAX_PSD_SIDE
    if too_large or current_limit().is_over():
        return None
    if any(cone.kind == "psd" and not cone.packed for cone in form.cones):
        return None
    rows, depths, cones = _deep(form)
    M, t = _unit_rows(form)
    m, n, k = form.b.size, form.c.size, depths.shape[1]
    blocks = [[M, sp.csr_array((m, k))], [-rows, depths], [None, -sp.eye_array(k)]]
    G = sp.block_array([*blocks, [None, sp.eye_array(k)]] if k else [[M], [-rows]], format="csc")
    h = np.concatenate([t / size, np.zeros(rows.shape[0] + k), np.ones(k)])
    q = np.concatenate([np.zeros(n), -np.ones(k)])
    u = _clarabel(q, G, h, m, [*cones, Cone("orthant", 2 * k)])
    if u is None:
        return None
    depth = rows.T @ (depths @ u[n:])  # at the coordinates that it deepens
    return corrected(form, _on_face(form, size * u[:n], depth))


def completed(form: ConicForm, v: Array, known: Any) -> Array:
    """Return v with the entries that are not `known` chosen for the least objective, about.

    Known blocks are whole. Without Clarabel, and for large forms, v is returned as it is.
    """
    unknown = np.flatnonzero(~known)
    if not unknown.size or form.c.size > MAX_COLUMNS:
        return v
    cones = tuple(
        Cone(cone.kind, int(np.count_nonzero(~known[place])))
        if cone.kind in ("free", "orthant")
        else cone
        for cone, place in zip(form.cones, form.places, strict=True)
        if not known[place].all()
    )
    A = sp.csc_array(form.A)
    right = form.b - A[:, np.flatnonzero(known)] @ v[known]
    part = ConicForm(form.c[unknown], sp.csr_array(A[:, unknown]), right, cones)
    rows, _, kinds = _deep(part)
    M, t = _unit_rows(part)
    m, n = M.shape
    # Known entries are off by their own error: a penalty on the remainder r allows for it.
    price = PENALTY * (1.0 + float(np.abs(part.c).max(initial=0.0)))
    G = sp.block_array(
        [
            [M, sp.eye_array(m), sp.csr_array((m, 1))],
            [-rows, sp.csr_array((rows.shape[0], m)), sp.csr_array((rows.shape[0], 1))],
            [sp.csr_array((1, n)), sp.csr_array((1, m)), -sp.eye_array(1)],
            [sp.csr_array((m, n)), -sp.eye_array(m), sp.csr_array((m, 1))],
        ],
        format="csc",
    )
    h = np.concatenate([t, np.zeros(rows.shape[0] + m + 1)])
    q = np.concatenate([part.c, np.zeros(m), [price]])
    u = _clarabel(q, G, h, m, [*kinds, Cone("second-order", m + 1)])
    if u is None:
        return v
    v = v.copy()
    v[unknown] = u[:n]
    return v


def _unit_rows(form: ConicForm) -> tuple[Any, Array]:
    """Return the rows with norm 1, and their right sides."""
    norms = np.sqrt(np.asarray(form.A.multiply(form.A).sum(axis=1)).ravel())
    norms[norms == 0] = 1.0
    return sp.csr_array((1 / norms)[:, None] * form.A), form.b / norms


def _clarabel(q: Array, G: Any, h: Array, equations: int, cones: list[Cone]) -> Array | None:
    """Return u that minimises <q, u>, h - Gu in the cones after the equations; None if it fails."""
    try:
        import clarabel
    except ModuleNotFoundError:
        return None
    kinds = {
        "orthant": clarabel.NonnegativeConeT,
        "second-order": clarabel.SecondOrderConeT,
        "psd": clarabel.PSDTriangleConeT,
    }
    blocks = [clarabel.ZeroConeT(equations)] if equations else []
    blocks += [kinds[cone.kind](cone.n) for cone in cones if cone.n]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, MAX_INTERIOR_ITERS
    settings.time_limit = max(current_limit().left, 0.0)
    P = sp.csc_matrix((q.size, q.size))
    try:
        solution = clarabel.DefaultSolver(P, q, sp.csc_matrix(G), h, blocks, settings).solve()
    except Exception:  # a proposal only: any failure of the engine means none
        return None
    u = np.asarray(solution.x)
    return u if "Solved" in str(solution.status) and np.isfinite(u).all() else None


def _on_face(form: ConicForm, v: Array, depth: Array) -> Array:
    """Return v with entries, blocks and rows of matrices without depth set to 0."""
    v = v.copy()
    least = FACE * float(depth.max(initial=0.0))
    for cone, place in zip(form.cones, form.places, strict=True):
        if cone.kind == "orthant":
            v[place] = np.where(depth[place] > least, v[place], 0.0)
        elif cone.kind == "second-order" and depth[place.start] <= least:
            v[place] = 0.0
        elif cone.kind == "psd":
            some = np.diagonal(cone.matrix(depth[place])) > least
            v[place] *= cone.coordinates(np.outer(some, some))
    return v


def _deep(form: ConicForm) -> tuple[Any, Any, list[Cone]]:
    """Return R and D with Rv - D d in the cones, as Clarabel orders them, and these cones."""
    picks: list[Any] = []
    factors: list[Any] = []
    deepened: list[int] = []
    cones: list[Cone] = []
    count = 0
    for cone, place in zip(form.cones, form.places, strict=True):
        if cone.kind == "free" or not cone.length:
            continue
        places, factor = np.arange(place.start, place.stop), np.ones(cone.length)
        if cone.kind == "orthant":
            deepened += range(count, count + cone.n)
        elif cone.kind == "second-order":
            deepened.append(count)
        else:  # the upper triangle by columns
            index = np.zeros((cone.n, cone.n), dtype=np.int64)
            cols, rows = np.triu_indices(cone.n)
            index[cols, rows] = places
            places = np.concatenate([index[: j + 1, j] for j in range(cone.n)])
            diagonal = [j * (j + 3) // 2 for j in range(cone.n)]
            deepened += [count + j for j in diagonal]
            factor[:] = np.sqrt(0.5 if cone.doubled else 2.0)
            factor[diagonal] = 1.0
        picks.append(places)
        factors.append(factor)
        cones.append(cone)
        count += cone.length
    order = np.concatenate([*picks, np.zeros(0, dtype=np.int64)]).astype(np.int64)
    scale = np.concatenate([*factors, np.zeros(0)])
    R = sp.csr_array((scale, (np.arange(count), order)), (count, form.c.size))
    k = len(deepened)
    D = sp.csr_array((np.ones(k), (deepened, np.arange(k))), (count, k))
    return R, D, cones
