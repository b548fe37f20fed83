"""The layout of a factor R: blocks of rows R_b, each with the point R_b R_b'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, LowRank, Point, dense, symmetric_product
from condal.linalg.symmetric import Symmetric
from condal.types import Spectral, spectral_parts

if TYPE_CHECKING:
    from condal.problem import Problem

ZERO_EIGENVALUE = 1e-14  # of the largest eigenvalue: smaller ones are rounding


@dataclass(frozen=True)
class Block:
    """The rows of R of one domain.

    Where the trace is only bounded, `slack` is True: R has one more row below them, whose square is
    the slack of the bound.
    """

    X: Spectral
    begin: int
    slack: bool

    @property
    def rows(self) -> slice:
        """The rows of the point."""
        return slice(self.begin, self.begin + self.X.n)

    @property
    def every(self) -> slice:
        """The rows of the point and of the slack."""
        return slice(self.begin, self.begin + self.X.n + self.slack)


@dataclass(frozen=True)
class Layout:
    """The blocks of R, from the top; `alone` if x is one matrix and not a tuple."""

    blocks: tuple[Block, ...]
    alone: bool

    @classmethod
    def of(cls, problem: Problem) -> Layout:
        """Return the layout with one block for each part of X, which must all be spectral."""
        parts = spectral_parts(problem.X)
        assert parts is not None
        blocks: list[Block] = []
        for X in parts:
            blocks.append(Block(X, blocks[-1].every.stop if blocks else 0, X.at_most))
        return cls(tuple(blocks), isinstance(problem.X, Spectral))

    @classmethod
    def exact(cls, X: Spectral) -> Layout:
        """Return the layout of one block on a surface that fixes the trace."""
        return cls((Block(X, 0, False),), alone=True)

    @property
    def height(self) -> int:
        """The number of rows of R."""
        return self.blocks[-1].every.stop

    @property
    def plain(self) -> bool:
        """Whether R is the factor of one matrix, without slack."""
        return self.alone and not self.blocks[0].slack

    def normals(self, seed: int, columns: int) -> Array:
        """Return an R of standard normal numbers."""
        make = getattr(self.blocks[0].X, "normals", None)
        if make is not None:  # its rows are on many ranks
            sharded: Array = make(seed, columns)
            return sharded
        return np.random.default_rng(seed).standard_normal((self.height, columns))

    def point(self, R: Array) -> Point:
        """Return x = R R', or the tuple of its blocks."""
        ones = np.ones(R.shape[1])
        parts = tuple(LowRank(R[block.rows], ones) for block in self.blocks)
        return parts[0] if self.alone else parts

    def product(self, V: Gradient, R: Array) -> Array:
        """Return V R block by block, with 0 in the rows of slack."""
        if self.plain:
            assert isinstance(V, Symmetric)
            return V @ R
        each = zip(self.parts(V), self.blocks, strict=True)
        return self.stacked([v @ R[block.rows] for v, block in each])

    def stacked(self, parts: Sequence[Array]) -> Array:
        """Stack the parts as the rows of R, with 0 in the rows of slack."""
        out = np.zeros((self.height, parts[0].shape[1]))
        for block, part in zip(self.blocks, parts, strict=True):
            out[block.rows] = part
        return out

    def columns(self, block: Block, vectors: Array) -> Array:
        """Extend the vectors of a block by 0 to columns of R."""
        if self.plain:
            return vectors
        out = np.zeros((self.height, vectors.shape[1]))
        out[block.rows] = vectors
        return out

    def parts(self, V: Gradient) -> tuple[Symmetric, ...]:
        """Return the gradient of each block."""
        parts = V if isinstance(V, tuple) else (V,)
        return tuple(part for part in parts if isinstance(part, Symmetric))

    def diagonal(self, V: Gradient) -> Array:
        """Return the diagonal of V for each row, with 0 in the rows of slack."""
        diagonals = [v.diag()[:, None] for v in self.parts(V)]
        return diagonals[0][:, 0] if self.plain else self.stacked(diagonals)[:, 0]

    def along(self, R: Array, D: Array) -> Point:
        """R D' + D R', block by block."""
        parts = tuple(symmetric_product(R[b.rows], D[b.rows]) for b in self.blocks)
        return parts[0] if self.alone else parts

    def factor(self, x: Point) -> Array | None:
        """Return an R of the point x, with the slack of the trace in its rows; None for x = 0."""
        points = (x,) if self.alone else x
        assert isinstance(points, tuple)
        factors = [_factor(point) for point in points]
        width = max(factor.shape[1] for factor in factors)
        if width == 0:
            return None
        R = np.zeros((self.height, width))
        for block, factor in zip(self.blocks, factors, strict=True):
            R[block.rows, : factor.shape[1]] = factor
            if block.slack:
                slack = block.X.trace - float(np.vdot(factor, factor))
                R[block.every.stop - 1, 0] = sqrt(max(slack, 0.0))
        return R


def _factor(x: Point) -> Array:
    """R with x = R R', in its principal axes, without columns that are rounding."""
    if isinstance(x, LowRank):
        U, roots, _ = np.linalg.svd(x.factor(), full_matrices=False)
    else:
        values, U = np.linalg.eigh(dense(x))
        U, roots = U[:, ::-1], np.sqrt(np.maximum(values[::-1], 0.0))
    large = roots**2 > ZERO_EIGENVALUE * roots.max(initial=0.0) ** 2
    return np.asarray(U[:, large] * roots[large])
