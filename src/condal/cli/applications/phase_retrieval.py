"""Phase retrieval: a signal from intensities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import numpy as np

from condal.cli.application import Application, Chosen, Figures, Lines
from condal.cli.text import number
from condal.errors import FormatError
from condal.io.formats.arrays import names_of_arrays, read_arrays
from condal.problems.phases import PhaseRetrieval, Signal, phase_retrieval
from condal.result import Result


def _build(file: str, chosen: Chosen) -> PhaseRetrieval:
    names = names_of_arrays(file)
    if "b" not in names or ("a" in names) == ("masks" in names):
        held = ", ".join(names)[:60] or "nothing"
        raise FormatError(
            f"holds {held}; wanted the intensities b, and either the matrix a or the masks: "
            "numpy.savez(path, b=b, a=a)",
            path=file,
        )
    arrays = read_arrays(file, ("b", "a", "masks"))
    if "a" in arrays and arrays["a"].ndim != 2:
        raise FormatError(
            f"a.npy: a has shape {arrays['a'].shape}; wanted a matrix with one row per measurement",
            path=file,
        )
    return phase_retrieval(
        arrays["b"],
        arrays.get("a"),
        masks=arrays.get("masks"),
        trace=chosen["trace"],
        name="phase-retrieval",
    )


def _answer(model: PhaseRetrieval, result: Result, chosen: Chosen) -> Signal:
    return model.signal(result)


def _rows(model: PhaseRetrieval, result: Result, signal: Signal) -> Lines:
    kind = "complex" if np.iscomplexobj(signal.values) else "real"
    return [
        ("signal", f"{signal.values.size:,} {kind} numbers, up to a factor of modulus 1"),
        ("residual", f"{signal.residual:.2g}, | |a u|^2 - b | / |b|"),
    ]


def _proved(model: PhaseRetrieval, result: Result, signal: Signal) -> Lines:
    return [("bound", f"{number(result.bound, down=True)}, no x has a smaller objective")]


def _figures(model: Any, result: Result, signal: Signal | None) -> Figures:
    return {"residual": None if signal is None else signal.residual}


def _lines(signal: Signal) -> Iterator[str]:
    values = np.asarray(signal.values, dtype=np.complex128)
    return (f"{value.real:.17g},{value.imag:.17g}" for value in values)


PHASE_RETRIEVAL = Application(
    name="phase-retrieval",
    title="a signal from the intensities of its measurements",
    about="""\
    Recover a signal u from intensities b_i = |(a u)_i|^2, with or without noise,
    by solving the convex problem for x = u u*. No start near the solution is
    needed.

    FILE was written by numpy.savez. It holds the intensities b and the
    measurements: either a matrix a, real or complex, with one row per
    measurement, or the masks of coded diffraction, of shape (L, h, w), where b
    holds the intensities of the 2-D Fourier transforms of masks * image. Other
    arrays are ignored, and nothing is unpickled.""",
    example="condal solve measured.npz --as phase-retrieval --out signal.csv",
    noun="numbers, the real and imaginary parts of the signal",
    build=_build,
    answer=_answer,
    rows=_rows,
    proved=_proved,
    figures=_figures,
    lines=_lines,
    out="the signal, one number per line, as real and imaginary part",
    options=(
        click.Option(
            ["--trace"],
            type=click.FloatRange(min=0, min_open=True),
            metavar="T",
            help="An upper bound on |u|^2; default: from the intensities.",
        ),
    ),
    resolved=lambda model: {} if model.scale is not None else {"trace": model.trace},
)
