"""What is kept of x: all of it, its factors, a sketch, or the atoms it was made from."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh, solve_triangular, svd

from condal.domains import L1Ball, Product, Simplex, Spectrahedron
from condal.errors import ProblemError
from condal.points import Array, LowRank, Point, combine, dense, nothing_like, require_whole
from condal.types import Domain, Keeps, Storage

DEFAULT_MAX_BYTES = 2**30


class Dense:
    """x as one array: n for a vector, n x n for a symmetric matrix."""

    def __init__(self) -> None:
        self._x: Array | None = None

    def move(self, s: Point, eta: float) -> None:
        """x <- (1 - eta) x + eta s."""
        atom = dense(s)
        if self._x is None or eta == 1.0:
            self._x = eta * np.asarray(atom, dtype=np.float64)  # before the first step x is 0
            return
        self._x *= 1 - eta
        self._x += eta * atom

    def load(self, x: Point) -> None:
        """x <- the given point."""
        self._x = np.array(dense(x), dtype=np.float64)

    def point(self) -> Array:
        """A copy of x."""
        if self._x is None:
            raise ProblemError("no step has been taken yet: there is no point to return")
        return self._x.copy()


class Factored:
    """x = U diag(w) U', kept exactly: a column an atom, recompressed to n columns past 2n."""

    def __init__(self, n: int) -> None:
        require_whole(n, "n")
        self.n = n
        self._columns = np.empty((16, n))  # atoms in rows: appending one is one contiguous write
        self._weights = np.zeros(16)
        self._count = 0

    def move(self, s: Point, eta: float) -> None:
        """x <- (1 - eta) x + eta s."""
        if eta == 1.0:
            self._count = 0
        self._weights[: self._count] *= 1 - eta
        self._append(_spectral(s), eta)

    def load(self, x: Point) -> None:
        """x <- the given point."""
        self._count = 0
        self._append(_spectral(x), 1.0)

    def _append(self, s: LowRank, eta: float) -> None:
        keep = s.weights != 0.0
        added = int(keep.sum())
        self._reserve(added)
        end = self._count + added
        self._columns[self._count : end] = s.U.T[keep]
        self._weights[self._count : end] = eta * s.weights[keep]
        self._count = end

    def _reserve(self, added: int) -> None:
        n = self._columns.shape[1]
        if self._count + added > 2 * n:
            self._compress()
        wanted = self._count + added
        if wanted > len(self._columns):
            room = max(wanted, min(2 * len(self._columns), 2 * n))
            columns, weights = np.empty((room, n)), np.zeros(room)
            columns[: self._count] = self._columns[: self._count]
            weights[: self._count] = self._weights[: self._count]
            self._columns, self._weights = columns, weights

    def _compress(self) -> None:
        atoms, weights = self._columns[: self._count], self._weights[: self._count]
        values, vectors = eigh((atoms.T * weights) @ atoms, overwrite_a=True, check_finite=False)
        keep = np.abs(values) > 1e-15 * np.abs(values).max(initial=0.0)
        self._count = int(keep.sum())
        self._columns[: self._count] = vectors.T[keep]
        self._weights[: self._count] = values[keep]

    def point(self) -> LowRank:
        """x as it is kept."""
        return LowRank(self._columns[: self._count].T.copy(), self._weights[: self._count].copy())


class Factor:
    """x as it was last loaded: for methods that carry a factor of it themselves."""

    def __init__(self) -> None:
        self._x: Point | None = None

    def move(self, s: Point, eta: float) -> None:
        """x <- (1 - eta) x + eta s."""
        if self._x is None or eta == 1.0:
            self._x = combine([s], np.array([eta]))
        else:
            self._x = combine([self._x, s], np.array([1 - eta, eta]))

    def load(self, x: Point) -> None:
        """x <- the given point, which is not copied."""
        self._x = x

    def point(self) -> Point:
        """A copy of x."""
        if self._x is None:
            raise ProblemError("no step has been taken yet: there is no point to return")
        return combine([self._x], np.ones(1))


class Sketch:
    """S = x Omega, the Nystrom sketch: n x R numbers instead of n x n.

    Tropp, Yurtsever, Udell and Cevher (2017). The reconstruction has rank at most R; the trace that
    it misses is spread evenly over its eigenvalues.
    """

    def __init__(self, n: int, R: int, *, seed: int = 0) -> None:
        require_whole(n, "n")
        require_whole(R, "R")
        self.n = n
        self.R = min(int(R), n)
        self._seed = [seed, n, self.R]
        self._S = np.zeros((n, self.R))
        self._trace = 0.0

    @cached_property
    def _omega(self) -> Array:
        return np.random.default_rng(self._seed).standard_normal(self._S.shape)

    def move(self, s: Point, eta: float) -> None:
        """S <- (1 - eta) S + eta s Omega."""
        s = _spectral(s)
        self._S *= 1 - eta
        self._S += (s.U * (eta * s.weights)) @ (s.U.T @ self._omega)
        self._trace = (1 - eta) * self._trace + eta * s.trace

    def load(self, x: Point) -> None:
        """S <- x Omega."""
        if isinstance(x, LowRank):
            self._S = (x.U * x.weights) @ (x.U.T @ self._omega)
            self._trace = x.trace
        else:
            full = dense(x)
            self._S, self._trace = full @ self._omega, float(np.trace(full))

    def point(self) -> LowRank:
        """The reconstruction, of rank R, with the trace of x."""
        n = self._S.shape[0]
        largest = float(np.sqrt(np.einsum("ij,ij->j", self._S, self._S).max()))
        if largest == 0.0:
            return LowRank(np.eye(n, self.R), np.full(self.R, self._trace / self.R))
        shift = np.sqrt(n) * np.finfo(np.float64).eps * largest
        while True:
            S = self._S + shift * self._omega
            core = self._omega.T @ S
            try:
                L = cholesky(0.5 * (core + core.T), lower=True)
                break
            except LinAlgError:  # a sketch of rank below R: a larger shift makes it definite
                shift *= 10
        U, sigma, _ = svd(solve_triangular(L, S.T, lower=True).T, full_matrices=False)
        values = np.maximum(sigma**2 - shift, 0.0)
        missing = (self._trace - values.sum()) / self.R
        return LowRank(U, np.maximum(values + missing, 0.0))


class Atoms:
    """x = sum_i weights_i s_i, the points that the oracle gave and their weights.

    With `by_block`, the blocks of a point of a Product are atoms of their own, and each block has
    weights that add up to 1.
    """

    def __init__(self, *, by_block: bool = False) -> None:
        self._by_block = by_block
        self._forget()

    def _forget(self) -> None:
        self.points: list[Point] = []
        self.weights = np.zeros(0)
        self.blocks = np.zeros(0, dtype=np.intp)

    def move(self, s: Point, eta: float) -> None:
        """Every weight shrinks by 1 - eta; s joins with eta."""
        if eta == 1.0:
            self._forget()
        parts = s if self._by_block and isinstance(s, tuple) else (s,)
        self.points.extend(parts)
        self.weights = np.append(self.weights * (1 - eta), np.full(len(parts), eta))
        self.blocks = np.append(self.blocks, np.arange(len(parts)))

    def load(self, x: Point) -> None:
        """One atom, x itself; one a block with `by_block`."""
        self.move(x, 1.0)

    def split(self, s: Point) -> tuple[Point, ...]:
        """The atoms that s joins as, each a point of the whole space; they add up to s."""
        if not (self._by_block and isinstance(s, tuple)):
            return (s,)
        zero = [nothing_like(part) for part in s]
        return tuple((*zero[:i], part, *zero[i + 1 :]) for i, part in enumerate(s))

    def whole(self) -> tuple[Point, ...]:
        """The atoms, each a point of the whole space."""
        if not self._by_block:
            return tuple(self.points)
        first = tuple(self.points[int(np.argmax(self.blocks == b))] for b in set(self.blocks))
        zero = [nothing_like(part) for part in first]
        return tuple(
            (*zero[:b], point, *zero[b + 1 :])
            for b, point in zip(self.blocks, self.points, strict=True)
        )

    def reweigh(self, weights: Array) -> None:
        """x <- sum_i weights_i s_i; the atoms of weight 0 are dropped."""
        kept = np.flatnonzero(weights > 0)
        self.points = [self.points[i] for i in kept]
        self.weights, self.blocks = weights[kept], self.blocks[kept]

    def point(self) -> Point:
        """The weighted sum."""
        if not self.points:
            raise ProblemError("no step has been taken yet: there is no point to return")
        if not self._by_block:
            return combine(self.points, self.weights)
        return tuple(
            combine(
                [self.points[i] for i in np.flatnonzero(self.blocks == b)],
                self.weights[self.blocks == b],
            )
            for b in range(int(self.blocks.max()) + 1)
        )


class Blocks:
    """A storage a block, for a Product."""

    def __init__(self, *parts: Storage) -> None:
        self.parts = parts

    def move(self, s: Point, eta: float) -> None:
        """Block by block."""
        assert isinstance(s, tuple)
        for part, block in zip(self.parts, s, strict=True):
            part.move(block, eta)

    def load(self, x: Point) -> None:
        """Block by block."""
        assert isinstance(x, tuple)
        for part, block in zip(self.parts, x, strict=True):
            part.load(block)

    def point(self) -> Point:
        """The tuple of the blocks' points."""
        return tuple(part.point() for part in self.parts)


def _spectral(x: Point) -> LowRank:
    if isinstance(x, LowRank):
        return x
    values, vectors = eigh(dense(x))
    return LowRank(vectors, values)


def require_fit(storage: Storage, X: Domain) -> None:
    """Raise ProblemError if the storage cannot keep points of X."""
    spectral = isinstance(storage, Factored | Sketch)
    if isinstance(X, Product):
        fits = not (spectral or isinstance(storage, Dense))
        wanted = "Blocks(...), a storage a block, or Atoms()"
    elif isinstance(X, Spectrahedron):
        fits = not spectral or storage.n == X.n  # type: ignore[attr-defined]
        wanted = f"one for n = {X.n}, such as Factored({X.n})"
    else:
        fits = not (spectral and isinstance(X, Simplex | L1Ball))
        wanted = "Dense() or Atoms()"
    if not fits:
        raise ProblemError(
            f"storage {type(storage).__name__} does not fit the domain {type(X).__name__}: pass "
            f"{wanted}, or leave it out"
        )


def automatic(
    X: Domain,
    p: int,
    *,
    keeps: Keeps = "x",
    seed: int = 0,
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> Storage:
    """Dense for vectors; for matrices Factored while 2n columns fit, else a Sketch.

    A method that `keeps` the atoms, or only a sketch, gets that. The rank of the sketch is the
    Barvinok-Pataki bound sqrt(2 p) on that of some solution, p the number of rows of A and M, or
    what the memory holds, with what its reconstruction takes.
    """
    if keeps in ("atoms", "atoms by block"):
        return Atoms(by_block=keeps == "atoms by block")
    if keeps == "factor":
        return Factor()
    if isinstance(X, Product):
        share = max_bytes // len(X.parts)
        return Blocks(
            *(automatic(part, p, keeps=keeps, seed=seed, max_bytes=share) for part in X.parts)
        )
    if not isinstance(X, Spectrahedron):
        return Dense()
    if (
        keeps == "x" and 3 * 8 * X.n * 2 * X.n <= max_bytes
    ):  # the columns, and twice their size to compress them
        return Factored(X.n)
    enough = int(np.ceil(np.sqrt(2 * p))) + 1
    return Sketch(X.n, max(1, min(enough, max_bytes // (8 * 8 * X.n))), seed=seed)
