"""Linear maps in two forms: as a matrix of flat rows, and as condal's map."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import condal
from spaces import Hermitians, Matrices, Rectangles, Tuples, Vectors, numbers


class Image(NamedTuple):
    """The matrix, and a specialised map of it; None for the generic map."""

    rows: np.ndarray
    special: Any = None

    def made(self, space: Any, factors: np.ndarray | None = None) -> Any:
        """Return condal's map with its rows times the factors."""
        if factors is None or np.all(factors == 1.0):
            return space.map(self.rows) if self.special is None else self.special
        return space.map(self.rows * np.reshape(factors, (-1, 1)))


def random_image(space: Any, count: int, rng, whole: bool) -> Image:
    """Return `count` random linear functions: some zero, repeated or sparse."""
    rows = space.rows(rng, count, whole)
    trouble = rng.integers(8)
    if trouble == 0 and count > 1:
        rows[-1] = 2.0 * rows[0]
    elif trouble == 1 and count > 1:
        rows[-1] = 0.0
    elif trouble == 2 and count > 2:
        rows[-1] = rows[0] - rows[1]
    elif trouble == 3:
        rows = rows * (space.rows(rng, count, True) != 0)
    elif trouble == 4:
        rows = spread(space, rows, rng)
    elif trouble == 5 and count > 1 and not whole:
        rows[-1] = rows[0] + 10.0 ** rng.integers(-12, -2) * rows[-1]
    return Image(rows)


def spread(space: Any, rows: np.ndarray, rng) -> np.ndarray:
    """Scale the entries of the rows by widely different powers of 2: D A D for matrices."""
    if isinstance(space, Tuples):
        parts = zip(space.parts, space.cut(rows), strict=True)
        return np.hstack([spread(part, some, rng) for part, some in parts])
    if isinstance(space, Matrices | Hermitians):
        d = 2.0 ** rng.integers(-12, 13, space.n)
        both = np.outer(d, d).ravel()
        return rows * (both if isinstance(space, Matrices) else np.tile(both, 2))
    return rows * 2.0 ** rng.integers(-24, 25, rows.shape[1])


def structured(space: Any, rng) -> Image:
    """Return a map with a specialised class."""
    if isinstance(space, Vectors):
        return _of_vectors(space.n, rng)
    if isinstance(space, Matrices):
        return _of_symmetric(space, rng)
    if isinstance(space, Hermitians):
        return _of_hermitian(space, rng)
    if isinstance(space, Rectangles):
        return _of_rectangles(space, rng)
    assert isinstance(space, Tuples)
    return random_image(space, int(rng.integers(1, 5)), rng, True)


def _of_vectors(n: int, rng) -> Image:
    kind, eye = rng.integers(4), np.eye(n)
    if kind == 0:
        return Image(eye, condal.Identity(n))
    if kind == 1:
        rows = np.vstack([np.diff(eye, axis=0), np.zeros((1, n))])
        return Image(rows, condal.FiniteDifferences((n,)))
    rows = numbers(rng, (int(rng.integers(1, n + 2)), n), bool(rng.integers(2)))
    if kind == 2:
        return Image(rows, condal.Operator(aslinearoperator(rows)))
    return Image(rows, condal.Matrix(sp.csr_array(rows)))


def _of_symmetric(space: Matrices, rng) -> Image:
    n, kind = space.n, rng.integers(6)
    if kind == 0:
        rows = np.array([np.diag(e) for e in np.eye(n)]).reshape(n, -1)
        return Image(rows, condal.Diagonal(n))
    if kind == 1:
        return Image(_at(space, np.arange(n), None), condal.RowSums(n))
    if kind == 2:
        count = int(rng.integers(1, 2 * n + 1))
        i, j = rng.integers(0, n, count), rng.integers(0, n, count)
        return Image(_at(space, i, j), condal.Entries(n, i, j))
    if kind == 3:
        i, j = np.tril_indices(n)
        roots = np.where(i == j, 1.0, np.sqrt(2.0))
        return Image(_at(space, i, j) * roots[:, None], condal.Triangle(n))
    a = numbers(rng, (int(rng.integers(1, n + 3)), n), bool(rng.integers(2)))
    rows = np.array([np.outer(u, u).ravel() for u in a])
    if kind == 4:
        return Image(rows, condal.Quadratics(a))
    return Image(rows, condal.Quadratics(aslinearoperator(a)))


def _at(space: Matrices, i: np.ndarray, j: np.ndarray | None) -> np.ndarray:
    """Return x -> x_ij, or the sums of the rows i, as symmetric matrices."""
    n, matrices = space.n, []
    for k in range(len(i)):
        e = np.zeros((n, n))
        if j is None:
            e[i[k]] = 1.0
        else:
            e[i[k], j[k]] = 1.0
        matrices.append((0.5 * (e + e.T)).ravel())
    return np.array(matrices).reshape(len(i), n * n)


def _of_hermitian(space: Hermitians, rng) -> Image:
    n = space.n
    if rng.integers(2):
        rows = np.array([space.flat(np.diag(e)) for e in np.eye(n)])
        return Image(rows, condal.Diagonal(n, hermitian=True))
    count, whole = int(rng.integers(1, n + 3)), bool(rng.integers(2))
    a = numbers(rng, (count, n), whole) + 1j * numbers(rng, (count, n), whole)
    rows = np.array([space.flat(np.outer(u.conj(), u)) for u in a])  # <u, x u> with rows u of a
    return Image(rows, condal.Quadratics(a))


def _of_rectangles(space: Rectangles, rng) -> Image:
    m, n = space.m, space.n
    if rng.integers(2):
        count = int(rng.integers(1, m * n + 1))
        i, j = rng.integers(0, m, count), rng.integers(0, n, count)
        rows = np.zeros((count, m * n))
        rows[np.arange(count), i * n + j] = 1.0
        return Image(rows, condal.Entries.rectangular((m, n), i, j))
    a = numbers(rng, (int(rng.integers(1, 4)), m), bool(rng.integers(2)))
    return Image(np.kron(a, np.eye(n)), condal.LeftProduct(a, n))
