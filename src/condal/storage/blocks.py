"""x of several blocks, each with its own storage."""

from __future__ import annotations

from typing import ClassVar

from condal.linalg.points import Point
from condal.storage.reconstruction import Spectrum, reconstructed, together
from condal.types import Storage


class Blocks:
    """Store each block of a point of a Product in its own storage.

    Parameters
    ----------
    *parts : Storage
        The storages, in the order of the blocks.
    """

    kept: ClassVar[tuple[str, ...]] = ("parts",)

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

    def reconstructed(self) -> tuple[Point, Spectrum | None]:
        """Return the tuple of the points, and what is known of the sketched blocks."""
        points, spectra = zip(*(reconstructed(part) for part in self.parts), strict=True)
        return points, together([spectrum for spectrum in spectra if spectrum])
