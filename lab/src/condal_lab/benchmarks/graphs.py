"""The graphs of several benchmarks: of the Gset where the data are found, else of the same kind."""

from __future__ import annotations

from functools import partial
from typing import Any

from condal.io.formats import read_graph
from condal_lab.bench.cases import locate
from condal_lab.bench.generated import torus
from condal_lab.experiments.stand_ins import planar_union, random_graph

STAND_INS = {
    "G1": partial(random_graph, 800),
    "G40": partial(planar_union, 2000),
}
NAMES = (*STAND_INS, "torus 50x40")


def graph(name: str) -> Any:
    """Return the adjacency matrix of one of these graphs."""
    if name not in STAND_INS:
        return torus(50, 40)
    path = locate(name, None)
    return STAND_INS[name]() if path is None else read_graph(path)
