"""Domains X: compact convex sets reached by their linear minimisation oracles."""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
