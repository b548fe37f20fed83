r"""Proofs about conic programs on the data as they were given, with every rounding accounted for.

.. math:: \min \langle c, x \rangle \quad \text{subject to} \quad A x = b,\; x \in K,

where K is a product of free, nonnegative, second-order and psd blocks. A solver proposes vectors of
doubles; none of them satisfies equations exactly. Each proof here shows that an exact vector exists
near the proposed one: if :math:`|M v - t| \le \rho` and the rows of M are independent with smallest
singular value at least :math:`s`, then some :math:`v'` with :math:`M v' = t` lies within
:math:`\rho / s` of v. If v is deeper than that inside its cone, v' is in the cone as well.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from condal.certificates.exact import (
    exact_residual,
    exact_rows,
    in_second_order,
    is_psd,
    rounded_residual,
    shortest_solution,
)
from condal.linalg.deflation import has_outlier, without_outlier
from condal.linalg.factorisations import dense_cholesky, sparse_factorisation
from condal.linalg.points import Array, Indices
from condal.linalg.rounding import norm_above
from condal.linalg.symmetric import Symmetric

MAX_SIDE = 2000  # of a Gram matrix or a psd block: proofs here use dense factorisations
MAX_EXACT_SIDE = 24  # of a psd matrix that is factorised in fractions
MAX_SMALL_TERMS = 20_000  # of a system whose residual is rounded only once throughout
MAX_EXACT_LENGTH = 4_000  # of a second-order vector that is squared in fractions
MAX_EXACT_TERMS = 200_000  # products that are added up without rounding
MAX_EXACT_ROWS, MAX_EXACT_ENTRIES = 40, 1_000  # of a system that is solved in fractions
MAX_MEAN_ENTRIES = 20  # per row of a larger Gram matrix, which is factorised as a sparse one
SPARSE_SHIFTS = (1e-1, 1e-3, 1e-6)  # tried as its smallest eigenvalue
TINY = float(np.finfo(np.float64).tiny)  # what underflow may lose
# Residuals are computed in the widest format of the machine and rounded once.
WIDE = np.longdouble
WIDE_UNIT = float(np.finfo(WIDE).eps)
ROUND_UP = 1 + 4e-15


@dataclass(frozen=True)
class Cone:
    """A block of x: n free or nonnegative numbers, |(u_2, ..., u_n)| <= u_1, or a psd matrix.

    A psd matrix of side n takes n^2 numbers, row by row. If `packed` it takes n (n + 1) / 2: its
    lower triangle column by column, with the entries off the diagonal times sqrt(2).
    """

    kind: Literal["free", "orthant", "second-order", "psd"]
    n: int
    packed: bool = False

    @property
    def length(self) -> int:
        """The number of coordinates."""
        if self.kind != "psd":
            return self.n
        return self.n * (self.n + 1) // 2 if self.packed else self.n**2

    def matrix(self, v: Array) -> Array:
        """Return the symmetric matrix of the coordinates of a psd block."""
        if not self.packed:
            full = v.reshape(self.n, self.n)
            return 0.5 * (full + full.T)
        cols, rows = np.triu_indices(self.n)
        full = np.zeros((self.n, self.n))
        full[rows, cols] = np.where(rows == cols, v, v * np.sqrt(0.5))
        full[cols, rows] = full[rows, cols]
        return full

    def exact(self, v: Array) -> bool:
        """Whether `matrix` does not round the coordinates of a psd block."""
        full = None if self.packed else v.reshape(self.n, self.n)
        return full is not None and np.array_equal(full, full.T)

    def coordinates(self, full: Any) -> Array:
        """Return the entries of a matrix in the order of the coordinates, none of them scaled."""
        if not self.packed:
            return np.asarray(full, dtype=np.float64).ravel()
        cols, rows = np.triu_indices(self.n)
        return np.asarray(full[rows, cols], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class ConicForm:
    """minimise <c, x> subject to Ax = b, x in the product of the cones.

    Entries of A that are stored twice are added up here, once: each proof sees the same matrix.
    """

    c: Array = field(repr=False)
    A: Any = field(repr=False)
    b: Array = field(repr=False)
    cones: tuple[Cone, ...]

    def __post_init__(self) -> None:
        if self.A.format != "csr" or not self.A.has_canonical_format:
            A = sp.csr_array(self.A, copy=True)
            A.sum_duplicates()
            object.__setattr__(self, "A", A)

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """Where each cone stands in x."""
        ends = np.cumsum([0, *(cone.length for cone in self.cones)]).tolist()
        return tuple(slice(a, b) for a, b in itertools.pairwise(ends))

    @cached_property
    def free(self) -> Indices:
        """The free coordinates of x."""
        kinds = [np.full(cone.length, cone.kind == "free") for cone in self.cones]
        return np.flatnonzero(np.concatenate(kinds))


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
    value, error = dot(form.c, x)
    moved = norm_above(form.c * weight) * share * ROUND_UP
    return float(np.nextafter(value + error + moved, inf))


def proves_infeasible(form: ConicForm, y: Array) -> bool:
    r"""Whether y proves that no x is feasible: :math:`-A^\top y \in K^*` and
    :math:`\langle b, y \rangle > 0`."""
    return proved_lower_bound(replace(form, c=np.zeros(form.c.size)), y) > 0


def proves_feasible(form: ConicForm, x: Array) -> bool:
    """Whether an exactly feasible point is proved to exist near x."""
    return proved_upper_bound(form, x) < inf


def proves_unbounded(form: ConicForm, x: Array, d: Array) -> bool:
    """Whether a feasible point exists near x, and near d a direction of K with Ad = 0 along which
    the objective falls."""
    return falls_along(form, d) and proves_feasible(form, x)


def falls_along(form: ConicForm, d: Array) -> bool:
    """Whether a direction of K with Ad = 0 along which the objective falls exists near d."""
    return proved_upper_bound(replace(form, b=np.zeros(form.b.size)), d) < 0


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
        error = error + _column_norms(form.A) * off * ROUND_UP
    for cone, place in zip(form.cones, form.places, strict=True):
        if cone.kind != "free" and not contains(cone, z[place], error[place]):
            return inf
    return off


def contains(cone: Cone, v: Array, error: Array) -> bool:
    """Whether every vector within `error` of v, coordinate by coordinate, is in the cone."""
    if cone.kind == "free":
        return True
    if cone.kind == "orthant":
        return bool(np.all(v >= error))
    if cone.kind == "second-order":
        if v[0] - error[0] >= (norm_above(v[1:]) + norm_above(error[1:])) * ROUND_UP + TINY:
            return True
        return not error.any() and v.size <= MAX_EXACT_LENGTH and in_second_order(v)
    some = np.flatnonzero(np.abs(cone.matrix(v)).any(axis=1) | cone.matrix(error).any(axis=1))
    if not some.size:
        return True
    full, off = cone.matrix(v)[np.ix_(some, some)], norm_above(error) * ROUND_UP
    if off == 0.0 and some.size <= MAX_EXACT_SIDE and cone.exact(v):
        return is_psd(full)
    # Halving, or the division by sqrt(2), rounds each entry.
    off += 4 * np.finfo(float).eps * norm_above(full.ravel()) + TINY * some.size
    return bool(smallest_eigenvalue(full) >= off)


def smallest_eigenvalue(full: Array) -> float:
    """Return a proved lower bound on the smallest eigenvalue; -inf if it is not positive."""
    if len(full) > MAX_SIDE or not np.isfinite(full).all():
        return -inf
    scale = float(np.abs(full).max())
    if scale == 0.0:
        return 0.0
    power = 2.0 ** np.floor(np.log2(scale))  # an exact scaling: no square under- or overflows
    full, loss = full / power, 0.0
    values: Array = np.asarray(np.linalg.eigvalsh(full))
    if has_outlier(values):
        full, loss = without_outlier(full)
        values = np.asarray(np.linalg.eigvalsh(full))
    estimate = float(values[0])
    if not estimate > loss:
        return -inf
    for share in (0.5, 0.1):
        proof = dense_cholesky(Symmetric(len(full), dense=full), loss + share * (estimate - loss))
        if proof is not None and proof.value > loss:
            return (proof.value - loss) * power * (1 - 1e-15)
    return -inf


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
        trial[moving] = _powers_of_two(np.minimum(room[moving], most))
        M = sp.csr_array(A[:, moving] * trial[moving][None, :])
        reach = _correction(M, r, error, form.b, (A, x))
        cost = reach * norm_above(form.c * trial)
        if reach * ROUND_UP < 0.5 and (share == inf or cost < least):  # weights are not above room
            share, weight, least = reach, trial, cost
    return share, weight


def _exact_upper_bound(form: ConicForm, x: Array, room: Array) -> float:
    """Return the objective of x after a correction that is computed in fractions; inf if none."""
    A = sp.csr_array(form.A)
    if A.shape[0] > MAX_EXACT_ROWS or A.nnz > MAX_EXACT_ENTRIES:
        return inf
    largest = float(np.abs(x).max(initial=0.0)) or 1.0
    right_sides = [exact_residual((A, x), form.b, i) for i in range(form.b.size)]
    try:
        moves = shortest_solution(A, right_sides, np.minimum(room, largest))
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
    depth -= 4 * np.finfo(float).eps * norm_above(inner.ravel()) + TINY * len(full)
    return max(depth, 0.0) * cone.coordinates(np.outer(some, some))


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
    scale = 1.0 / _powers_of_two(_column_norms(M.T))
    M = sp.csr_array(scale[:, None] * M)
    least = _smallest_singular_value(M)
    if least <= 0:
        return inf
    return float(norm_above(scale * size) / least * ROUND_UP + TINY)


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


# ---- arithmetic ------------------------------------------------------------------------------


def residual(t: Array, M: Any, v: Array) -> tuple[Array, Array]:
    """Return t - M v rounded to doubles, and a bound on its error, entry by entry.

    The entries of a small system, and the entries of a larger one that may be 0, are rounded once:
    their signs are exact, and an entry that is a double has no error.
    """
    M = sp.csr_array(M)
    wide = sp.csr_array((M.data.astype(WIDE), M.indices, M.indptr), M.shape)
    residual = t.astype(WIDE) - wide @ v.astype(WIDE)
    r = residual.astype(np.float64)
    terms, lengths = np.abs(t) + abs(M) @ np.abs(v), np.diff(M.indptr) + 1
    error = 1.01 * (lengths + 1) * WIDE_UNIT * terms + TINY
    unclear = np.abs(residual) <= 4 * error
    error += np.spacing(np.abs(r))
    if lengths.sum() <= MAX_SMALL_TERMS:
        unclear[:] = True
    products = np.bincount(
        np.repeat(np.arange(r.size), lengths - 1), (M.data != 0) & (v[M.indices] != 0), r.size
    )
    r, error = np.where(products == 0, t, r), np.where(products == 0, 0.0, error)
    unclear = np.flatnonzero(unclear & (products > 0))
    if lengths[unclear].sum() <= MAX_EXACT_TERMS:
        r[unclear], error[unclear] = rounded_residual((M, v), t, unclear)
    return r, error


def dot(a: Array, v: Array) -> tuple[float, float]:
    """Return <a, v> and a bound on its error."""
    value = float(a.astype(WIDE) @ v.astype(WIDE))
    terms = float(np.abs(a) @ np.abs(v))
    return value, 1.01 * (a.size + 2) * WIDE_UNIT * terms + float(np.spacing(abs(value))) + TINY


def _column_norms(A: Any) -> Array:
    """Return the norm of each column, rounded up; no square under- or overflows."""
    if not A.shape[0]:
        return np.zeros(A.shape[1])
    largest = _powers_of_two(abs(A).max(axis=0).toarray().ravel())
    scaled = sp.csr_array(A * (1.0 / largest)[None, :])
    squares = np.asarray(scaled.multiply(scaled).sum(axis=0)).ravel()
    return np.asarray(np.sqrt(squares) * largest * (1 + 1e-12))


def _powers_of_two(v: Array) -> Array:
    """Return the largest power of 2 not above each number, 1 for 0."""
    return np.where(v > 0, 2.0 ** np.floor(np.log2(np.where(v > 0, v, 1.0))), 1.0)
