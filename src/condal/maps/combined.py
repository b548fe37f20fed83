"""Maps made of maps: scaled, stacked, and across the blocks of a product."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.images import BlockedMap, adjoint_onto
from condal.linalg.points import Array, Point
from condal.types import LinearMap


@dataclass(frozen=True, eq=False)
class Scaled:
    """x -> rows * Ax, each coordinate of the image by a factor of its own."""

    A: LinearMap
    rows: Array

    @property
    def size(self) -> int:
        """That of A."""
        return self.A.size

    @property
    def norm(self) -> float:
        """At most |A| max |rows|; exact for equal rows."""
        return self.A.norm * float(np.abs(self.rows).max()) if self.rows.size else 0.0

    def scaled(self, rows: Array) -> Scaled:
        """Both factors at once."""
        return Scaled(self.A, self.rows * rows)

    @property
    def terms(self) -> int:
        """One more than those of A."""
        return self.A.terms + 1

    @property
    def diagonal_rows(self) -> Array | None:
        """Those of A, scaled."""
        inner = self.A.diagonal_rows
        return None if inner is None else self.rows * inner

    def row_norms(self) -> Array:
        """|rows| times those of A."""
        return np.abs(self.rows) * self.A.row_norms()

    def as_matrix(self) -> Any | None:
        """Diag(rows) A."""
        inner = self.A.as_matrix()
        if inner is None:
            return None
        each = np.repeat(self.rows, np.diff(inner.indptr))
        return sp.csr_array((each * inner.data, inner.indices, inner.indptr), inner.shape)

    def __call__(self, x: Point) -> Array:
        """rows * Ax."""
        return self.rows * self.A(x)

    def adjoint(self, y: Array) -> Gradient | None:
        """A'(rows * y)."""
        return self.A.adjoint(self.rows * y)


class Stack:
    """Ax = (A_1 x, A_2 x, ...), one image under the other."""

    diagonal_rows = None

    def __init__(self, *maps: LinearMap) -> None:
        self.maps: Sequence[LinearMap] = maps
        self._ends = np.cumsum([m.size for m in maps]).astype(int)

    @property
    def size(self) -> int:
        """The sum of the sizes."""
        return int(self._ends[-1]) if len(self.maps) else 0

    @property
    def norm(self) -> float:
        """At most sqrt(sum |A_i|^2)."""
        return float(np.sqrt(sum(m.norm**2 for m in self.maps)))

    def scaled(self, rows: Array) -> Stack:
        """Map by map."""
        pieces = zip(self.maps, self._split(rows), strict=True)
        return Stack(*(m.scaled(part) for m, part in pieces))

    @property
    def terms(self) -> int:
        """The sum over the maps."""
        return sum(m.terms for m in self.maps)

    def row_norms(self) -> Array:
        """Those of each map in turn."""
        return np.concatenate([m.row_norms() for m in self.maps]) if self.maps else np.zeros(0)

    def as_matrix(self) -> Any | None:
        """One under the other; None for no maps at all, which know no n."""
        every = [(m.size, m.as_matrix()) for m in self.maps]
        parts = [part for size, part in every if size or part is not None]
        if not parts or any(part is None for part in parts):
            return None
        return sp.csr_array(sp.vstack(parts, format="csr"))

    def __call__(self, x: Point) -> Array:
        """The images in turn."""
        image = np.empty(self.size)
        for here, part in self.pieces(x):
            image[here] = part
        return image

    def pieces(self, x: Point) -> Iterator[tuple[slice, Array]]:
        """The images, in turn or in their own pieces."""
        begin = 0
        for m in self.maps:
            images = m.pieces(x) if isinstance(m, BlockedMap) else [(slice(0, m.size), m(x))]
            for here, part in images:
                yield slice(begin + here.start, begin + here.stop), part
            begin += m.size

    def adjoint(self, y: Array) -> Gradient | None:
        """The sum of the adjoints."""
        return self.adjoint_onto(None, y)

    def adjoint_onto(self, v: Gradient | None, y: Array) -> Gradient | None:
        """v and the adjoints."""
        for m, part in zip(self.maps, self._split(y), strict=True):
            v = adjoint_onto(v, m, part)
        return v

    def _split(self, y: Array) -> Sequence[Array]:
        return np.split(y, self._ends[:-1]) if self.maps else []


class Across:
    """A(x_1, x_2, ...) = A_1 x_1 + A_2 x_2 + ..., for x in a Product."""

    diagonal_rows = None

    def __init__(self, *maps: LinearMap) -> None:
        sizes = {m.size for m in maps}
        if len(sizes) != 1:
            raise ProblemError(f"the maps of Across must have images of one size; got {sizes}")
        self.maps: Sequence[LinearMap] = maps

    @property
    def size(self) -> int:
        """The common size of the images."""
        return self.maps[0].size

    @property
    def norm(self) -> float:
        """At most sqrt(sum |A_i|^2)."""
        return float(np.sqrt(sum(m.norm**2 for m in self.maps)))

    def scaled(self, rows: Array) -> Across:
        """Map by map."""
        return Across(*(m.scaled(rows) for m in self.maps))

    @property
    def terms(self) -> int:
        """The most of any map."""
        return max(m.terms for m in self.maps)

    def row_norms(self) -> Array:
        """The root of the sum of squares over the blocks."""
        return np.asarray(np.sqrt(sum(m.row_norms() ** 2 for m in self.maps)))

    def as_matrix(self) -> Any | None:
        """[A_1 A_2 ...], side by side."""
        parts = [m.as_matrix() for m in self.maps]
        if any(part is None for part in parts):
            return None
        return sp.csr_array(sp.hstack(parts, format="csr"))

    def __call__(self, x: Point) -> Array:
        """The sum of the images of the blocks."""
        if not isinstance(x, tuple) or len(x) != len(self.maps):
            raise ProblemError(f"Across wants a point of {len(self.maps)} blocks")
        return np.asarray(sum(m(part) for m, part in zip(self.maps, x, strict=True)))

    def adjoint(self, y: Array) -> tuple[Gradient, ...]:
        """(A_1'y, A_2'y, ...)."""
        return tuple(m.adjoint(y) for m in self.maps)  # type: ignore[misc]
