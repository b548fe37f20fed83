"""`condal bench`: ours against every peer that is installed, in one run, by one certificate."""

from condal.lab.bench.cases import Case, Set
from condal.lab.bench.figures import FIGURES, Figure, FigureVerdict, verdicts
from condal.lab.bench.peers import OURS, PEERS, installed
from condal.lab.bench.sets import SETS, named

__all__ = [
    "FIGURES",
    "OURS",
    "PEERS",
    "SETS",
    "Case",
    "Figure",
    "FigureVerdict",
    "Set",
    "installed",
    "named",
    "verdicts",
]
