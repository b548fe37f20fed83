"""`condal bench`: compare condal with every installed peer, all judged by one certificate."""

from condal.lab.bench.cases import BenchCase, Set
from condal.lab.bench.figures import FIGURES, Figure, FigureVerdict, verdicts
from condal.lab.bench.peers import OURS, PEERS, installed
from condal.lab.bench.sets import SETS, named

__all__ = [
    "FIGURES",
    "OURS",
    "PEERS",
    "SETS",
    "BenchCase",
    "Figure",
    "FigureVerdict",
    "Set",
    "installed",
    "named",
    "verdicts",
]
