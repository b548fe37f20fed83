"""Where the factor R of x = R R' lives: the surfaces on which the domain's trace is exact.

A geometry keeps R on its surface, projects onto the tangent space, and knows the multiplier of the
surface: `shift` is the vector c with (V - Diag c) R tangent, so that V - Diag c is the slack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from condal.points import Array


class Geometry(Protocol):
    """A surface of n x r matrices."""

    def on(self, R: Array) -> Array:
        """The point of the surface that R is scaled to."""

    def tangent(self, R: Array, U: Array) -> Array:
        """U without its part across the surface at R."""

    def tangent_scaled(self, R: Array, U: Array, rows: Array) -> Array:
        """The tangent part of rows * U, for a tangent U."""

    def shift(self, R: Array, VR: Array) -> Array:
        """c, a number a row, such that V R - c R is tangent at R."""


@dataclass(frozen=True, eq=False)
class Sphere:
    """|R|^2 = trace: x psd of that trace."""

    trace: float

    def on(self, R: Array) -> Array:
        """R scaled to its norm."""
        return np.asarray(R * (np.sqrt(self.trace) / np.linalg.norm(R)))

    def tangent(self, R: Array, U: Array) -> Array:
        """U - (<U, R> / trace) R."""
        return np.asarray(U - (float(np.vdot(U, R)) / self.trace) * R)

    def tangent_scaled(self, R: Array, U: Array, rows: Array) -> Array:
        """The tangent part of rows * U."""
        return self.tangent(R, rows * U)

    def shift(self, R: Array, VR: Array) -> Array:
        """<V, x> / trace, the same for every row."""
        return np.full(len(R), float(np.vdot(VR, R)) / self.trace)


@dataclass(frozen=True, eq=False)
class Rows:
    """|R_i|^2 = squares_i: x psd of that diagonal."""

    squares: Array

    def on(self, R: Array) -> Array:
        """Each row scaled to its norm; a row of zeros becomes a multiple of a unit vector."""
        norms = np.sqrt(_rowwise(R, R))
        if not norms.all():
            R = R.copy()
            R[norms == 0.0, 0] = 1.0
            norms = np.where(norms == 0.0, 1.0, norms)
        return np.asarray(R * (np.sqrt(self.squares) / norms)[:, None])

    def tangent(self, R: Array, U: Array) -> Array:
        """U_i - (<U_i, R_i> / squares_i) R_i."""
        across = (_rowwise(U, R) / self.squares)[:, None] * R
        return np.subtract(U, across, out=across)

    def tangent_scaled(self, R: Array, U: Array, rows: Array) -> Array:
        """rows * U: rows are scaled within the tangent space."""
        return np.asarray(rows * U)

    def shift(self, R: Array, VR: Array) -> Array:
        """<(VR)_i, R_i> / squares_i."""
        return _rowwise(VR, R) / self.squares


def _rowwise(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", a, b))
