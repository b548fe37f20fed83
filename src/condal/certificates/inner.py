r"""The value of a point inside its cones, proved after one short step onto the rows.

An interior-point method ends inside the cones and a little off the rows. The step leaves it inside,
and what rounding leaves of the residual is repaired by an even shorter one.

The step is the shortest in the local metric of the point, that of the barrier: :math:`z^2` for a
nonnegative number, :math:`2 z z^\top - \det(z) J` for a second-order block and
:math:`S \mapsto Z S Z` for a matrix. A step that is shorter than 1 in it stays inside. A point near
the boundary may move far along it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_solve, eigh
from scipy.linalg.lapack import dpotrf

from condal.certificates.cones import Cone, ConicForm
from condal.certificates.row_space import ROUND_UP, dot
from condal.linalg.factorisations import dense_cholesky
from condal.linalg.points import Array, Indices
from condal.linalg.rounding import UNDERFLOW, UNIT_ROUNDOFF, norm_above, stable_norm
from condal.linalg.symmetric import Symmetric

MAX_STEPS = 4
LENGTHS = 1.0, 0.6, 0.3, 0.1
MAX_REFINEMENTS, PROGRESS = 6, 0.3
ROUNDED = 1e3  # times the error of a residual: less is small enough
OWN_SHARE = 0.1  # of its room that a coordinate may take in a step along one column per row
DEPTH_SHARE = 0.5  # of the depth that is proved
MAX_FLOPS = 3e9  # of the Gram matrix and its factor
DENSE = 0.1  # share of nonzeros above which products are dense
RIDGE = 1e-15  # of the unit diagonal
FREE_WEIGHT = 1.0  # of free coordinates, times the largest of the others


def inner_value(form: ConicForm, v: Array) -> tuple[float, Array]:
    """Return the objective that is proved near v, and the vector that proves it; inf if none is.

    A v that is not inside all its cones proves nothing here.
    """
    if not np.isfinite(v).all() or not form.row_space.tractable:
        return inf, v
    moved = _onto_rows(form, v)
    return (inf, v) if moved is None else (_value(form, moved), moved)


def nearby_value(form: ConicForm, v: Array) -> float:
    """Return the objective that is proved next to v; inf if none is.

    No system is solved: v is inside its cones and so near the rows that it stays inside, after a
    step along one column per row if each row has one of its own.
    """
    if not np.isfinite(v).all() or not form.row_space.tractable:
        return inf
    if form.row_space.triangular:
        v = v + form.row_space.step(form.row_space.residual(form.b, v)[0])
    return _value(form, v)


def lifted(form: ConicForm, v: Array, slack: Array, mu: float) -> Array:
    """Return v + mu / (slack + sqrt(mu)), block by block: about the central point of mu.

    `slack` is a point of the dual cones, in the coordinates of the costs; free blocks stay.
    """
    v, ridge = v.copy(), np.sqrt(mu)
    for cone, place in zip(form.cones, form.places, strict=True):
        s = slack[place]
        if cone.kind == "orthant":
            v[place] += mu / (np.maximum(s, 0.0) + ridge)
        elif cone.kind == "second-order":
            width = stable_norm(s[1:])
            head = max(float(s[0]), width) + ridge
            v[place] += mu / (head**2 - width**2) * np.concatenate([[head], -s[1:]])
        elif cone.kind == "psd" and cone.length:
            values, vectors = np.linalg.eigh((cone.dual if cone.packed else cone).matrix(s))
            inverse = (vectors * (mu / (np.maximum(values, 0.0) + ridge))) @ vectors.T
            v[place] += cone.vector(inverse)
    return v


def _value(form: ConicForm, v: Array) -> float:
    """Return the objective that is proved near v, which is about on the rows; inf if none is."""
    room = _rooms(form, v)
    if room is None:
        return inf
    r, error = form.row_space.residual(form.b, v)
    reach = form.row_space.reach(np.abs(r) + error) * ROUND_UP
    if not reach < inf:
        return inf
    for cone, place in zip(form.cones, form.places, strict=True):
        if cone.length and not _surely_inside(cone, v[place], reach, float(room[place.start])):
            return inf
    return objective_above(form, v, np.ones(v.size), reach)


def _onto_rows(form: ConicForm, v: Array) -> Array | None:
    """Return a point on the rows, about, and inside its cones; None if none is near v."""
    room = _rooms(form, v)
    if room is None:
        return None
    r = form.row_space.residual(form.b, v)[0]
    if form.row_space.triangular:
        step = form.row_space.step(r)
        if (np.abs(step) < OWN_SHARE * room).all():
            return v + step
    for _ in range(MAX_STEPS):
        metric = LocalMetric.at(form, v)
        if metric is None:
            return None
        step = metric.step(r)
        length = next((t for t in LENGTHS if _rooms(form, v + t * step) is not None), None)
        if length is None:
            return None
        v = v + length * step
        if length == 1.0:
            return _refined(form, metric, v)
        r = form.row_space.residual(form.b, v)[0]
    return None


def _refined(form: ConicForm, metric: LocalMetric, v: Array) -> Array:
    """Return v after further steps as long as they reduce its residual."""
    r, error = form.row_space.residual(form.b, v)
    for _ in range(MAX_REFINEMENTS):
        if stable_norm(r) <= ROUNDED * stable_norm(error):
            break
        moved = v + metric.step(r)
        rest, error = form.row_space.residual(form.b, moved)
        if not stable_norm(rest) < PROGRESS * stable_norm(r):
            break
        v, r = moved, rest
    return v


def _rooms(form: ConicForm, v: Array) -> Array | None:
    """Return about how far each coordinate may move; None if v is not inside its cones."""
    room = np.full(v.size, inf)
    for cone, place in zip(form.cones, form.places, strict=True):
        block = v[place]
        if cone.kind == "orthant":
            room[place] = block
        elif cone.kind == "second-order":
            room[place] = 0.5 * (float(block[0]) - stable_norm(block[1:]))
        elif cone.kind == "psd" and cone.length:
            room[place] = float(np.linalg.eigvalsh(cone.matrix(block))[0]) / cone.stretch
    return room if room.min(initial=inf) > 0 else None


def _surely_inside(cone: Cone, v: Array, reach: float, depth: float) -> bool:
    """Whether every vector within `reach` of v, whose depth is about known, is in the cone."""
    if cone.kind == "orthant":
        return bool(v.min(initial=inf) >= reach)
    if cone.kind == "second-order":
        return float(v[0]) >= (norm_above(v[1:]) + 1.5 * reach + UNDERFLOW) * ROUND_UP
    if cone.kind == "psd" and cone.length:
        full = cone.matrix(v)  # halving may round each entry
        off = (
            reach * cone.stretch + 4 * UNIT_ROUNDOFF * norm_above(full.ravel()) + UNDERFLOW * cone.n
        )
        proof = dense_cholesky(Symmetric(cone.n, dense=full), DEPTH_SHARE * cone.stretch * depth)
        return proof is not None and proof.value >= off * ROUND_UP
    return True


def objective_above(form: ConicForm, x: Array, weight: Array, reach: float) -> float:
    """Return a bound on the objective at every x + weight * u with |u| <= reach."""
    value, error = dot(form.c, x)
    moved = norm_above(form.c * weight) * reach
    if form.P is not None:
        product, off = form.curvature.residual(np.zeros(x.size), x)  # -Px
        half, half_error = dot(-0.5 * product, x)
        value += half
        error += half_error + norm_above(x) * norm_above(off) + abs(value) * 1e-15
        slope = norm_above((np.abs(product) + off) * weight)
        moved += slope * reach + norm_above(form.P.data) * (weight.max(initial=0.0) * reach) ** 2
    return float(np.nextafter((value + error + moved * ROUND_UP), inf))


@dataclass(frozen=True, eq=False)
class LocalMetric:
    """M H M', factorised, with M the rows of a form and H the metric at a point."""

    form: ConicForm
    diagonal: Array = field(repr=False)
    vectors: Array = field(repr=False)  # of second-order blocks, each in its place
    blocks: tuple[_Matrix, ...] = field(repr=False)
    scale: Array = field(repr=False)
    factor: Array = field(repr=False)

    @classmethod
    def at(cls, form: ConicForm, v: Array) -> LocalMetric | None:
        """Factorise the metric at a point inside its cones; None if it is costly or singular."""
        if _flops(form) > MAX_FLOPS:
            return None
        diagonal, vectors = np.zeros(v.size), np.zeros(v.size)
        blocks, largest = [], 0.0
        for cone, place in zip(form.cones, form.places, strict=True):
            block = v[place]
            if cone.kind == "orthant":
                diagonal[place] = block**2
            elif cone.kind == "second-order":
                det = float(block[0] ** 2 - block[1:] @ block[1:])
                diagonal[place] = det
                diagonal[place.start] = -det
                vectors[place] = np.sqrt(2.0) * block
            elif cone.kind == "psd" and cone.length:
                blocks.append(_Matrix.of(form, cone, place, block))
            if cone.kind != "free":
                largest = max(largest, float(np.abs(block).max(initial=0.0)))
        for cone, place in zip(form.cones, form.places, strict=True):
            if cone.kind == "free":
                diagonal[place] = (FREE_WEIGHT * (largest or 1.0)) ** 2
        gram = _gram(form, diagonal, vectors)
        for matrix in blocks:
            matrix.add_to(gram)
        entries = np.diagonal(gram)
        if not np.isfinite(gram).all() or (entries < 0).any():
            return None
        scale = np.where(entries > 0, 1.0 / np.sqrt(np.where(entries > 0, entries, 1.0)), 1.0)
        gram *= scale[:, None]
        gram *= scale  # one after the other: their product may overflow
        gram[np.diag_indices(len(gram))] += RIDGE + (entries == 0)
        factor, failed = dpotrf(gram.T, lower=1, clean=0)
        if failed:
            return None
        return cls(form, diagonal, vectors, tuple(blocks), scale, np.asarray(factor))

    def step(self, r: Array) -> Array:
        """Return the shortest u with Mu = r, about."""
        form = self.form
        y = self.scale * cho_solve((self.factor, True), self.scale * r, check_finite=False)
        pulled = np.asarray(form.row_space.adjoint @ y)
        u = self.diagonal * pulled
        for cone, place in zip(form.cones, form.places, strict=True):
            if cone.kind == "second-order":
                vector = self.vectors[place]
                u[place] += vector * float(vector @ pulled[place])
        for matrix in self.blocks:
            u[matrix.place] = matrix.step(y)
        return u


@dataclass(frozen=True, eq=False)
class _Matrix:
    """The rows of a form in one psd block, as matrices L'S L with Z = L L'."""

    cone: Cone
    place: slice
    rows: Indices
    root: Array
    images: Array

    @classmethod
    def of(cls, form: ConicForm, cone: Cone, place: slice, v: Array) -> _Matrix:
        n = cone.n
        values, vectors = eigh(cone.matrix(v))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        rows, part = _dense_rows(form, place)
        S = (cone.dual if cone.packed else cone).matrices(part)
        images = np.matmul(np.matmul(root.T, S), root)
        return cls(cone, place, rows, root, images.reshape(rows.size, n * n))

    def add_to(self, gram: Array) -> None:
        gram[np.ix_(self.rows, self.rows)] += self.images @ self.images.T

    def step(self, y: Array) -> Array:
        n = self.cone.n
        inner = (self.images.T @ y[self.rows]).reshape(n, n)
        full = self.root @ inner @ self.root.T
        return self.cone.vector(0.5 * (full + full.T))


def _dense_rows(form: ConicForm, place: slice) -> tuple[Indices, Array]:
    """Return the rows with entries in a block, and these entries."""
    C = form.row_space.columns
    begin, end = C.indptr[place.start], C.indptr[place.stop]
    rows, index = np.unique(C.indices[begin:end], return_inverse=True)
    entries = np.zeros((rows.size, place.stop - place.start))
    lengths = np.diff(C.indptr[place.start : place.stop + 1])
    entries[index, np.repeat(np.arange(lengths.size), lengths)] = C.data[begin:end]
    return rows, entries


def _gram(form: ConicForm, diagonal: Array, vectors: Array) -> Array:
    """Return M D M' plus the products of the vectors of second-order blocks."""
    A = form.A
    if A.nnz > DENSE * A.shape[0] * A.shape[1]:
        dense = A.toarray()
        gram = (dense * diagonal) @ dense.T
    else:
        scaled = sp.csr_array((A.data * diagonal[A.indices], A.indices, A.indptr), A.shape)
        gram = (scaled @ form.row_space.adjoint).toarray()
    places = [
        place
        for cone, place in zip(form.cones, form.places, strict=True)
        if cone.kind == "second-order"
    ]
    if places:
        count = [place.stop - place.start for place in places]
        at = np.concatenate([np.arange(place.start, place.stop) for place in places])
        owner = np.repeat(np.arange(len(places)), count)
        V = A @ sp.csr_array((vectors[at], (at, owner)), (A.shape[1], len(places)))
        V = V.toarray()
        gram += V @ V.T
    return np.asarray(gram)


def _flops(form: ConicForm) -> float:
    """Return about the flops of the Gram matrix of a form and its factor."""
    m = float(form.A.shape[0])
    sides = [float(cone.n) for cone in form.cones if cone.kind == "psd"]
    return m**3 / 3 + sum(m * n**2 * (4 * n + m) for n in sides)
