"""Eigenvalue engines, matrices for them and for the proofs, and storages."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from condal import eigen, storage
from condal.linalg.symmetric import Symmetric
from condal.linalg.terms import GramTerm
from condal.linalg.triangles import LowerTerm
from condal_lab.generated import planar_union
from spaces import random_symmetric

ENGINES = [
    eigen.Dense(),
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


def of_graph(graph: Any) -> Symmetric:
    """The matrix of a graph as a sparse part."""
    return Symmetric(graph.shape[0], sparse=(sp.csr_array(graph, dtype=float),))


# Sparse matrices with eigenvalues of both signs.
INDEFINITE: dict[str, Callable[[], Symmetric]] = {
    "torus": lambda: of_graph(torus(12)),
    "signed graph": lambda: of_graph(random_graph(300, 0.02, 0, signed=True)),
    "planar": lambda: of_graph(planar_union(300)),
    "diagonal": lambda: Symmetric(50, diagonal=np.linspace(-1.0, 1.0, 50)),
}


def exactly(V: Symmetric) -> list[list[Fraction]]:
    """The sum of V's parts in rational arithmetic, without any rounding."""
    zero = np.zeros((V.n, V.n))
    layers = [part.toarray() for part in V.sparse]
    layers.append(zero if V.dense is None else V.dense)
    layers += [term.full for term in V.terms if isinstance(term, LowerTerm)]
    layers.append(zero if V.diagonal is None else np.diag(V.diagonal))
    layers += [operator.matmat(np.eye(V.n)) for operator in V.operators]
    total = [[sum(Fraction(m[i, j]) for m in layers) for j in range(V.n)] for i in range(V.n)]
    for gram in (term for term in V.terms if isinstance(term, GramTerm)):
        rows = gram.a.toarray() if sp.issparse(gram.a) else gram.a
        for row, weight in zip(rows, gram.w, strict=True):
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


STORAGES: dict[str, Callable[[int], Any]] = {
    "Dense": lambda n: storage.Dense(),
    "Factored": storage.Factored,
    "Sketch": lambda n: storage.Sketch(n, n),  # exact at full rank
    "Atoms": lambda n: storage.Atoms(),
    "Factor": lambda n: storage.Factor(),
}
