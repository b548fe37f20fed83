"""x of several blocks, each kept in its own way."""

from __future__ import annotations

from typing import ClassVar

from condal.linalg.points import Point
from condal.storage.reconstruction import Spectrum, reconstructed, together
from condal.types import Storage


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

    def reconstructed(self) -> tuple[Point, Spectrum | None]:
        """That tuple, and what is known of the blocks that are sketched."""
        found = [reconstructed(part) for part in self.parts]
        return tuple(point for point, _ in found), together([one for _, one in found if one])
