"""Blocks of variables in cones, with exact tests of membership.

A psd block of side n has the coordinates X_ij, i <= j, row by row. A cost or a row of coefficients
has one number per coordinate, so its matrix has half of it at (i, j) and at (j, i).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

TRIPLES = ((5, 3, 4), (5, -4, 3), (13, 5, 12), (1, 0, 1), (1, -1, 0), (25, 7, -24))


@dataclass(frozen=True)
class Block:
    """n free or nonnegative numbers, |(u_2, ..., u_n)| <= u_1, or a psd matrix of side n."""

    kind: Literal["free", "orthant", "second-order", "psd"]
    n: int

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The places of the coordinates of a psd block."""
        return [(i, j) for i in range(self.n) for j in range(i, self.n)]

    @property
    def length(self) -> int:
        return self.n * (self.n + 1) // 2 if self.kind == "psd" else self.n

    @property
    def trace(self) -> np.ndarray:
        """The coefficients of the trace: the sum, the first coordinate or the diagonal."""
        if self.kind == "psd":
            return np.array([float(i == j) for i, j in self.pairs])
        return np.ones(self.n) if self.kind == "orthant" else np.eye(1, self.n).ravel()

    @property
    def counts(self) -> np.ndarray:
        """How often each coordinate occurs in the whole matrix: 2 off the diagonal of a matrix."""
        if self.kind == "psd":
            return np.array([1.0 if i == j else 2.0 for i, j in self.pairs])
        return np.ones(self.n)

    def matrix(self, v: Sequence[Fraction]) -> list[list[Fraction]]:
        """Return the matrix of the coordinates of a psd block."""
        full = [[Fraction(0)] * self.n for _ in range(self.n)]
        for (i, j), value in zip(self.pairs, v, strict=True):
            full[i][j] = full[j][i] = value
        return full

    def has(self, v: Sequence[Fraction]) -> bool:
        """Whether v is in the cone."""
        if self.kind == "free":
            return True
        if self.kind == "orthant":
            return all(value >= 0 for value in v)
        if self.kind == "second-order":
            return v[0] >= 0 and v[0] ** 2 >= sum(value**2 for value in v[1:])
        return is_psd(self.matrix(v))

    def dual_has(self, z: Sequence[Fraction]) -> bool:
        """Whether the coefficients z are in the dual cone."""
        if self.kind == "free":
            return not any(z)
        if self.kind != "psd":
            return self.has(z)
        halves = [value / (1 if i == j else 2) for (i, j), value in zip(self.pairs, z, strict=True)]
        return is_psd(self.matrix(halves))


def is_psd(full: list[list[Fraction]]) -> bool:
    """Whether a symmetric matrix is psd, by elimination in fractions."""
    full = [row[:] for row in full]
    for k in range(len(full)):
        pivot = full[k][k]
        if pivot < 0 or (pivot == 0 and any(full[k][k:])):
            return False
        for i in range(k + 1, len(full)) if pivot else ():
            factor = full[i][k] / pivot
            for j in range(k, len(full)):
                full[i][j] -= factor * full[k][j]
    return True


# ---- points in whole numbers ---------------------------------------------------------------------


def complementary(block: Block, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return x in the cone and coefficients z of the dual cone with <x, z> = 0."""
    n = block.n
    if block.kind == "free":
        return rng.integers(-3, 4, n).astype(float), np.zeros(n)
    if block.kind == "orthant":
        ones = rng.random(n) < 0.5
        x, z = rng.integers(0, 5, n) * ones, rng.integers(0, 5, n) * ~ones
        return x.astype(float), z.astype(float)
    if block.kind == "second-order":
        t, *u = TRIPLES[rng.integers(len(TRIPLES))]
        x = np.array([t, *u]) * float(rng.integers(0, 3))
        return x, np.array([t, *(-value for value in u)]) * float(rng.integers(0, 3))
    L = np.tril(rng.integers(-1, 2, (n, n)), -1) + np.eye(n)
    R = np.round(np.linalg.inv(L)).T
    on = rng.random(n) < 0.5
    X = L @ np.diag(on * rng.integers(1, 4, n)) @ L.T
    Z = R @ np.diag(~on * rng.integers(1, 4, n)) @ R.T
    return coordinates(block, X), coordinates(block, Z) * block.counts


def inside(block: Block, rng: np.random.Generator) -> np.ndarray:
    """Return a point inside the cone."""
    if block.kind == "free":
        return rng.integers(-3, 4, block.n).astype(float)
    if block.kind == "orthant":
        return rng.integers(1, 5, block.n).astype(float)
    if block.kind == "second-order":
        return np.array([6, *rng.integers(-3, 4, block.n - 1)], dtype=float)
    X = np.triu(rng.integers(-1, 2, (block.n, block.n)), 1)
    return coordinates(block, X + X.T + np.diag(rng.integers(3, 6, block.n)))


def coordinates(block: Block, X: np.ndarray) -> np.ndarray:
    return np.array([X[i, j] for i, j in block.pairs], dtype=float)
