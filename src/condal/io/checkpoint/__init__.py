"""Checkpoints: all that a solve needs to resume, in one file that is whole or absent."""

from condal.io.container.manifest import Kind

CHECKPOINT = Kind(
    "condal checkpoint",
    remedy="give another, or solve again",
    other_version="solve again, or use condal {writer} to resume",
)
