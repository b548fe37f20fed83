"""`condal bench`: ours against every peer that is installed, in one run, by one certificate."""

from condal.bench.cases import Case, Set
from condal.bench.figures import FIGURES, Figure, Verdict, verdicts
from condal.bench.peers import OURS, PEERS, installed
from condal.bench.sets import SETS, named

__all__ = [
    "FIGURES",
    "OURS",
    "PEERS",
    "SETS",
    "Case",
    "Figure",
    "Set",
    "Verdict",
    "installed",
    "named",
    "verdicts",
]
