"""Conic programs: standard form, trace bounds and models."""

from condal.problems import conic as _conic
from condal.problems.conic import *  # noqa: F403 - they are listed there

__all__: list[str] = []
__all__ += dir(_conic)
