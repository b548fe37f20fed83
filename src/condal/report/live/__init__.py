"""Watch and stop a running solve in a browser on the same machine."""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
