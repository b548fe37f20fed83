"""Storages of x: a dense array, factors, a sketch, or the atoms with their weights."""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
