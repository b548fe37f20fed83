"""Saved results: a folder of open formats, which anyone can read and `verify` proves again."""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
