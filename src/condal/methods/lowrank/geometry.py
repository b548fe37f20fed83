"""The surfaces of the factor R of x = R R', on which the trace of the domain is exact.

A geometry keeps R on its surface, projects onto the tangent space, and computes the multiplier of
the surface: `shift` is the vector c with (V - Diag c) R tangent, so V - Diag c is the slack.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from condal.linalg.points import Array


class Geometry(Protocol):
    """A surface of n x r matrices."""

    def on(self, R: Array) -> Array:
        """Scale R to the surface."""

    def tangent(self, R: Array, U: Array) -> Array:
        """Project U onto the tangent space at R."""

    def tangent_scaled(self, R: Array, U: Array, rows: Array) -> Array:
        """Return the tangent part of rows * U, for a tangent U."""

    def shift(self, R: Array, VR: Array) -> Array:
        """Return c, one number per row, such that V R - c R is tangent at R."""


@dataclass(frozen=True, eq=False)
class Sphere:
    """|R|^2 = trace: psd x of fixed trace."""

    trace: float

    def on(self, R: Array) -> Array:
        return np.asarray(R * (np.sqrt(self.trace) / np.linalg.norm(R)))

    def tangent(self, R: Array, U: Array) -> Array:
        """U - (<U, R> / trace) R."""
        return np.asarray(U - (float(np.vdot(U, R)) / self.trace) * R)

    def tangent_scaled(self, R: Array, U: Array, rows: Array) -> Array:
        return self.tangent(R, rows * U)

    def shift(self, R: Array, VR: Array) -> Array:
        """<V, x> / trace, the same for every row."""
        return np.full(len(R), float(np.vdot(VR, R)) / self.trace)


@dataclass(frozen=True, eq=False)
class UnitRows:
    """|R_i|^2 = squares_i: psd x of fixed diagonal.

    R_i may be several consecutive rows of R, such as the two rows of a complex row.
    """

    squares: Array

    def on(self, R: Array) -> Array:
        """Scale each row to its norm; a zero row becomes a multiple of a unit vector."""
        rows = self._joined(R)
        norms = np.sqrt(_rowwise(rows, rows))
        if not norms.all():
            rows = rows.copy()
            rows[norms == 0.0, 0] = 1.0
            norms = np.where(norms == 0.0, 1.0, norms)
        return np.asarray(rows * (np.sqrt(self.squares) / norms)[:, None]).reshape(R.shape)

    def tangent(self, R: Array, U: Array) -> Array:
        """U_i - (<U_i, R_i> / squares_i) R_i."""
        rows, parts = self._joined(R), self._joined(U)
        across = (_rowwise(parts, rows) / self.squares)[:, None] * rows
        return np.subtract(parts, across, out=across).reshape(R.shape)

    def tangent_scaled(self, R: Array, U: Array, rows: Array) -> Array:
        """Return the tangent part of rows * U: all of it where each R_i is one row."""
        scaled = np.asarray(rows * U)
        return scaled if len(R) == self.squares.size else self.tangent(R, scaled)

    def shift(self, R: Array, VR: Array) -> Array:
        """<(VR)_i, R_i> / squares_i."""
        shifts = _rowwise(self._joined(VR), self._joined(R)) / self.squares
        return np.repeat(shifts, len(R) // self.squares.size)

    def _joined(self, R: Array) -> Array:
        return R.reshape(self.squares.size, -1)


@dataclass(frozen=True, eq=False)
class Blocks:
    """R in blocks of rows, each on its own surface."""

    rows: tuple[slice, ...]
    surfaces: tuple[Geometry, ...]

    def on(self, R: Array) -> Array:
        return np.vstack([surface.on(R[rows]) for rows, surface in self._each()])

    def tangent(self, R: Array, U: Array) -> Array:
        return np.vstack([surface.tangent(R[rows], U[rows]) for rows, surface in self._each()])

    def tangent_scaled(self, R: Array, U: Array, rows: Array) -> Array:
        return np.vstack(
            [surface.tangent_scaled(R[at], U[at], rows[at]) for at, surface in self._each()]
        )

    def shift(self, R: Array, VR: Array) -> Array:
        return np.concatenate([surface.shift(R[rows], VR[rows]) for rows, surface in self._each()])

    def _each(self) -> Iterator[tuple[slice, Geometry]]:
        return zip(self.rows, self.surfaces, strict=True)


def _rowwise(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", a, b))
