"""x of several blocks, each kept in its own way."""

from __future__ import annotations

from typing import ClassVar

from condal.linalg.points import Point
from condal.storage.reconstruction import Spectrum, reconstructed, together
from condal.storage.sketch import Sketch
from condal.storage.whole import matrix_sides
from condal.types import Domain, Storage


class Blocks:
    """A storage a block, for a Product."""

    checkpoint_fields: ClassVar[tuple[str, ...]] = ("parts",)

    def __init__(self, *parts: Storage) -> None:
        self.parts = parts

    def move(self, s: Point, eta: float) -> None:
        """Block by block."""
        assert isinstance(s, tuple)
        for part, block in zip(self.parts, s, strict=True):
            part.move(block, eta)

    def load(self, x: Point) -> None:
        """Block by block."""
        assert isinstance(x, tuple)
        for part, block in zip(self.parts, x, strict=True):
            part.load(block)

    def point(self) -> Point:
        """The tuple of the blocks' points."""
        return tuple(part.point() for part in self.parts)

    def bytes(self, X: Domain) -> int:
        """At most what the storages of the blocks take together."""
        pairs = zip(getattr(X, "parts", ()), self.parts, strict=True)
        return sum(storage_bytes(block, part) for block, part in pairs)

    def reconstructed(self) -> tuple[Point, Spectrum | None]:
        """That tuple, and what is known of the blocks that are sketched."""
        found = [reconstructed(part) for part in self.parts]
        return tuple(point for point, _ in found), together([one for _, one in found if one])


def storage_bytes(X: Domain, storage: Storage | None) -> int:
    """At most how many bytes a storage takes for points of X; the least that any can take, where
    none is given or it does not say."""
    own = getattr(storage, "bytes", None)
    if own is not None:
        return int(own(X))
    return sum(Sketch.bytes_for(n, 1) for n in matrix_sides(X))
