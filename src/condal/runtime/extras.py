"""Libraries that a part of condal needs, and an extra of its own brings: asked for before use."""

from __future__ import annotations

from importlib.util import find_spec

from condal.errors import MissingExtra


def install(extra: str) -> str:
    """What to type for an extra."""
    return f"pip install 'condal[{extra}]'"


def require(library: str, *, what: str, extra: str) -> None:
    """Raise MissingExtra now if a library is not there; `what` says who needs it, as "figures need
    matplotlib"."""
    if find_spec(library) is None:
        raise MissingExtra(f"{what}; install with: {install(extra)}")
