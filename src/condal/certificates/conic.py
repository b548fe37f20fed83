r"""Proofs about conic programs on the data as they were given, with every rounding accounted for.

.. math:: \min \langle c, x \rangle \quad \text{subject to} \quad A x = b,\; x \in K,

where K is a product of free, nonnegative, second-order and psd blocks. A solver proposes vectors of
doubles; none of them satisfies equations exactly. Each proof here shows that an exact vector exists
near the proposed one: if :math:`|M v - t| \le \rho` and the rows of M are independent with smallest
singular value at least :math:`s`, then some :math:`v'` with :math:`M v' = t` lies within
:math:`\rho / s` of v. If v is deeper than that inside its cone, v' is in the cone as well.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.certificates.cones import Cone, ConicForm
from condal.certificates.containment import MAX_SIDE, contains, smallest_eigenvalue, unproved
from condal.certificates.exact import (
    exact_residual,
    exact_rows,
    row_fractions,
    shortest_solution,
)
from condal.certificates.inner import objective_above
from condal.certificates.row_space import ROUND_UP, column_norms, dot, powers_of_two, residual
from condal.linalg.factorisations import sparse_factorisation
from condal.linalg.points import Array
from condal.linalg.rounding import UNDERFLOW, norm_above
from condal.linalg.symmetric import Symmetric

MAX_EXACT_ROWS, MAX_EXACT_ENTRIES = 40, 1_000  # of a system that is solved in fractions
MAX_MEAN_ENTRIES = 20  # per row of a larger Gram matrix, which is factorised as a sparse one
SPARSE_SHIFTS = (1e-1, 1e-3, 1e-6)  # tried as its smallest eigenvalue
DATA_ROUNDING = 2.0**-50  # of each entry of c and b, relative


# ---- statements ------------------------------------------------------------------------------


def proved_lower_bound(form: ConicForm, y: Array) -> float:
    r"""Return a proved lower bound on the optimum, -inf where y proves none.

    For any :math:`y` with :math:`z = c - A^\top y \in K^*` the optimum is at least
    :math:`\langle b, y \rangle`; on free coordinates z must be 0.
    """
    off = _dual_distance(form, y)
    if off == inf:
        return -inf
    value, error = dot(form.b, y)
    return float(np.nextafter(value - error - norm_above(form.b) * off * ROUND_UP, -inf))


def proved_upper_bound(form: ConicForm, x: Array) -> float:
    """Return a proved upper bound on the optimum, inf where no feasible point is proved near x."""
    room = np.zeros(x.size)
    for cone, place in zip(form.cones, form.places, strict=True):
        room[place] = _room(cone, x[place])
    if not np.isfinite(x).all() or (room < 0).any():
        return inf
    share, weight = _primal_correction(form, x, room)
    if share == inf:
        return _exact_upper_bound(form, x, room)
    return objective_above(form, x, weight, share)


def proves_infeasible(form: ConicForm, y: Array) -> bool:
    r"""Whether y proves that no x is feasible: :math:`-A^\top y \in K^*` and
    :math:`\langle b, y \rangle > 0`, by more than the rounding of b."""
    return is_clear(proved_lower_bound(form.feasibility, y), form.b, y)


def proves_feasible(form: ConicForm, x: Array) -> bool:
    """Whether an exactly feasible point is proved to exist near x."""
    return proved_upper_bound(form, x) < inf


def is_clear(value: float, data: Array, v: Array) -> bool:
    """Whether a proved value of <data, v> is positive for any rounding of the data.

    Data that were rounded to doubles state a degenerate problem only up to their last bits: a sign
    that depends on these is no verdict about the problem that was meant.
    """
    return value > DATA_ROUNDING * float(np.abs(data) @ np.abs(v))


def falls_along(form: ConicForm, d: Array) -> bool:
    """Whether a direction of K with Ad = 0 along which the objective falls exists near d."""
    return is_clear(-proved_upper_bound(form.directions, d), form.c, d)


# ---- dual side -------------------------------------------------------------------------------


def _dual_distance(form: ConicForm, y: Array) -> float:
    """Return how far an exactly dual feasible point is from y at most; inf if none is proved."""
    z, error = residual(form.c, form.A.T, y)
    off = 0.0
    if form.free.size:
        M = sp.csr_array(form.A[:, form.free].T)
        off = _correction(M, z[form.free], error[form.free], form.c[form.free], (M, y))
        if off == inf:
            return inf
        # Each z_i moves by <a_i, dy>.
        error = error + column_norms(form.A) * off * ROUND_UP
    duals = [cone.dual for cone in form.cones]
    for cone, place in unproved(duals, form.places, z, error):
        if cone.kind != "free" and not contains(cone, z[place], error[place]):
            return inf
    return off


# ---- primal side -----------------------------------------------------------------------------


def _primal_correction(form: ConicForm, x: Array, room: Array) -> tuple[float, Array]:
    """Return (r, w): some x + w * u with |u| <= r is exactly feasible; r = inf if none is proved.

    Free coordinates and coordinates deep inside their cones may move; the others stay.
    """
    weight = np.zeros(x.size)
    r, error = residual(form.b, form.A, x)
    if not r.any() and not error.any():
        return 0.0, weight
    A = sp.csr_array(form.A)
    moving = np.flatnonzero(room > 0)
    finite = room[moving][room[moving] < inf]
    largest = float(np.abs(x).max(initial=0.0)) or 1.0
    # Coordinate i moves by weight_i times a number. Equal weights suit the rows, weights like the
    # room suit the cones: the cheapest is taken.
    share, least = inf, inf
    for most in sorted({float(finite.min(initial=largest)), 1e-6 * largest, largest}):
        trial = np.zeros(x.size)
        trial[moving] = powers_of_two(np.minimum(room[moving], most))
        M = sp.csr_array(A[:, moving] * trial[moving][None, :])
        reach = _correction(M, r, error, form.b, (A, x))
        cost = reach * norm_above(form.c * trial)
        if reach * ROUND_UP < 0.5 and (share == inf or cost < least):  # weights are not above room
            share, weight, least = reach, trial, cost
    return share, weight


def _exact_upper_bound(form: ConicForm, x: Array, room: Array) -> float:
    """Return the objective of x after a correction that is computed in fractions; inf if none."""
    A = sp.csr_array(form.A)
    if form.P is not None or A.shape[0] > MAX_EXACT_ROWS or A.nnz > MAX_EXACT_ENTRIES:
        return inf
    largest = float(np.abs(x).max(initial=0.0)) or 1.0
    right_sides = [exact_residual((A, x), form.b, i) for i in range(form.b.size)]
    try:
        rows = [row_fractions(A, i) for i in range(form.b.size)]
        moves = shortest_solution(rows, right_sides, np.minimum(room, largest))
        if moves is None or not _stays(form, x, room, moves):
            return inf
        costs = {j: Fraction(form.c[j]) for j in np.flatnonzero(form.c).tolist()}
        terms = (c * (Fraction(x[j]) + moves.get(j, 0)) for j, c in costs.items())
        return float(np.nextafter(float(sum(terms, Fraction(0))), inf))
    except OverflowError:  # a fraction too large for a double
        return inf


def _stays(form: ConicForm, x: Array, room: Array, moves: dict[int, Fraction]) -> bool:
    """Whether x, which is in the cones, is still there after the moves."""
    for cone, place in zip(form.cones, form.places, strict=True):
        inside = {j: u for j, u in moves.items() if place.start <= j < place.stop}
        if cone.kind == "orthant" and any(Fraction(x[j]) + u < 0 for j, u in inside.items()):
            return False
        if cone.kind in ("second-order", "psd") and inside:
            length = norm_above(np.array([float(u) for u in inside.values()])) * ROUND_UP
            if length > float(room[place].max()):
                return False
    return True


def _room(cone: Cone, v: Array) -> Any:
    """Return how far each coordinate may move with the block in the cone; -1 if v is not in it."""
    if cone.kind == "free":
        return np.full(v.size, inf)
    if cone.kind == "orthant":
        return np.where(v >= 0, v, -1.0)
    if not contains(cone, v, np.zeros(v.size)):
        return np.full(v.size, -1.0)
    # The block moves by at most the norm of the moves of its coordinates.
    if cone.kind == "second-order":
        return np.full(v.size, max(float(v[0] - norm_above(v[1:])) / 1.5, 0.0))
    full = cone.matrix(v)
    some = full.any(axis=1)  # the rows that are 0 stay 0
    inner = full[np.ix_(some, some)]
    depth = smallest_eigenvalue(inner) if inner.size else 0.0
    depth -= 4 * np.finfo(float).eps * norm_above(inner.ravel()) + UNDERFLOW * len(full)
    return max(depth, 0.0) / cone.stretch / ROUND_UP * cone.coordinates(np.outer(some, some))


# ---- existence near a point ------------------------------------------------------------------


def _correction(M: Any, r: Array, error: Array, t: Array, system: tuple[Any, Array]) -> float:
    """Return a proved bound on the least |u| with M u = t - A v exactly; inf if none is proved.

    (A, v) is the `system`, and r its residual t - A v, known within `error`.
    """
    size = np.abs(r) + error
    if not size.any():
        return 0.0
    rows = exact_rows(M, t, size, system)
    if rows is None:
        return inf
    if not rows.size:
        return 0.0
    M, size = sp.csr_array(M[rows]), size[rows]
    scale = 1.0 / np.maximum(powers_of_two(column_norms(M.T)), UNDERFLOW)
    M = sp.csr_array(scale[:, None] * M)
    least = _smallest_singular_value(M)
    if least <= 0:
        return inf
    return float(norm_above(scale * size) / least * ROUND_UP + UNDERFLOW)


def _smallest_singular_value(M: Any) -> float:
    """Return a proved lower bound on the smallest singular value of the rows of M, 0 if none."""
    single = np.flatnonzero(np.diff(sp.csc_array(M).indptr) == 1)
    entries = abs(M[:, single]).max(axis=1).toarray().ravel() if single.size else np.zeros(1)
    if entries.size == M.shape[0] and entries.min() > 0:
        return float(entries.min())  # M M' is a diagonal matrix plus a psd one
    if M.shape[0] > M.shape[1]:
        return 0.0
    gram = sp.csr_array(M @ M.T)
    gram = 0.5 * (gram + gram.T)
    # Forming M M' rounds each entry by at most (k + 1) u |M||M|', and |M|_F^2 bounds that in norm.
    rounding = (int(np.diff(M.indptr).max()) + 2) * np.finfo(float).eps * norm_above(M.data) ** 2
    if M.shape[0] <= MAX_SIDE:
        least = smallest_eigenvalue(gram.toarray())
    elif gram.nnz <= MAX_MEAN_ENTRIES * M.shape[0]:
        V = Symmetric(M.shape[0], sparse=[gram])
        proofs = (sparse_factorisation(V, tau) for tau in SPARSE_SHIFTS)
        least = next((proof.value for proof in proofs if proof is not None), 0.0)
    else:
        return 0.0
    least -= rounding * ROUND_UP
    return float(np.sqrt(least) * (1 - 1e-15)) if least > 0 else 0.0
