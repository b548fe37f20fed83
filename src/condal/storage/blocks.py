"""x of several blocks, each with its own storage."""

from __future__ import annotations

from typing import ClassVar

from condal.linalg.points import Point
from condal.storage.reconstruction import Spectrum, reconstructed, together
from condal.storage.sketch import storage_bytes
from condal.types import Domain, Storage


class Blocks:
    """Store each block of a point of a Product in its own storage.

    Parameters
    ----------
    *parts : Storage
        The storages, in the order of the blocks.
    """

    checkpoint_fields: ClassVar[tuple[str, ...]] = ("parts",)

    def __init__(self, *parts: Storage) -> None:
        self.parts = parts

    def move(self, s: Point, eta: float) -> None:
        assert isinstance(s, tuple)
        for part, block in zip(self.parts, s, strict=True):
            part.move(block, eta)

    def load(self, x: Point) -> None:
        assert isinstance(x, tuple)
        for part, block in zip(self.parts, x, strict=True):
            part.load(block)

    def point(self) -> Point:
        return tuple(part.point() for part in self.parts)

    def bytes(self, X: Domain) -> int:
        """At most what the storages of the blocks take together."""
        pairs = zip(getattr(X, "parts", ()), self.parts, strict=True)
        return sum(storage_bytes(block, part) for block, part in pairs)

    def reconstructed(self) -> tuple[Point, Spectrum | None]:
        """Return the tuple of the points, and what is known of the sketched blocks."""
        points, spectra = zip(*(reconstructed(part) for part in self.parts), strict=True)
        return points, together([spectrum for spectrum in spectra if spectrum])
