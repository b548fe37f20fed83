"""The applications of `condal solve`: a file each, listed here."""

from condal.cli.application import Application
from condal.cli.applications.communities import COMMUNITIES
from condal.cli.applications.k_means import K_MEANS
from condal.cli.applications.matrix_completion import MATRIX_COMPLETION
from condal.cli.applications.max_cut import MAX_CUT
from condal.cli.applications.phase_retrieval import PHASE_RETRIEVAL
from condal.cli.applications.qap import QAP
from condal.cli.applications.sdp import SDP
from condal.cli.applications.sync import SYNC
from condal.cli.applications.theta import THETA

__all__ = ["APPLICATIONS"]

APPLICATIONS: dict[str, Application] = {
    application.name: application
    for application in (
        MAX_CUT,
        THETA,
        COMMUNITIES,
        SYNC,
        K_MEANS,
        QAP,
        MATRIX_COMPLETION,
        PHASE_RETRIEVAL,
        SDP,
    )
}
