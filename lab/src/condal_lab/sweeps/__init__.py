"""Sweeps: families of problems solved over grids, on processes or a cluster, into a folder."""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
