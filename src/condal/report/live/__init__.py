"""A solve as it runs, in a browser on the same machine: see it, and stop it."""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
