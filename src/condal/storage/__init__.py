"""What is kept of x: all of it, its factors, a sketch, or the atoms it was made from."""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
