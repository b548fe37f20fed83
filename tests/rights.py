"""The Linux capabilities that let root ignore file permissions."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

VERSION = 0x20080522  # the third, in which each set is two words
GET_BITS, SET_BITS = 27, 28  # of prctl
NO_FIXUP = 1 << 2  # access(2) uses the effective capabilities, for root too


class _Thread(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Word(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable"))


def _call(name: str, *arguments: Any) -> int:
    found = getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments)
    if found < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return found


@contextmanager
def laid_down() -> Iterator[None]:
    """Drop the effective capabilities of this thread, and restore them at the end."""
    this, held, none = _Thread(VERSION, 0), (_Word * 2)(), (_Word * 2)()
    _call("capget", ctypes.byref(this), held)
    for word, like in zip(none, held, strict=True):
        word.permitted, word.inheritable = like.permitted, like.inheritable
    bits = _call("prctl", GET_BITS, 0, 0, 0, 0)
    _call("prctl", SET_BITS, bits | NO_FIXUP, 0, 0, 0)
    try:
        _call("capset", ctypes.byref(this), none)
        yield
    finally:
        _call("capset", ctypes.byref(this), held)
        _call("prctl", SET_BITS, bits, 0, 0, 0)
