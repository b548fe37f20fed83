"""The instances that the laws are tried on, one list a kind: a new class is tested by being listed.

A space says what points look like: `basis` is orthonormal in the space's own inner product, so that
the matrix of a map, its norm and the norms of its rows can be had from images of the basis alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from condal import eigen, storage
from condal.domains import L1Ball, Product, Simplex, Spectrahedron
from condal.halves import BLOCK, whole
from condal.maps import (
    Across,
    Cost,
    Diagonal,
    Entries,
    Inner,
    Matrix,
    Quadratics,
    RowSums,
    Scaled,
    Stack,
    Triangle,
)
from condal.maps.quadratics import EXACT_NORM
from condal.operators import Symmetric, dot
from condal.passes import PIECE
from condal.points import LowRank, dense
from condal.sets import Box, Equal, NonNegative, NonPositive, Separable
from condal.smooth import LeastSquares, Linear

INF = np.inf


def public_classes(module: ModuleType, method: str) -> set[type]:
    """The classes that a module offers and that have a method, without its protocols."""
    names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
    found = [getattr(module, name) for name in names]
    return {
        c
        for c in found
        if inspect.isclass(c)
        and c.__module__.startswith(module.__name__)
        and hasattr(c, method)
        and not getattr(c, "_is_protocol", False)
    }


# Spaces and their points.


@dataclass(frozen=True)
class Vectors:
    """R^n."""

    n: int

    def basis(self) -> list[Any]:
        return list(np.eye(self.n))

    def points(self, rng: np.random.Generator) -> list[Any]:
        frozen = rng.standard_normal(self.n)
        frozen.flags.writeable = False
        return [frozen, rng.standard_normal(2 * self.n)[::2], np.zeros(self.n)]

    def gradient(self, rng: np.random.Generator) -> Any:
        return rng.standard_normal(self.n)


@dataclass(frozen=True)
class Matrices:
    """Symmetric n x n matrices; <a, b> = tr(ab)."""

    n: int

    def basis(self) -> list[Any]:
        found = []
        for i in range(self.n):
            for j in range(i + 1):
                e = np.zeros((self.n, self.n))
                e[i, j] = e[j, i] = 1.0 if i == j else np.sqrt(0.5)
                found.append(e)
        return found

    def points(self, rng: np.random.Generator) -> list[Any]:
        frozen = random_symmetric(self.n, rng)
        frozen.flags.writeable = False
        return [
            frozen,
            np.asfortranarray(random_symmetric(self.n, rng)),
            random_lowrank(self.n, 1, rng),
            random_lowrank(self.n, 3, rng),
            LowRank(rng.standard_normal((self.n, 2)), np.array([1.0, -2.0])),
            LowRank(np.zeros((self.n, 0)), np.zeros(0)),
        ]

    def gradient(self, rng: np.random.Generator) -> Symmetric:
        return Symmetric(
            self.n,
            sparse=(sp.csr_array(random_symmetric(self.n, rng)),),
            diagonal=rng.standard_normal(self.n),
            pairs=((rng.standard_normal(self.n), rng.standard_normal(self.n)),),
        )


@dataclass(frozen=True)
class Tuples:
    """Blocks of other spaces."""

    parts: tuple[Any, ...]

    def basis(self) -> list[Any]:
        found = []
        for i, part in enumerate(self.parts):
            for e in part.basis():
                zeros = [0.0 * q.basis()[0] for q in self.parts]
                zeros[i] = e
                found.append(tuple(zeros))
        return found

    def points(self, rng: np.random.Generator) -> list[Any]:
        choices = [part.points(rng) for part in self.parts]
        return [tuple(c[i % len(c)] for c in choices) for i in range(max(map(len, choices)))]

    def gradient(self, rng: np.random.Generator) -> Any:
        return tuple(part.gradient(rng) for part in self.parts)


def random_symmetric(n: int, rng: np.random.Generator) -> np.ndarray:
    a = rng.standard_normal((n, n))
    return 0.5 * (a + a.T)


def random_lowrank(n: int, rank: int, rng: np.random.Generator) -> LowRank:
    return LowRank(rng.standard_normal((n, rank)), rng.random(rank) + 0.1)


def combination(a: float, x: Any, b: float, y: Any) -> Any:
    """a x + b y, dense."""
    if isinstance(x, tuple):
        return tuple(combination(a, p, b, q) for p, q in zip(x, y, strict=True))
    return a * dense(x) + b * dense(y)


def length(x: Any) -> float:
    """|x|, Euclidean."""
    if isinstance(x, tuple):
        return float(np.linalg.norm([length(part) for part in x]))
    return float(np.linalg.norm(dense(x)))


def coordinates(v: Any, space: Any) -> np.ndarray:
    """A gradient in the space's basis."""
    return np.array([dot(v, e) for e in space.basis()])


def matrix_of(A: Any, space: Any) -> np.ndarray:
    """The matrix of a map in the space's basis."""
    basis = space.basis()
    return np.array([A(e) for e in basis]).reshape(len(basis), A.size).T


# Linear maps.


@dataclass(frozen=True)
class MapCase:
    name: str
    A: Any
    space: Any
    exact: bool = True  # whether `norm` is |A| itself and not only above it


def _maps() -> Iterator[MapCase]:
    rng = np.random.default_rng(1)
    S5, S4 = (sp.csr_array(sp.random(n, n, 0.4, random_state=n)) for n in (5, 4))
    S5, S4 = S5 + S5.T, S4 + S4.T
    rows = np.array([0, 0, 1, 1, 4, 3, 2, 2, 2])
    cols = np.array([0, 1, 0, 1, 4, 4, 3, 3, 2])
    thin = sp.csr_array(([1.0, 0.0, 1.0], ([0, 1, 2], [2, 1, 0])), shape=(4, 4))
    operator = aslinearoperator(random_symmetric(4, rng))
    yield MapCase("Diagonal", Diagonal(5), Matrices(5))
    yield MapCase("Diagonal, n = 1", Diagonal(1), Matrices(1))
    yield MapCase("RowSums", RowSums(5), Matrices(5))
    yield MapCase("RowSums, n = 1", RowSums(1), Matrices(1))
    yield MapCase("Entries", Entries(5, rows, cols), Matrices(5))
    yield MapCase("Entries off the diagonal", Entries(4, [0, 3], [1, 1]), Matrices(4))
    yield MapCase("Entries, all", Entries(4), Matrices(4))
    yield MapCase("Entries, none", Entries(4, rows[:0], cols[:0]), Matrices(4))
    yield MapCase("Triangle", Triangle(5), Matrices(5))
    yield MapCase("Triangle, n = 1", Triangle(1), Matrices(1))
    yield MapCase("Triangle, of a factor", Triangle(4, -0.3), Matrices(4))
    yield MapCase("Triangle, of blocks", Triangle(BLOCK + 3, 2.0), Matrices(BLOCK + 3))
    yield MapCase("Stack, long", Stack(RowSums(4), Triangle(4)), Matrices(4), False)
    yield MapCase("Inner", Inner([S4, random_symmetric(4, rng), thin, np.eye(4)]), Matrices(4))
    yield MapCase("Inner, dependent", Inner([S5, 2 * S5, sp.csr_array((5, 5))]), Matrices(5))
    yield MapCase("Inner, zero", Inner([np.zeros((3, 3))]), Matrices(3))
    mixed = Diagonal(4).adjoint(np.arange(4.0)) + RowSums(4).adjoint(np.ones(4))
    yield MapCase(
        "Inner, of gradients", Inner([mixed, Diagonal(4).adjoint(np.ones(4))]), Matrices(4)
    )
    yield MapCase(
        "Cost, sparse", Cost(Symmetric(5, sparse=(S5,), diagonal=np.ones(5))), Matrices(5)
    )
    yield MapCase("Cost, dense", Cost(Matrices(4).gradient(rng)), Matrices(4))
    yield MapCase(
        "Cost, matrix-free", Cost(Symmetric(4, operators=(operator,))), Matrices(4), False
    )
    yield MapCase("Matrix, tall", Matrix(rng.standard_normal((5, 3))), Vectors(3))
    yield MapCase("Matrix, wide", Matrix(np.asfortranarray(rng.random((2, 6)))), Vectors(6))
    yield MapCase("Matrix, sparse", Matrix(sp.random(6, 4, 0.5, random_state=0)), Vectors(4))
    yield MapCase("Matrix, one row", Matrix([1, 2, 3]), Vectors(3))
    factors = np.array([1.0, 0.5, 3.0, 1e-3, 2.0])
    yield MapCase("Scaled", Scaled(RowSums(5), factors), Matrices(5), False)
    yield MapCase("Scaled, negative", Scaled(Diagonal(5), -factors), Matrices(5))
    yield MapCase("Scaled, none", Scaled(Stack(), np.zeros(0)), Matrices(2))
    yield MapCase("Stack", Stack(Diagonal(4), RowSums(4), Inner([S4])), Matrices(4), False)
    yield MapCase("Stack, nothing", Stack(), Matrices(3))
    yield MapCase("Stack, with an empty one", Stack(Diagonal(3), Stack()), Matrices(3))
    blocks = Tuples((Matrices(4), Vectors(3)))
    across = Across(Diagonal(4), Matrix(rng.standard_normal((4, 3))))
    yield MapCase("Across", across, blocks, False)
    a = rng.standard_normal((7, 4))
    thinned = np.where(np.abs(a) > 0.7, a, 0.0)
    rows = rng.standard_normal(7)
    long = rng.standard_normal((EXACT_NORM + 5, 3))
    yield MapCase("Quadratics", Quadratics(a, rows), Matrices(4))
    yield MapCase("Quadratics, sparse", Quadratics(sp.coo_array(thinned)), Matrices(4))
    free = Quadratics(aslinearoperator(a), rows)
    yield MapCase("Quadratics, matrix-free", free, Matrices(4), False)
    yield MapCase("Quadratics, many", Quadratics(long), Matrices(3), False)
    yield MapCase("Quadratics, one", Quadratics([[2.0]]), Matrices(1))
    twice = Stack(across, Across(Cost(Symmetric(4, sparse=(S4,))), Matrix(np.ones(3))))
    yield MapCase("Stack of Across", twice, blocks, False)


MAPS = list(_maps())


# Sets K.


@dataclass(frozen=True)
class SetCase:
    name: str
    h: Any
    member: Callable[[np.random.Generator], np.ndarray]


def _between(low: Any, high: Any) -> Callable[[np.random.Generator], np.ndarray]:
    """Random points of a box, found without its projection; infinite sides reach some way out."""
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    bottom = np.where(np.isfinite(low), low, np.minimum(high, 0) - 20)
    bottom = np.where(np.isfinite(bottom), bottom, -20.0)
    top = np.where(np.isfinite(high), high, np.maximum(bottom, 0) + 20)

    def member(rng: np.random.Generator) -> np.ndarray:
        share = rng.choice([0.0, 1.0, float(rng.random())], size=low.size)
        return np.clip(bottom + share * (top - bottom), bottom, top)

    return member


def _together(*cases: SetCase) -> SetCase:
    def member(rng: np.random.Generator) -> np.ndarray:
        return np.concatenate([case.member(rng) for case in cases])

    name = "Separable of " + ", ".join(case.name for case in cases)
    return SetCase(name, Separable(*(case.h for case in cases)), member)


def _sets() -> Iterator[SetCase]:
    b = np.array([1.0, -2.0, 0.0, 1e3])
    equal = SetCase("Equal", Equal(b), lambda rng: b.copy())
    low, high = [-1.0, 0.0, -INF, 2.0, -INF, -3.0], [1.0, 0.0, 1.0, INF, INF, -1.0]
    box = SetCase("Box", Box(low, high), _between(low, high))
    positive = SetCase("NonNegative", NonNegative(3), _between([0.0] * 3, [INF] * 3))
    negative = SetCase("NonPositive", NonPositive(2), _between([-INF] * 2, [0.0] * 2))
    yield from (equal, box, positive, negative)
    yield SetCase("Box, finite", Box([-1, -5], [2, -1]), _between([-1, -5], [2, -1]))
    yield SetCase("Box, free", Box([-INF] * 2, [INF] * 2), _between([-INF] * 2, [INF] * 2))
    yield SetCase("Equal, nothing", Equal(np.zeros(0)), lambda rng: np.zeros(0))
    yield SetCase("Separable of nothing", Separable(), lambda rng: np.zeros(0))
    yield (both := _together(equal, box, positive, negative))
    yield _together(both, positive)


SETS = list(_sets())


def long_set() -> Separable:
    """One that does not fit a piece, nor do most of its parts."""
    rng = np.random.default_rng(4)
    low = rng.choice([-1.0, -INF], PIECE + 1)
    return Separable(
        NonNegative(2 * PIECE + 1),
        Equal(rng.standard_normal(PIECE + 7)),
        NonPositive(PIECE),
        Box(low, rng.choice([0.5, INF], low.size)),
    )


def multipliers_obey_their_law(h: Any, z: np.ndarray) -> None:
    """They are lam (z - prox(z, 1/lam)) but for rounding, and points of dom h* in spite of it."""
    for lam in (1e-8, 0.1, 3.0, 1e8):
        w, p = h.multiplier(z, lam), h.prox(z, 1 / lam)
        size = np.abs(z).max(initial=0.0) + np.abs(p).max(initial=0.0)
        np.testing.assert_allclose(w, lam * (z - p), rtol=1e-12, atol=1e-14 * lam * size)
        assert np.isfinite(h.conjugate(w))
        np.testing.assert_array_equal(h.dual_point(w), w)
        at = z.copy()
        assert h.multiplier(at, lam, out=at) is at
        np.testing.assert_array_equal(at, w)


def pieces_obey_their_law(h: Any, rng: np.random.Generator) -> None:
    """They follow each other, none is long, and all that is known of h is known from them."""
    z, y = 3.0 * rng.standard_normal((2, h.size))
    places = [here for here, _ in h.pieces]
    assert [i for here in places for i in range(h.size)[here]] == list(range(h.size))
    assert all(part.size == here.stop - here.start <= PIECE for here, part in h.pieces)
    inside = h.dual_point(y)
    for name, args, at in [
        ("prox", (0.7,), z),
        ("multiplier", (2.5,), z),
        ("dual_point", (), y),
    ]:
        joined = [getattr(part, name)(at[here], *args) for here, part in h.pieces]
        whole = getattr(h, name)(at, *args)
        np.testing.assert_array_equal(np.concatenate([*joined, np.zeros(0)]), whole)
    for name, at in [("value", z), ("conjugate", inside), ("conjugate_size", inside)]:
        total = sum(getattr(part, name)(at[here]) for here, part in h.pieces)
        assert total == pytest.approx(getattr(h, name)(at), rel=1e-9)
    distances = [part.distance(z[here]) for here, part in h.pieces]
    assert np.linalg.norm(distances) == pytest.approx(h.distance(z), rel=1e-12)


# Smooth objectives.


@dataclass(frozen=True)
class SmoothCase:
    name: str
    f: Any
    space: Any
    exact: bool = True  # whether the norms behind L and `magnitude` are bounds


def _smooth() -> Iterator[SmoothCase]:
    rng = np.random.default_rng(2)
    S = sp.random(5, 5, 0.5, random_state=3)
    c = rng.standard_normal(6)
    a = rng.standard_normal((6, 4))
    blocks = Tuples((Matrices(3), Vectors(4)))
    yield SmoothCase("Linear, vector", Linear([1, -2, 3]), Vectors(3))
    yield SmoothCase("Linear, dense", Linear(random_symmetric(4, rng)), Matrices(4))
    yield SmoothCase("Linear, sparse", Linear(S + S.T), Matrices(5))
    yield SmoothCase("Linear, list", Linear([[1, 2], [2, 0]]), Matrices(2))
    yield SmoothCase("Linear, gradient", Linear(Matrices(4).gradient(rng)), Matrices(4))
    yield SmoothCase("Linear, blocks", Linear((np.eye(3), np.arange(4.0))), blocks)
    operator = aslinearoperator(random_symmetric(6, rng))
    yield SmoothCase("Linear, matrix-free", Linear(operator), Matrices(6), False)
    yield SmoothCase("LeastSquares", LeastSquares(a, c), Vectors(4))
    yield SmoothCase("LeastSquares, weighted", LeastSquares(a, c, 0.3), Vectors(4))
    yield SmoothCase("LeastSquares, far", LeastSquares(sp.csr_array(a), 1e3 * c), Vectors(4))
    yield SmoothCase("LeastSquares, entries", LeastSquares(Entries(3), np.arange(9)), Matrices(3))
    rows = Across(RowSums(3), Matrix(np.ones((3, 4))))
    yield SmoothCase("LeastSquares, blocks", LeastSquares(rows, [1, 2, 3]), blocks)


SMOOTH = list(_smooth())


# Domains X.


@dataclass(frozen=True)
class DomainCase:
    name: str
    X: Any
    space: Any
    members: Callable[[np.random.Generator], list[Any]]  # among them points as far apart as can be
    minimum: Callable[[Any], float]  # min over X of <v, .>, by other means
    exact: bool = True  # whether the oracle is exact at tol = 0


def simplex_case(n: int, radius: float) -> DomainCase:
    def members(rng: np.random.Generator) -> list[Any]:
        return [*(radius * np.eye(n)), *(radius * rng.dirichlet(np.ones(n), size=4))]

    return DomainCase(
        f"Simplex({n}, {radius:g})",
        Simplex(n, radius),
        Vectors(n),
        members,
        lambda v: radius * float(np.min(v)),
    )


def l1_case(n: int, radius: float) -> DomainCase:
    def members(rng: np.random.Generator) -> list[Any]:
        inside = rng.dirichlet(np.ones(n), size=4) * rng.choice([-1, 1], size=(4, n))
        corners = radius * np.eye(n)
        return [*corners, *-corners, *(radius * rng.random((4, 1)) * inside), np.zeros(n)]

    return DomainCase(
        f"L1Ball({n}, {radius:g})",
        L1Ball(n, radius),
        Vectors(n),
        members,
        lambda v: -radius * float(np.max(np.abs(v))),
    )


def spectral_case(
    n: int, trace: float, at_most: bool = False, engine: Any = None, exact: bool = True
) -> DomainCase:
    def members(rng: np.random.Generator) -> list[Any]:
        found: list[Any] = [trace * np.outer(e, e) for e in np.eye(n)]
        for rank in (1, 2, n):
            x = random_lowrank(n, rank, rng)
            found.append(LowRank(x.U, x.weights * (trace / x.trace)))
        u = np.linalg.qr(rng.standard_normal((n, n)))[0]
        found += [LowRank(u[:, [i]], np.array([trace])) for i in (0, n - 1)]
        if at_most:
            found += [np.zeros((n, n)), LowRank(u[:, [0]], np.zeros(1)), 0.3 * dense(found[0])]
        return found

    def minimum(v: Symmetric) -> float:
        smallest = float(np.linalg.eigvalsh(v.to_dense())[0])
        return trace * (min(smallest, 0.0) if at_most else smallest)

    X = (
        Spectrahedron(n, trace, at_most)
        if engine is None
        else Spectrahedron(n, trace, at_most, engine)
    )
    name = f"Spectrahedron({n}, {trace:g}{', at_most' * at_most}{f', {engine}' if engine else ''})"
    return DomainCase(name, X, Matrices(n), members, minimum, exact)


def product_case(*cases: DomainCase) -> DomainCase:
    def members(rng: np.random.Generator) -> list[Any]:
        choices = [case.members(rng) for case in cases]
        return [tuple(c[i % len(c)] for c in choices) for i in range(max(map(len, choices)))]

    return DomainCase(
        "Product of " + ", ".join(case.name for case in cases),
        Product(*(case.X for case in cases)),
        Tuples(tuple(case.space for case in cases)),
        members,
        lambda v: sum(case.minimum(w) for case, w in zip(cases, v, strict=True)),
        all(case.exact for case in cases),
    )


DOMAINS = [
    simplex_case(1, 2.0),
    simplex_case(2, 1.0),
    simplex_case(6, 0.5),
    l1_case(1, 2.0),
    l1_case(5, 3.0),
    spectral_case(1, 2.0),
    spectral_case(1, 2.0, at_most=True),
    spectral_case(2, 1.0),
    spectral_case(2, 3.0, at_most=True),
    spectral_case(7, 5.0),
    spectral_case(7, 0.1, at_most=True),
    spectral_case(60, 60.0, engine=eigen.Lanczos()),
    spectral_case(60, 2.0, engine=eigen.Arpack()),
    spectral_case(60, 1.0, at_most=True),
    product_case(simplex_case(3, 1.0), spectral_case(4, 2.0)),
    product_case(l1_case(2, 1.0), product_case(simplex_case(2, 1.0), l1_case(1, 1.0))),
]


# Eigenvalue engines, and matrices for them and for the proofs.

ENGINES = [
    eigen.Dense(),
    eigen.Arpack(),
    eigen.Lanczos(),
    eigen.Lanczos(max_bytes=1),
    eigen.Automatic(),
    eigen.Automatic(dense_below=0, full_below=0),
]


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A symmetric matrix and its eigenvalues and eigenvectors, as NumPy finds them."""

    name: str
    full: np.ndarray
    values: np.ndarray
    vectors: np.ndarray

    @property
    def V(self) -> Symmetric:
        return Symmetric(len(self.full), dense=self.full)

    @property
    def size(self) -> float:
        """|V|, or 1 for V = 0."""
        return float(np.abs(self.values).max()) or 1.0


SPECTRA: dict[str, Callable[[int], np.ndarray]] = {
    "spread": lambda n: np.linspace(-1.0, 1.0, n),
    "clustered": lambda n: np.concatenate(
        [-1.0 + 1e-9 * np.arange((n + 3) // 4), np.linspace(0.0, 1.0, n)]
    )[:n],
    "multiple": lambda n: np.where(np.arange(n) < (n + 1) // 2, -1.0, 2.0),
    "singular": lambda n: np.maximum(np.linspace(-1.0, 1.0, n), 0.0),
    "nearly singular": lambda n: np.geomspace(1e-12, 1.0, n),
    "shifted": lambda n: 1e6 + np.linspace(0.0, 1.0, n),
    "one negative": lambda n: np.where(np.arange(n) == 0, -1e-6, 1.0 + np.linspace(0.0, 1.0, n)),
    "negative definite": lambda n: -np.linspace(1.0, 2.0, n),
    "identity": lambda n: np.ones(n),
    "zero": lambda n: np.zeros(n),
}


@lru_cache(maxsize=256)
def spectrum(kind: str, n: int, diagonal: bool = False) -> Spectrum:
    """A matrix of a kind in SPECTRA, or "random"; turned by a random rotation or diagonal."""
    rng = np.random.default_rng([n, len(kind)])
    if kind == "random":
        full = random_symmetric(n, rng)
        full = np.diag(np.diag(full)) if diagonal else full
    elif diagonal:
        full = np.diag(rng.permutation(SPECTRA[kind](n)))
    else:
        q = np.linalg.qr(rng.standard_normal((n, n)))[0]
        full = (q * SPECTRA[kind](n)) @ q.T
        full = 0.5 * (full + full.T)
    full.flags.writeable = False
    values, vectors = np.linalg.eigh(full)
    return Spectrum(f"{kind}, n = {n}{', diagonal' * diagonal}", full, values, vectors)


class Counted(LinearOperator):
    """A matrix that counts its products."""

    def __init__(self, full: np.ndarray) -> None:
        super().__init__(np.float64, full.shape)
        self.full = full
        self.products = 0

    def _matvec(self, v: np.ndarray) -> np.ndarray:
        self.products += 1
        return self.full @ np.ravel(v)

    def _matmat(self, v: np.ndarray) -> np.ndarray:
        self.products += v.shape[1]
        return self.full @ v


def torus(side: int) -> Any:
    """The Laplacian of a side x side grid that wraps around: clustered, singular."""
    n = side * side
    i = np.arange(n).reshape(side, side)
    pairs = [(i.ravel(), np.roll(i, 1, axis).ravel()) for axis in (0, 1)]
    a = sum(sp.coo_array((np.ones(n), pair), shape=(n, n)) for pair in pairs)
    a = sp.csr_array(a + a.T)
    return sp.csr_array(sp.diags(np.asarray(a.sum(axis=1)).ravel()) - a)


def random_graph(n: int, density: float, seed: int, *, signed: bool = False) -> Any:
    """The Laplacian of a random graph; with signed weights it is indefinite."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < density, 1).astype(float)
    if signed:
        upper *= rng.choice([-1.0, 1.0], size=(n, n))
    w = upper + upper.T
    return sp.csr_array(np.diag(w.sum(axis=1)) - w)


def exactly(V: Symmetric) -> list[list[Fraction]]:
    """The sum of V's parts in rational arithmetic, without any rounding."""
    zero = np.zeros((V.n, V.n))
    layers = [part.toarray() for part in V.sparse]
    layers.append(zero if V.dense is None else V.dense)
    layers.append(zero if V.lower is None else whole(V.lower))
    layers.append(zero if V.diagonal is None else np.diag(V.diagonal))
    layers += [operator.matmat(np.eye(V.n)) for operator in V.operators]
    total = [[sum(Fraction(m[i, j]) for m in layers) for j in range(V.n)] for i in range(V.n)]
    for a, w in V.grams:
        rows = a.toarray() if sp.issparse(a) else a
        for row, weight in zip(rows, w, strict=True):
            row = [Fraction(t) for t in row]
            for i, j in product(range(V.n), repeat=2):
                total[i][j] += Fraction(weight) * row[i] * row[j]
    for a, b in V.pairs:
        a, b = [Fraction(t) for t in a], [Fraction(t) for t in b]
        for i, j in product(range(V.n), repeat=2):
            total[i][j] += (a[i] * b[j] + b[i] * a[j]) / 2
    return total


def is_below_spectrum(bound: float, V: Symmetric) -> bool:
    """Whether V - bound I is positive semidefinite, decided in rational arithmetic: small n."""
    m = exactly(V)
    for i in range(V.n):
        m[i][i] -= Fraction(bound)
    for k in range(V.n):
        if m[k][k] < 0 or (m[k][k] == 0 and any(m[k][j] != 0 for j in range(k, V.n))):
            return False
        if m[k][k] == 0:
            continue
        for i in range(k + 1, V.n):
            factor = m[i][k] / m[k][k]
            for j in range(k + 1, V.n):
                m[i][j] -= factor * m[k][j]
    return True


# Storages: made for n x n matrices, whose atoms are LowRank.

STORAGES: dict[str, Callable[[int], Any]] = {
    "Dense": lambda n: storage.Dense(),
    "Factored": storage.Factored,
    "Sketch": lambda n: storage.Sketch(n, n),  # exact at full rank
    "Atoms": lambda n: storage.Atoms(),
    "Factor": lambda n: storage.Factor(),
}
