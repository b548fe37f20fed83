r"""Steps onto the rows in the local metric of a point inside its cones.

The metric of z is that of the barrier: :math:`z^2` for a nonnegative number,
:math:`2 z z^\top - \det(z) J` for a second-order block and :math:`S \mapsto Z S Z` for a matrix. A
step that is shorter than 1 in it stays inside. A point near the boundary may move far along it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_solve, eigh
from scipy.linalg.lapack import dpotrf

from condal.certificates.cones import Cone, ConicForm
from condal.linalg.points import Array, Indices

MAX_FLOPS = 3e9  # of the Gram matrix and its factor
DENSE = 0.1  # share of nonzeros above which products are dense
RIDGE = 1e-15  # of the unit diagonal
FREE_WEIGHT = 1.0  # of free coordinates, times the largest of the others


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
