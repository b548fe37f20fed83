"""Hermitian and rectangular matrices (nuclear-norm ball), represented by real symmetric ones.

See `linalg.lifting`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.domains.spectral import Spectrahedron
from condal.domains.wrapped import WrappedSpectral
from condal.errors import ProblemError
from condal.linalg.eigen import Automatic, Engine
from condal.linalg.gradients import Gradient
from condal.linalg.lifting import hermitian_point, real_point, rectangle, square_point
from condal.linalg.points import Array, Outer, Point
from condal.linalg.symmetric import Symmetric
from condal.runtime.arguments import require_positive, require_whole

SPACE_ROUNDING = 1e-9  # of a product: a larger difference distinguishes two spaces


class Hermitian(WrappedSpectral):
    r"""Hermitian psd matrices of given trace.

    .. math:: X = \{x \in \mathbb{C}^{n \times n} : x \succeq 0,\ \operatorname{tr} x = t\}

    Internally, points are the real points of `Spectrahedron(2 n)` that represent x; maps and
    objectives with complex data act on these. A result contains x itself.

    Parameters
    ----------
    n : int
        The side of x.
    trace : float
        The trace :math:`t`.
    at_most : bool
        If true, the constraint is :math:`\operatorname{tr} x \le t` instead of equality.
    engine : Engine, optional
        The eigenvalue solver, from `condal.eigen`.
    """

    def __init__(
        self,
        n: int,
        trace: float = 1.0,
        at_most: bool = False,
        engine: Engine | None = None,
    ) -> None:
        require_whole(n, "n")
        super().__init__(Spectrahedron(2 * n, trace, at_most, engine or Automatic()))
        self.side = n

    def to_user(self, x: Point) -> Any:
        return hermitian_point(x)

    def from_user(self, x: Any) -> Point:
        return real_point(x, self.side)

    def check(self, v: Gradient, name: str) -> None:
        """Check that v acts on Hermitian n x n matrices: V J = J V, with J the product by i."""
        if isinstance(v, Symmetric) and v.n == self.side:
            raise ProblemError(
                f"{name} acts on real symmetric {v.n} x {v.n} matrices, but the domain holds "
                "complex ones: give its data a complex dtype, as by C.astype(complex) or "
                "Diagonal(n, hermitian=True)"
            )
        if not isinstance(v, Symmetric) or v.n != self.n:
            got = f"one of side {v.n / 2:g}" if isinstance(v, Symmetric) else "a map of vectors"
            raise ProblemError(
                f"{name} must act on Hermitian {self.side} x {self.side} matrices, as the domain "
                f"does; got {got}"
            )
        z = np.random.default_rng(0).standard_normal(self.n)
        image, turned = (v @ np.stack([z, _times_i(z)], axis=1)).T
        if _differ(turned, _times_i(image), turned):
            raise ProblemError(
                f"{name} must act on Hermitian {self.side} x {self.side} matrices, as the domain "
                f"does; got one of real symmetric {self.n} x {self.n} ones: give its data a "
                "complex dtype, as by C.astype(complex) or Diagonal(n, hermitian=True)"
            )

    def __repr__(self) -> str:
        bound = ", at_most=True" if self.at_most else ""
        return f"Hermitian(n={self.side}, trace={self.trace:g}{bound})"


class NuclearBall(WrappedSpectral):
    r"""The nuclear-norm ball :math:`\{x \in \mathbb{R}^{m \times n} : \sum_i \sigma_i(x) \le r\}`.

    :math:`\operatorname{lmo}(V) = -r\, u v^\top`, with :math:`u, v` leading singular vectors of V.
    Internally, points are psd matrices of side m + n that hold x in a corner; `lifted(C)` and
    `Entries.rectangular` build objectives and maps on these. A result contains x as an `Outer`.

    Parameters
    ----------
    m, n : int
        The shape of x.
    radius : float
        The radius :math:`r`.
    engine : Engine, optional
        The eigenvalue solver, from `condal.eigen`.
    """

    def __init__(self, m: int, n: int, radius: float = 1.0, engine: Engine | None = None) -> None:
        require_whole(m, "m")
        require_whole(n, "n")
        require_positive(radius, "radius")
        X = Spectrahedron(m + n, 2 * radius, True, engine or Automatic())
        super().__init__(X)
        self.rows, self.cols, self.radius = m, n, radius

    def to_user(self, x: Point) -> Outer:
        return rectangle(x, self.rows)

    def from_user(self, x: Any) -> Point:
        return square_point(x, self.rows, self.cols)

    def check(self, v: Gradient, name: str) -> None:
        """Check that v acts on m x n matrices: both its diagonal blocks are 0."""
        if not isinstance(v, Symmetric) or v.n != self.n:
            got = f"one of side {v.n}" if isinstance(v, Symmetric) else "a map of vectors"
            raise ProblemError(
                f"{name} must act on {self.rows} x {self.cols} matrices, lifted to symmetric ones "
                f"of side {self.n} (see condal.lifted); got {got}"
            )
        if _reads_blocks(v, self.rows):
            m, n = self.rows, self.cols
            got = "one that reads its diagonal blocks, which say nothing of x"
            if not _reads_blocks(v, n):
                got = f"one of {n} x {m} ones: transpose its data, or use NuclearBall({n}, {m})"
            raise ProblemError(
                f"{name} must act on {m} x {n} matrices, lifted to symmetric ones of side {self.n} "
                f"(see condal.lifted); got {got}"
            )

    def __repr__(self) -> str:
        return f"NuclearBall({self.rows}, {self.cols}, radius={self.radius:g})"


def _times_i(z: Array) -> Array:
    """Return i z, for a complex vector stored as pairs of real numbers."""
    return np.stack([-z[1::2], z[::2]], axis=1).ravel()


def _reads_blocks(v: Symmetric, m: int) -> bool:
    """Return whether the leading m x m block of v, or the trailing block, is not 0."""
    Z = np.random.default_rng(0).standard_normal((v.n, 2))
    Z[m:, 0] = Z[:m, 1] = 0.0
    images = v @ Z
    within = np.concatenate([images[:m, 0], images[m:, 1]])
    return _differ(within, np.zeros(v.n), images)


def _differ(a: Array, b: Array, whole: Array) -> bool:
    """Return whether a and b, of a product `whole`, differ by more than rounding; False for NaN."""
    return bool(np.abs(a - b).max() > SPACE_ROUNDING * np.abs(whole).max())
