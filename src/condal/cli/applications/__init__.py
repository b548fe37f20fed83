"""The applications of `condal solve --as NAME`. Their models are imported when they are built."""

from __future__ import annotations

from condal.cli.application import Application
from condal.cli.applications import arrays, graphs, measurements, programs

__all__ = ["APPLICATIONS"]

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
