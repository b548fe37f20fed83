"""The public files of the instances: those that `condal.lab.experiments.data` knows."""

from __future__ import annotations

from pathlib import Path

from condal.errors import ProblemError
from condal.io.safe_files import PathLike
from condal.lab.experiments.data import find


def locate(name: str, data: PathLike | None) -> Path | None:
    """The path of a file, its contents checked; None where it cannot be had.

    A data folder that is none, or a file with other contents, is an error as ever.
    """
    try:
        return find(name, data)
    except ProblemError as error:
        if str(error).startswith(f"the file {name} is not in"):
            return None
        raise
