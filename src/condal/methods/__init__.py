"""Methods: frozen records, each with one generator, `iterates`."""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
