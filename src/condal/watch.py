"""The live page of a running solve."""

from condal.report.live import Watch

__all__ = ["Watch"]
