"""Domains of Hermitian and of rectangular matrices, as spectral ones (see `lifting`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.domains.product import Product
from condal.domains.spectral import Spectrahedron
from condal.domains.wrapped import WrappedSpectral
from condal.errors import ProblemError
from condal.linalg.eigen import Automatic, Engine
from condal.linalg.gradients import Gradient
from condal.linalg.lifting import hermitian_point, real_point, rectangle, square_point
from condal.linalg.points import Array, Outer, Point
from condal.linalg.symmetric import Symmetric
from condal.runtime.arguments import require_positive, require_whole
from condal.types import Domain, Lifted

ROUNDING = 1e-9  # of a product: what is more tells two spaces apart


class Hermitian(WrappedSpectral):
    """X = {x Hermitian psd, n x n, complex : tr x = trace}, or tr x <= trace if `at_most`.

    Inside, its points are the real ones of `Spectrahedron(2 n)` that stand for them: maps and
    objectives of complex data act on these. A result shows x itself.
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
        """The Hermitian matrix: a LowRank of a complex factor, or an array."""
        return hermitian_point(x)

    def from_user(self, x: Any) -> Point:
        """A real point of it."""
        return real_point(x, self.side)

    def check(self, v: Gradient, name: str) -> None:
        """Whether v acts on Hermitian n x n matrices: V J = J V, with J the product by i."""
        if isinstance(v, Symmetric) and v.n == self.side:
            raise ProblemError(
                f"{name} acts on real symmetric {v.n} x {v.n} matrices, but the domain is of "
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
    """X = {x, m x n : the sum of its singular values <= radius}.

    lmo(V) = -radius u v', with u, v leading singular vectors of V. Inside, its points are the psd
    ones of side m + n that hold x in a corner: `lifted(C)` and `Entries.rectangular` make
    objectives and maps of these. A result shows x itself, as an `Outer`.
    """

    def __init__(self, m: int, n: int, radius: float = 1.0, engine: Engine | None = None) -> None:
        require_whole(m, "m")
        require_whole(n, "n")
        require_positive(radius, "radius")
        X = Spectrahedron(m + n, 2 * radius, True, engine or Automatic())
        super().__init__(X)
        self.rows, self.cols, self.radius = m, n, radius

    def to_user(self, x: Point) -> Outer:
        """The m x n matrix."""
        return rectangle(x, self.rows)

    def from_user(self, x: Any) -> Point:
        """A point that holds it."""
        return square_point(x, self.rows, self.cols)

    def check(self, v: Gradient, name: str) -> None:
        """Whether v acts on m x n matrices: both its diagonal blocks are 0."""
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
    """i z, of a complex vector as pairs of real numbers."""
    return np.stack([-z[1::2], z[::2]], axis=1).ravel()


def _reads_blocks(v: Symmetric, m: int) -> bool:
    """Whether the block of the first m rows and columns, or that of the others, is not 0."""
    Z = np.random.default_rng(0).standard_normal((v.n, 2))
    Z[m:, 0] = Z[:m, 1] = 0.0
    images = v @ Z
    within = np.concatenate([images[:m, 0], images[m:, 1]])
    return _differ(within, np.zeros(v.n), images)


def _differ(a: Array, b: Array, whole: Array) -> bool:
    """Whether a and b, of a product `whole`, differ by more than rounding; not where that is NaN,
    which is another fault."""
    return bool(np.abs(a - b).max() > ROUNDING * np.abs(whole).max())


def to_user(X: Domain, x: Point) -> Any:
    """The point as a user knows it."""
    if isinstance(X, Product):
        assert isinstance(x, tuple)
        return tuple(to_user(part, p) for part, p in zip(X.parts, x, strict=True))
    return X.to_user(x) if isinstance(X, Lifted) else x


def from_user(X: Domain, x: Any) -> Point:
    """The point of X that a user means by x."""
    if isinstance(X, Product) and isinstance(x, tuple) and len(x) == len(X.parts):
        return tuple(from_user(part, p) for part, p in zip(X.parts, x, strict=True))
    return X.from_user(x) if isinstance(X, Lifted) else x
