"""Conic programs: standard form, proved bounds on the trace, and models to solve."""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
