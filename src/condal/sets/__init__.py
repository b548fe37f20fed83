"""Sets K for the constraint Ax in K, each the h of the template: its indicator function."""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
