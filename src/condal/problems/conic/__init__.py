"""Conic programs: their standard form, bounds on their trace, and how they are solved."""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
