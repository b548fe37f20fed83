"""User-supplied pieces that forward to another one, except for the members a test changes."""

from __future__ import annotations

from typing import Any


class Forwarding:
    """A piece that forwards to `inner` every public name that its own class lacks.

    `__getattr__` is not enough: since Python 3.12, isinstance looks for the members of a protocol
    in the class.
    """

    def __new__(cls, inner: Any, *args: Any, **options: Any) -> Any:
        names = [name for name in dir(inner) if not (name.startswith("_") or hasattr(cls, name))]
        members = {name: property(lambda self, name=name: self._forward(name)) for name in names}
        piece = super().__new__(type(cls.__name__, (cls,), members))
        piece._inner = inner
        return piece

    def _forward(self, name: str) -> Any:
        return getattr(self._inner, name)
