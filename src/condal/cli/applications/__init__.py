"""The applications of `condal solve --as NAME`. Their models are imported when they are built."""

from __future__ import annotations

from condal.cli.application import Application
from condal.cli.applications import arrays, graphs, measurements, programs
from condal.errors import FormatError

__all__ = ["APPLICATIONS", "application_named"]

APPLICATIONS: dict[str, Application] = {
    each.name: each
    for each in (
        *(graphs.MAX_CUT, graphs.THETA, graphs.COMMUNITIES, graphs.BISECTION, graphs.SYNC),
        *(arrays.K_MEANS, arrays.QAP),
        *(measurements.MATRIX_COMPLETION, arrays.PHASE_RETRIEVAL),
        *(measurements.STATE_TOMOGRAPHY, measurements.POSE_GRAPH),
        *(arrays.GENERALISED_EIGENVECTOR, programs.SDP),
    )
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
