"""Points inside the cones, and unknown entries of a vector, proposed by Clarabel.

Nothing here is trusted: `conic` proves what it can about each vector.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.certificates.cones import Cone, ConicForm
from condal.certificates.conic import is_clear
from condal.certificates.proposals import corrected, proved_value
from condal.linalg.points import Array
from condal.linalg.rounding import norm_above
from condal.runtime.time_limit import current_limit

MAX_COLUMNS, MAX_PSD_SIDE = 4_000, 60  # of a form whose interior is searched for
FACE = 1e-6  # relative to the largest depth: less is the boundary
MAX_INTERIOR_ITERS = 100
SLOPE = 1e-12  # of a ray, relative to its size: less may be rounding
PENALTY = 1e3  # on the remainder of the rows, relative to the costs


def interior_point(form: ConicForm, size: float = 1.0) -> Array | None:
    r"""Return a feasible point as deep in the cones as possible, proposed by Clarabel.

    It maximises the sum of depths d_i <= size, with :math:`v - \mathrm{Diag}(d)` in the cones.
    Entries and rows of matrices without depth are set to 0. None if Clarabel is not installed,
    fails, or the form is large.
    """
    if not _is_small(form):
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


def proved_ray(form: ConicForm, v: Array | None = None) -> Array | None:
    """Return a vector of the cones with Av = 0 and <c, v> < 0, clearly; None if none is proved.

    Vectors near v are tried first. The right-hand side of the form does not matter.
    """
    form = form.directions
    size = float(np.abs(form.c).max(initial=0.0))
    if size == 0.0:
        return None
    falling = replace(
        form,
        A=sp.csr_array(sp.vstack([form.A, sp.csr_array(form.c[None] / size)])),
        b=np.append(form.b, -1.0),
    )
    proposals: tuple[Callable[[ConicForm], Array | None], ...] = (interior_point, central_point)
    for propose in (lambda _: v, *proposals):
        candidate = propose(falling)
        if candidate is not None:
            value, w = proved_value(form, candidate, enough=-SLOPE * size * norm_above(candidate))
            if is_clear(-value, form.c, w):
                return w
    return None


def central_point(form: ConicForm) -> Array | None:
    """Return a feasible point in the relative interior of the feasible set, about.

    It is what Clarabel ends with if there is no objective; None as for `interior_point`.
    """
    if not _is_small(form):
        return None
    rows, _, cones = _deep(form)
    M, t = _unit_rows(form)
    G = sp.csc_array(sp.vstack([M, -rows]))
    h = np.concatenate([t, np.zeros(rows.shape[0])])
    return _clarabel(np.zeros(form.c.size), G, h, t.size, cones)


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


def _is_small(form: ConicForm) -> bool:
    """Whether there is time to search, and Clarabel takes the form."""
    matrices = [cone for cone in form.cones if cone.kind == "psd"]
    sides = [cone.n for cone in matrices]
    small = form.c.size <= MAX_COLUMNS and max(sides, default=0) <= MAX_PSD_SIDE
    return small and all(cone.packed for cone in matrices) and not current_limit().is_over()


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
    except BaseException as error:  # a failure in compiled code is not an Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
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
