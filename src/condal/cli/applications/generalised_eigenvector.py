"""A generalised eigenvector of bounded norm."""

from __future__ import annotations

from collections.abc import Iterator

import click

from condal.cli.application import Application, Chosen, Figures, Lines
from condal.cli.text import number
from condal.errors import FormatError
from condal.io.formats.arrays import names_of_arrays, read_arrays
from condal.problems.generalised_eigenvectors import (
    Direction,
    GeneralisedEigenvector,
    generalised_eigenvector,
)
from condal.result import Result


def _build(file: str, chosen: Chosen) -> GeneralisedEigenvector:
    names = names_of_arrays(file)
    if not {"Phi", "Psi"} <= set(names):
        held = ", ".join(names)[:60] or "nothing"
        raise FormatError(
            f"holds {held}; wanted the symmetric matrices Phi and Psi: "
            "numpy.savez(path, Phi=Phi, Psi=Psi)",
            path=file,
        )
    arrays = read_arrays(file, ("Phi", "Psi"))
    for name, array in arrays.items():
        if array.ndim != 2:
            text = f"{name}.npy: {name} has shape {array.shape}; wanted a symmetric matrix"
            raise FormatError(text, path=file)
    return generalised_eigenvector(
        arrays["Phi"], arrays["Psi"], chosen["alpha"], name="generalised-eigenvector"
    )


def _answer(model: GeneralisedEigenvector, result: Result, chosen: Chosen) -> Direction | None:
    """The vector; None where it is proved that there is none."""
    return None if result.status.excludes_optimum else model.vector(result)


def _rows(model: GeneralisedEigenvector, result: Result, vector: Direction | None) -> Lines:
    if vector is None:
        return [("vector", "none: raise --alpha")]
    squared = float(vector.vector @ vector.vector)
    return [
        ("value", f"{number(vector.objective)}, u' Phi u of a vector with u' Psi u = 1"),
        ("vector", f"{vector.vector.size:,} numbers, |u|^2 = {squared:.6g}"),
    ]


def _proved(model: GeneralisedEigenvector, result: Result, vector: Direction | None) -> Lines:
    return [("bound", f"{number(result.bound, up=True)}, no such vector has a larger value")]


def _figures(model: GeneralisedEigenvector, result: Result, vector: Direction | None) -> Figures:
    return {"value": None if vector is None else vector.objective}


def _lines(vector: Direction) -> Iterator[str]:
    return (f"{value:.17g}" for value in vector.vector)


GENERALISED_EIGENVECTOR = Application(
    name="generalised-eigenvector",
    title="the best vector of a ratio of quadratic forms",
    about="""\
    Maximise u' Phi u over the vectors with u' Psi u = 1 and |u|^2 <= alpha, by
    the semidefinite relaxation, which is exact. The command finds a vector and
    proves a bound on the value of every such vector.

    FILE was written by numpy.savez. It holds symmetric matrices Phi and Psi.
    Other arrays are ignored, and nothing is unpickled.""",
    example="condal solve pair.npz --as generalised-eigenvector --alpha 4 --out u.txt",
    noun="numbers of the vector",
    build=_build,
    answer=_answer,
    rows=_rows,
    proved=_proved,
    figures=_figures,
    lines=_lines,
    out="the vector, one number per line",
    options=(
        click.Option(
            ["--alpha"],
            type=click.FloatRange(min=0, min_open=True),
            required=True,
            metavar="A",
            help="The bound on |u|^2; at least 1 over the largest eigenvalue of Psi.",
        ),
    ),
)
