"""Applications: a model pairs a problem with an interpretation of its solution."""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
