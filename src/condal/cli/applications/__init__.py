"""The applications of `condal solve --as NAME`. Their models are imported when they are built."""

from __future__ import annotations

from condal.cli.application import Application
from condal.cli.applications import arrays, graphs, measurements, programs
from condal.errors import FormatError

__all__ = ["APPLICATIONS", "application_named"]

APPLICATIONS: dict[str, Application] = {
    each.name: each
    for module in (graphs, arrays, measurements, programs)
    for each in vars(module).values()
    if isinstance(each, Application)
}


def application_named(name: str, path: str) -> Application:
    """Return the application that a file names."""
    if name not in APPLICATIONS:
        raise FormatError(
            f"belongs to an application {name[:40]!a} that this condal does not know; wanted one "
            f"of {', '.join(APPLICATIONS)}",
            path=path,
        )
    return APPLICATIONS[name]
