"""How the rows of a factor R make a point: R_b R_b' for each block b, one below the other in R."""

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

ROUNDING = 1e-14  # of the largest eigenvalue: what a factorisation makes of 0


@dataclass(frozen=True)
class Block:
    """The rows of R that a domain's point is made of.

    Where the trace is a bound, `slack`, R has a row more below them, whose square is what the point
    leaves of it.
    """

    X: Spectral
    begin: int
    slack: bool

    @property
    def rows(self) -> slice:
        """Those of the point."""
        return slice(self.begin, self.begin + self.X.n)

    @property
    def every(self) -> slice:
        """Those of the point, and of the slack."""
        return slice(self.begin, self.begin + self.X.n + self.slack)


@dataclass(frozen=True)
class Layout:
    """The blocks of R, from the top; `alone` where x is a matrix, and no tuple."""

    blocks: tuple[Block, ...]
    alone: bool

    @classmethod
    def of(cls, problem: Problem) -> Layout:
        """One block for each part of X, which must all be spectral."""
        parts = spectral_parts(problem.X)
        assert parts is not None
        blocks: list[Block] = []
        for X in parts:
            blocks.append(Block(X, blocks[-1].every.stop if blocks else 0, X.at_most))
        return cls(tuple(blocks), isinstance(problem.X, Spectral))

    @classmethod
    def exact(cls, X: Spectral) -> Layout:
        """One block, of a surface that leaves nothing of the trace open."""
        return cls((Block(X, 0, False),), alone=True)

    @property
    def height(self) -> int:
        """The number of rows of R."""
        return self.blocks[-1].every.stop

    @property
    def plain(self) -> bool:
        """Whether R is the factor of one matrix, and no more."""
        return self.alone and not self.blocks[0].slack

    def point(self, R: Array) -> Point:
        """x = R R', or its blocks."""
        ones = np.ones(R.shape[1])
        parts = tuple(LowRank(R[block.rows], ones) for block in self.blocks)
        return parts[0] if self.alone else parts

    def product(self, V: Gradient, R: Array) -> Array:
        """V R block by block, and 0 in the rows of slack."""
        if self.plain:
            assert isinstance(V, Symmetric)
            return V @ R
        each = zip(self.parts(V), self.blocks, strict=True)
        return self.stacked([v @ R[block.rows] for v, block in each])

    def stacked(self, parts: Sequence[Array]) -> Array:
        """The parts as rows of R, and 0 in those of slack."""
        out = np.zeros((self.height, parts[0].shape[1]))
        for block, part in zip(self.blocks, parts, strict=True):
            out[block.rows] = part
        return out

    def columns(self, block: Block, vectors: Array) -> Array:
        """Columns of R that are 0 but in a block."""
        if self.plain:
            return vectors
        out = np.zeros((self.height, vectors.shape[1]))
        out[block.rows] = vectors
        return out

    def parts(self, V: Gradient) -> tuple[Symmetric, ...]:
        """The gradient on each block."""
        parts = V if isinstance(V, tuple) else (V,)
        return tuple(part for part in parts if isinstance(part, Symmetric))

    def diagonal(self, V: Gradient) -> Array:
        """That of V for each row, and 0 for those of slack."""
        diagonals = [v.diag()[:, None] for v in self.parts(V)]
        return diagonals[0][:, 0] if self.plain else self.stacked(diagonals)[:, 0]

    def along(self, R: Array, D: Array) -> Point:
        """R D' + D R', block by block."""
        parts = tuple(symmetric_product(R[b.rows], D[b.rows]) for b in self.blocks)
        return parts[0] if self.alone else parts

    def factor(self, x: Point) -> Array | None:
        """R of the point x, with what it leaves of a trace in the rows of slack; None for x = 0."""
        points = (x,) if self.alone else x
        assert isinstance(points, tuple)
        found = [_factor(part) for part in points]
        width = max(part.shape[1] for part in found)
        if width == 0:
            return None
        R = np.zeros((self.height, width))
        for block, part in zip(self.blocks, found, strict=True):
            R[block.rows, : part.shape[1]] = part
            if block.slack:
                left = block.X.trace - float(np.vdot(part, part))
                R[block.every.stop - 1, 0] = sqrt(max(left, 0.0))
        return R


def _factor(x: Point) -> Array:
    """R with x = R R', in its principal axes, without the columns of no account."""
    if isinstance(x, LowRank):
        U, roots, _ = np.linalg.svd(x.factor(), full_matrices=False)
    else:
        values, U = np.linalg.eigh(dense(x))
        U, roots = U[:, ::-1], np.sqrt(np.maximum(values[::-1], 0.0))
    kept = roots**2 > ROUNDING * roots.max(initial=0.0) ** 2
    return np.asarray(U[:, kept] * roots[kept])
