"""The public files of the instances: those of the experiments, and more graphs of the Gset."""

from __future__ import annotations

from pathlib import Path

from condal.errors import ProblemError
from condal.experiments.data import SOURCES, Source, find
from condal.formats.text import PathLike

GRAPHS = {
    "G22": "0f4cdf85870a8394bad36dfdefabdad4fc73ad8e2234457e22dacb1fa5b7778b",
    "G43": "577bcffc5756175a4ab6613082d2ecf25d02bfda1faf3197931557481a6642d1",
    "G67": "9f9ee48cf7c40e50761d91addefc6a738be5d42b26139bf273d5700e012f4010",
    "G81": "fe76cb9851f0b5e793d76ba06dc8bd0c1067af70ce61eec0ef9366abe286e3e0",
}


def locate(name: str, data: PathLike | None) -> Path | None:
    """The path of a file, its contents checked; None where it cannot be had.

    A data folder that is none, or a file with other contents, is an error as ever.
    """
    if name in GRAPHS:
        SOURCES.setdefault(name, _graph(name))
    try:
        return find(name, data)
    except ProblemError as error:
        if str(error).startswith(f"the file {name} is not in"):
            return None
        raise


def _graph(name: str) -> Source:
    """Where G1 lives, there live the others."""
    pattern = SOURCES["G1"]
    homes = tuple(home.replace("G1", name) for home in pattern.homes)
    return Source(name, pattern.place.replace("G1", name), GRAPHS[name], homes)
