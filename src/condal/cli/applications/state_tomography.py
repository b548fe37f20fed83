"""State tomography: a density matrix from counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import numpy as np

import condal
from condal.cli.application import Application, Chosen, Figures, Lines
from condal.cli.text import number
from condal.errors import FormatError, ProblemError
from condal.io.formats.text import read_text
from condal.io.strict_json import json_object
from condal.problems.density_matrices import State
from condal.problems.tomography import StateTomography, state_tomography
from condal.report import pictures
from condal.report.pictures import Picture
from condal.result import Result

EXAMPLE = '{"XZ": {"00": 510, "11": 490}}'
FIRST_TOL = 1e-3  # of the squares whose solution the likelihood starts from


def _build(file: str, chosen: Chosen) -> StateTomography:
    text = read_text(file, wanted=f"counts, such as {EXAMPLE}")
    try:
        counts = json_object(text.data.decode())
    except (ValueError, RecursionError) as error:
        raise FormatError(f"is not JSON such as {EXAMPLE}: {error}", path=file) from None
    options = {name: chosen[name] for name in ("loss", "background", "l1", "trace_penalty")}
    try:
        return state_tomography(counts, **options, name="state-tomography")
    except ProblemError as error:
        raise FormatError(str(error), path=file) from None


def _solve(model: StateTomography, *given: Any, **options: Any) -> Result:
    """Solve; the likelihood starts from the least squares."""
    if model.loss == "likelihood" and options.get("warm_start") is None:
        limit = options.get("max_seconds")
        share = None if limit is None else 0.25 * limit
        options["warm_start"] = condal.solve(model.least_squares, tol=FIRST_TOL, max_seconds=share)
    return condal.solve(model, *given, **options)


def _answer(model: StateTomography, result: Result, chosen: Chosen) -> State:
    return model.state(result)


def _rows(model: StateTomography, result: Result, state: State) -> Lines:
    values = np.linalg.eigvalsh(state.rho)[::-1]
    leading = ", ".join(f"{value:.3f}" for value in values[:4])
    return [
        ("state", f"{model.dimension:,} x {model.dimension:,} density matrix"),
        ("purity", f"{state.purity:.4f}"),
        ("eigenvalues", leading + (", ..." if values.size > 4 else "")),
    ]


def _proved(model: StateTomography, result: Result, state: State) -> Lines:
    return [("bound", f"{number(result.bound, down=True)}, no state has a smaller loss")]


def _figures(model: Any, result: Result, state: State | None) -> Figures:
    return {"purity": None if state is None else state.purity}


def _lines(state: State) -> Iterator[str]:
    return (f"{value.real:.17g},{value.imag:.17g}" for value in state.rho.ravel())


def _picture(model: StateTomography, result: Result, state: State) -> Picture:
    panels = [("real part of rho", state.rho.real), ("imaginary part of rho", state.rho.imag)]
    return pictures.images(panels, "The density matrix.")


STATE_TOMOGRAPHY = Application(
    name="state-tomography",
    title="a quantum state from the counts of its measurements",
    about="""\
    Fit the density matrix rho of some qubits to the counts of measurements in
    Pauli bases, by least squares or by maximum likelihood. The command proves
    how far the fit is from the best one.

    FILE is JSON, optionally compressed with gzip or xz: an object with an entry
    for each basis, such as {"XZ": {"00": 510, "11": 490}}. A basis has a letter
    X, Y or Z for each qubit, and an outcome a bit for each, in the same order;
    0 stands for the eigenvalue 1. Outcomes without counts can be left out.""",
    example="condal solve counts.json --as state-tomography --out rho.csv",
    noun="numbers, the real and imaginary parts of a state",
    build=_build,
    answer=_answer,
    rows=_rows,
    proved=_proved,
    figures=_figures,
    lines=_lines,
    picture=_picture,
    out="rho, an entry per line, row by row, as real and imaginary part",
    options=(
        click.Option(
            ["--loss"],
            type=click.Choice(["squares", "likelihood"]),
            default="squares",
            help="What is minimised: least squares, or the negative log-likelihood.",
        ),
        click.Option(
            ["--background"],
            type=click.FloatRange(min=0, min_open=True),
            default=1e-3,
            metavar="SHARE",
            help="Share of counts that come from no state, for the likelihood.",
        ),
        click.Option(
            ["--l1"],
            type=click.FloatRange(min=0),
            default=0.0,
            metavar="WEIGHT",
            help="Prior for few coherences: the weight of their moduli.",
        ),
        click.Option(
            ["--trace-penalty"],
            type=click.FloatRange(min=0),
            default=0.0,
            metavar="WEIGHT",
            help="Prior for a low rank, for the squares: the weight of the trace, then at most 1.",
        ),
    ),
    solve=_solve,
)
