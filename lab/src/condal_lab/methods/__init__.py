"""Methods of the literature that the paper compares with: UPD, AUPD, IAL, CGS, GDMM and more."""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
