"""The primal-dual interior-point method, for small linear problems."""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
