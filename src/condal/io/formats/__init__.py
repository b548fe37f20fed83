"""Readers and writers of graphs and other problem data; one module per format."""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
