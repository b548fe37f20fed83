"""Reports: results as one self-contained HTML file."""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
