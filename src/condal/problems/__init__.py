"""Applications: models that pass to `solve` as they are, with what their solutions mean."""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
