"""The surfaces of the factor R of x = R R', on which the trace is exact, and its layout in blocks.

A geometry keeps R on its surface, projects onto the tangent space, and computes the multiplier of
the surface: `shift` is the c, a vector or blocks, with (V - Diag c) R tangent, so V - Diag c is the
slack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Protocol

import numpy as np

from condal.linalg.blocked import add_scaled_rows, block_slices
from condal.linalg.gradients import Gradient
from condal.linalg.points import (
    Array,
    LowRank,
    Point,
    local_rows,
    principal_axes,
    symmetric_product,
    with_rows,
)
from condal.linalg.symmetric import Symmetric
from condal.types import Spectral, spectral_parts

if TYPE_CHECKING:
    from condal.problem import Problem


class Geometry(Protocol):
    """A surface of n x r matrices."""

    def on(self, R: Array) -> Array:
        """Scale R to the surface."""

    def tangent(self, R: Array, U: Array) -> Array:
        """Project U onto the tangent space at R."""

    def tangent_scaled(self, R: Array, U: Array, rows: Array) -> Array:
        """Return the tangent part of rows * U, for a tangent U."""
        return self.tangent(R, rows * U)

    def shift(self, R: Array, VR: Array) -> Array:
        """Return c, a number per row or a block per block of rows, with V R - c R tangent."""

    def subtract(self, out: Array, shift: Array, D: Array) -> None:
        """out -= Diag(shift) D."""

    def shift_diagonal(self, shift: Array) -> Array:
        """Return the diagonal of Diag(shift)."""


class RowShift(Geometry, Protocol):
    """A shift of one number per row."""

    def subtract(self, out: Array, shift: Array, D: Array) -> None:
        add_scaled_rows(out, -shift, D)

    def shift_diagonal(self, shift: Array) -> Array:
        return shift


@dataclass(frozen=True, eq=False)
class Sphere(RowShift):
    """|R|^2 = trace: psd x of fixed trace."""

    trace: float

    def on(self, R: Array) -> Array:
        scaled: Array = R * (np.sqrt(self.trace) / np.linalg.norm(R))
        return scaled

    def tangent(self, R: Array, U: Array) -> Array:
        """U - (<U, R> / trace) R."""
        tangent: Array = U - (float(np.vdot(U, R)) / self.trace) * R
        return tangent

    def shift(self, R: Array, VR: Array) -> Array:
        """<V, x> / trace, the same for every row."""
        return np.full_like(R[:, 0], float(np.vdot(VR, R)) / self.trace)


@dataclass(frozen=True, eq=False)
class UnitRows(RowShift):
    """|R_i|^2 = squares_i: psd x of fixed diagonal.

    R_i may be several consecutive rows of R, such as the two rows of a complex row.
    """

    squares: Array

    def on(self, R: Array) -> Array:
        """Scale each row to its norm; a zero row becomes a multiple of a unit vector."""
        joined = self._joined(R)
        local, lengths = local_rows(joined), np.sqrt(local_rows(self.squares))
        scaled = np.empty_like(local)
        for rows in block_slices(*local.shape):
            part = local[rows]
            norms = np.sqrt(_rowwise(part, part))
            is_zero = norms == 0.0
            if is_zero.any():
                part = part.copy()
                part[is_zero, 0] = norms[is_zero] = 1.0
            np.multiply(part, (lengths[rows] / norms)[:, None], out=scaled[rows])
        return with_rows(joined, scaled).reshape(*R.shape)

    def tangent(self, R: Array, U: Array) -> Array:
        """U_i - (<U_i, R_i> / squares_i) R_i."""
        rows, parts = self._joined(R), self._joined(U)
        across = (_rowwise(parts, rows) / self.squares)[:, None] * rows
        return np.subtract(parts, across, out=across).reshape(*R.shape)

    def tangent_scaled(self, R: Array, U: Array, rows: Array) -> Array:
        """Return the tangent part of rows * U: all of it where each R_i is one row."""
        scaled: Array = rows * U
        return scaled if len(R) == self.squares.size else self.tangent(R, scaled)

    def shift(self, R: Array, VR: Array) -> Array:
        """<(VR)_i, R_i> / squares_i."""
        shifts = _rowwise(self._joined(VR), self._joined(R)) / self.squares
        return np.repeat(shifts, len(R) // self.squares.size)

    def multipliers(self, shift: Array) -> Array:
        """Return the multiplier of each |R_i|^2 = squares_i."""
        multipliers: Array = shift.reshape(self.squares.size, -1)[:, 0]
        return multipliers

    def _joined(self, R: Array) -> Array:
        return R.reshape(self.squares.size, -1)


@dataclass(frozen=True, eq=False)
class Blocks(RowShift):
    """R in blocks of rows, each on its own surface."""

    rows: tuple[slice, ...]
    surfaces: tuple[Geometry, ...]

    def on(self, R: Array) -> Array:
        return np.vstack([surface.on(R[rows]) for rows, surface in self._each()])

    def tangent(self, R: Array, U: Array) -> Array:
        return np.vstack([surface.tangent(R[rows], U[rows]) for rows, surface in self._each()])

    def shift(self, R: Array, VR: Array) -> Array:
        return np.concatenate([surface.shift(R[rows], VR[rows]) for rows, surface in self._each()])

    def _each(self) -> Iterator[tuple[slice, Geometry]]:
        return zip(self.rows, self.surfaces, strict=True)


@dataclass(frozen=True, eq=False)
class StiefelBlocks(Geometry):
    """R_i R_i' = I for blocks R_i of d consecutive rows: psd x with identities on its diagonal."""

    d: int

    def on(self, R: Array) -> Array:
        """Replace each block by its polar factor; a narrow R is padded to d columns."""
        R = np.pad(R, ((0, 0), (0, max(0, self.d - R.shape[1]))))
        U, _, Vt = np.linalg.svd(self._blocks(R), full_matrices=False)
        return np.ascontiguousarray((U @ Vt).reshape(R.shape))

    def tangent(self, R: Array, U: Array) -> Array:
        """U_i - sym(U_i R_i') R_i."""
        out = U.copy()
        self.subtract(out, self.shift(R, U), R)
        return out

    def shift(self, R: Array, VR: Array) -> Array:
        """sym((VR)_i R_i')."""
        blocks = self._blocks(VR) @ self._blocks(R).transpose(0, 2, 1)
        return np.asarray(0.5 * (blocks + blocks.transpose(0, 2, 1)))

    def subtract(self, out: Array, shift: Array, D: Array) -> None:
        out -= (shift @ self._blocks(D)).reshape(D.shape)

    def shift_diagonal(self, shift: Array) -> Array:
        return np.diagonal(shift, axis1=1, axis2=2).ravel()

    def multipliers(self, shift: Array) -> Array:
        """Return the multipliers of the upper triangle of each R_i R_i' = I, row by row."""
        rows, cols = np.triu_indices(self.d)
        return np.asarray((np.where(rows == cols, 1.0, 2.0) * shift[:, rows, cols]).ravel())

    def _blocks(self, R: Array) -> Array:
        return R.reshape(-1, self.d, R.shape[1])


def _rowwise(a: Array, b: Array) -> Array:
    products: Array = np.einsum("ij,ij->i", a, b)
    return products


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
        factors = [axes * roots for axes, roots in map(principal_axes, points)]
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
