"""Optional libraries, which an extra of condal installs."""

from __future__ import annotations

from importlib.util import find_spec

from condal.errors import MissingExtra


def install(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'condal[{extra}]'"


def require(library: str, *, what: str, extra: str) -> None:
    """Raise MissingExtra if a library is not installed; `what` says what needs it, such as "figures
    need matplotlib"."""
    if find_spec(library) is None:
        raise MissingExtra(f"{what}; install with: {install(extra)}")
