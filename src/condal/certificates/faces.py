r"""Exact points on faces of the cones, where no point near a proposed one is inside them.

The face of the psd cone at X is :math:`\{W S W^\top : S \succeq 0\}`, with W a basis of the range
of X. The reduced echelon form of W is unique: if a face contains a rational matrix of its full
rank, the entries of W are fractions, and those with small denominators are recovered from a
proposed X.
The face of a second-order cone at a point of its boundary is a ray, whose direction stereographic
projection makes rational. On the product of the faces, the rows are solved in fractions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr

from condal.certificates.cones import Cone, ConicForm
from condal.certificates.exact import exact_solution, is_psd_exactly
from condal.linalg.points import Array
from condal.linalg.rounding import stable_norm
from condal.runtime.limits import current_limit

MAX_SIDE = 12  # of a psd matrix that is factorised in fractions
MAX_ROWS, MAX_ENTRIES, MAX_LENGTH = 40, 1_000, 300  # of a form that is solved in fractions
SHARES = (1e-9, 1e-7, 1e-5, 1e-3)  # relative to the largest entry: less counts as 0
MAX_DENOMINATORS = (12, 1000)  # of the entries of a basis
NEAR = 1e-2  # how far a basis may be from the computed one

Sparse = dict[int, Fraction]


def exact_value(form: ConicForm, v: Array, enough: float = -inf) -> tuple[float, Array]:
    """Return the least objective of exact points on faces near v, rounded up, and such a point.

    The point is rounded to doubles; the objective belongs to the exact one. It is inf if no exact
    point is found. No more faces are tried once the objective is `enough`.
    """
    best = inf, v
    if form.P is not None or not _is_small(form) or not np.isfinite(v).all():
        return best
    seen: set[tuple[Any, ...]] = set()
    for share in SHARES:
        for denominator in MAX_DENOMINATORS:
            faces = _faces(form, v, share, denominator)
            key = tuple(face.key for face in faces)
            if key in seen or best[0] <= enough or current_limit().is_over():
                continue
            seen.add(key)
            best = min(best, _on_faces(form, faces, v), key=lambda pair: pair[0])
    return best


def _is_small(form: ConicForm) -> bool:
    sides = [cone.n for cone in form.cones if cone.kind == "psd"]
    rows, length = form.A.shape
    small = rows <= MAX_ROWS and length <= MAX_LENGTH and form.A.nnz <= MAX_ENTRIES
    return small and max(sides, default=0) <= MAX_SIDE


@dataclass(frozen=True, eq=False)
class _Face:
    """A face of one cone: coordinates = sum_k u_k columns[k], about at u = start.

    `sign` tells which u are allowed: "free", "orthant", or "psd", the lower triangle of S by
    columns. The cone itself, of a second-order block, is "second-order".
    """

    sign: str
    columns: tuple[Sparse, ...]
    start: Array
    side: int = 0

    @property
    def key(self) -> tuple[Any, ...]:
        return (self.sign, tuple(tuple(sorted(column.items())) for column in self.columns))

    @property
    def room(self) -> Array:
        """How far u may move, about."""
        if self.sign == "free":
            return np.full(self.start.size, max(1.0, float(np.abs(self.start).max(initial=0.0))))
        if self.sign == "orthant":
            return np.maximum(self.start, 0.0)
        if self.sign == "second-order":
            depth = float(self.start[0]) - stable_norm(self.start[1:])
        else:
            depth = float(np.linalg.eigvalsh(_square(self.start, self.side))[0])
        return np.full(self.start.size, max(depth, 0.0))

    def contains(self, u: list[Fraction]) -> bool:
        """Whether u is allowed, without rounding."""
        if self.sign == "free":
            return True
        if self.sign == "orthant":
            return all(number >= 0 for number in u)
        if self.sign == "second-order":
            return u[0] >= 0 and sum((t * t for t in u[1:]), Fraction(0)) <= u[0] * u[0]
        S = [[Fraction(0)] * self.side for _ in range(self.side)]
        for (i, j), number in zip(_lower(self.side), u, strict=True):
            S[i][j] = S[j][i] = number
        return is_psd_exactly(S)


def _on_faces(form: ConicForm, faces: list[_Face], v: Array) -> tuple[float, Array]:
    """Return the objective of an exact point on the faces, and the point; inf if there is none."""
    columns: list[Sparse] = [
        {place.start + i: a for i, a in column.items()}
        for face, place in zip(faces, form.places, strict=True)
        for column in face.columns
    ]
    start = np.concatenate([np.zeros(0), *(face.start for face in faces)])
    room = np.concatenate([np.zeros(0), *(face.room for face in faces)])
    rows = _restricted(form.A, columns)
    u = exact_solution(rows, [Fraction(t) for t in form.b.tolist()], start, room)
    if u is None:
        return inf, v
    begin = 0
    for face in faces:
        end = begin + len(face.columns)
        if not face.contains(u[begin:end]):
            return inf, v
        begin = end
    x: Sparse = {}
    for number, column in zip(u, columns, strict=True):
        for i, a in column.items():
            x[i] = x.get(i, Fraction(0)) + number * a
    value = sum((Fraction(form.c[i]) * number for i, number in x.items()), Fraction(0))
    rounded = np.zeros(v.size)
    try:
        for i, number in x.items():
            rounded[i] = float(number)
        return (0.0 if value == 0 else float(np.nextafter(float(value), inf))), rounded
    except OverflowError:  # larger than any double
        return inf, v


def _restricted(A: Any, columns: list[Sparse]) -> list[Sparse]:
    """Return the rows of A in terms of u."""
    by_column = sp.csc_array(A)
    rows: list[Sparse] = [{} for _ in range(A.shape[0])]
    for k, column in enumerate(columns):
        for j, factor in column.items():
            place = slice(by_column.indptr[j], by_column.indptr[j + 1])
            entries = by_column.indices[place].tolist(), by_column.data[place].tolist()
            for i, a in zip(*entries, strict=True):
                rows[i][k] = rows[i].get(k, Fraction(0)) + factor * Fraction(a)
    return [{k: a for k, a in row.items() if a} for row in rows]


# ---- the faces of one cone -------------------------------------------------------------------


def _faces(form: ConicForm, v: Array, share: float, denominator: int) -> list[_Face]:
    """Return the face of each cone near v."""
    least = share * float(np.abs(v).max(initial=0.0))
    return [
        _face(cone, v[place], least, denominator)
        for cone, place in zip(form.cones, form.places, strict=True)
    ]


def _face(cone: Cone, v: Array, least: float, denominator: int) -> _Face:
    if cone.kind == "free":
        return _Face("free", tuple({i: Fraction(1)} for i in range(v.size)), v)
    if cone.kind == "orthant":
        support = np.flatnonzero(v > least)
        return _Face("orthant", tuple({int(i): Fraction(1)} for i in support), v[support])
    if cone.kind == "psd":
        return _psd_face(cone, v, least, denominator)
    width = stable_norm(v[1:])
    if v[0] <= least:
        return _Face("orthant", (), np.zeros(0))
    if v[0] - width > least:
        return _Face("second-order", tuple({i: Fraction(1)} for i in range(v.size)), v)
    column = dict(enumerate([Fraction(1), *_on_sphere(v[1:] / width, denominator)]))
    return _Face("orthant", (column,), v[:1])


def _psd_face(cone: Cone, v: Array, least: float, denominator: int) -> _Face:
    full = cone.matrix(v)
    values, vectors = np.linalg.eigh(full)
    U = vectors[:, values > least]
    if not U.shape[1]:
        return _Face("orthant", (), np.zeros(0))
    pivots = np.sort(qr(U.T, pivoting=True, mode="r")[1][: U.shape[1]])
    basis = U @ np.linalg.inv(U[pivots])  # the identity in the rows of the pivots
    W = [[Fraction(a).limit_denominator(denominator) for a in row] for row in basis.tolist()]
    error = max(abs(float(a) - b) for p, q in zip(W, basis.tolist(), strict=True)
                for a, b in zip(p, q, strict=True))  # fmt: skip
    if error > NEAR:
        return _Face("orthant", (), np.zeros(0))
    rank = len(pivots)
    columns = tuple(_column(cone, W, i, j) for i, j in _lower(rank))
    S = full[np.ix_(pivots, pivots)]
    start = np.array([S[i, j] for i, j in _lower(rank)])
    return _Face("psd", columns, start, rank)


def _column(cone: Cone, W: list[list[Fraction]], i: int, j: int) -> Sparse:
    """Return the coordinates of w_i w_j' + w_j w_i', or of w_i w_i'."""
    column: Sparse = {}
    for k, (p, q) in enumerate(_coordinates(cone)):
        entry = W[p][i] * W[q][j] + (W[p][j] * W[q][i] if i != j else 0)
        if entry:
            column[k] = 2 * entry if cone.doubled and p != q else entry
    return column


def _coordinates(cone: Cone) -> Iterator[tuple[int, int]]:
    """Yield the row and column of each coordinate of a matrix."""
    if cone.packed:
        return _lower(cone.n)
    return ((i, j) for i in range(cone.n) for j in range(cone.n))


def _lower(n: int) -> Iterator[tuple[int, int]]:
    """Yield the entries of a lower triangle, column by column."""
    return ((i, j) for j in range(n) for i in range(j, n))


def _square(u: Array, n: int) -> Array:
    S = np.zeros((n, n))
    for (i, j), number in zip(_lower(n), u.tolist(), strict=True):
        S[i, j] = S[j, i] = number
    return S


def _on_sphere(u: Array, denominator: int) -> list[Fraction]:
    """Return a rational vector of norm 1 near u, by stereographic projection from a far pole."""
    k = int(np.argmax(np.abs(u)))
    sign = 1 if u[k] > 0 else -1
    others = [j for j in range(u.size) if j != k]
    t = {j: Fraction(float(u[j]) / (1.0 + abs(float(u[k])))).limit_denominator(denominator)
         for j in others}  # fmt: skip
    square = sum((a * a for a in t.values()), Fraction(0))
    unit = {j: 2 * a / (1 + square) for j, a in t.items()}
    unit[k] = sign * (1 - square) / (1 + square)
    return [unit[j] for j in range(u.size)]
