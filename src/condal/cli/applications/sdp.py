"""A conic program from a file: semidefinite in the sparse SDPA format, or in SeDuMi's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import click
import numpy as np

from condal.cli.application import BUILD_SHARE, Application, Chosen, Figures, Lines
from condal.cli.text import counted, number
from condal.io.formats.answers import solution_lines
from condal.linalg.points import Array, LowRank
from condal.problems.conic import ConicModel, Program, TraceBound, conic_model
from condal.problems.conic.files import read_sdpa, read_sedumi
from condal.result import Result
from condal.types import Method

SEDUMI = ".mat"
ANY_TRACE = "nothing bounds it; the bound on the objective holds for any trace"
MAX_WRITTEN_ENTRIES = 5_000_000  # of X, by --out


@dataclass(frozen=True, eq=False)
class _Solution:
    """X, the dual z and its slack; `written` is whether X is small enough for --out."""

    X: tuple[Any, ...]
    z: Array
    slack: tuple[Any, ...]
    written: bool


def read_program(file: str) -> Program:
    """Read a program from a file of SeDuMi (.mat), or in the SDPA format."""
    if file.lower().removesuffix(".gz").removesuffix(".xz").endswith(SEDUMI):
        return read_sedumi(file)
    return read_sdpa(file).program


def _build(file: str, chosen: Chosen) -> ConicModel:
    return conic_model(
        replace(read_program(file), name="sdp"),
        chosen["trace_bound"],
        seed=chosen["seed"],
        max_seconds=chosen["limit"].share(BUILD_SHARE).max_seconds,
        say=chosen["say"],
    )


def _solve(model: ConicModel, method: Method | None = None, **options: Any) -> Result:
    return model.solve(method, **options)


def _resume(checkpoint: Any, model: ConicModel, **options: Any) -> Result:
    return model.resume(checkpoint, **options)


def _answer(model: ConicModel, result: Result, chosen: Chosen) -> _Solution:
    entries = sum(block.length for block in model.program.blocks)
    return _Solution(
        model.blocks(result),
        model.dual(result),
        model.slack(result),
        entries <= 2 * MAX_WRITTEN_ENTRIES,
    )


def _rows(model: ConicModel, result: Result, solution: _Solution) -> Lines:
    assert isinstance(model.trace, TraceBound)
    sides = [f"{block.n:,}" for block in model.program.blocks]
    shown = ", ".join(sides[:6]) + ", ..." * (len(sides) > 6)
    ranks = [block.rank for block in solution.X if isinstance(block, LowRank)]
    rank = f", in a factor of rank {max(ranks):,} at most" if ranks else ""
    rows = [("X", f"{counted(len(sides), 'block')} of {shown} rows{rank}")]
    if not solution.written:
        rows.append(("--out", "writes only z and its slack; --save keeps X as a factor"))
    most = number(model.trace.largest, up=True)
    exact = "is" if model.trace.exact else "is at most"
    bound = f"of a block {exact} {most}: {model.trace.how}" if model.trace.proved else ANY_TRACE
    rows.append(("trace", bound))
    spread = f"from {number(solution.z.min())} to {number(solution.z.max())}"
    rows.append(("duals", f"z, {counted(solution.z.size, 'number')} {spread}"))
    return rows


def _proved(model: ConicModel, result: Result, solution: _Solution) -> Lines:
    which = "of such a trace has" if model.assumes_trace(result) else "has"
    maximise = model.program.maximise
    objective = "a larger <F0, X>" if maximise else "a smaller <c, x>"
    bound = number(result.bound, up=maximise)
    return [("bound", f"{bound}, no feasible X {which} {objective}")]


def _figures(model: ConicModel, result: Result, solution: _Solution | None) -> Figures:
    trace = model.trace if isinstance(model.trace, TraceBound) and model.trace.proved else None
    return {
        "dual_objective": None if solution is None else float(model.program.b @ solution.z),
        "trace_bound": None if trace is None else trace.largest,
    }


def _lines(solution: _Solution) -> Iterator[str]:
    X = tuple(np.asarray(block) for block in solution.X) if solution.written else ()
    return solution_lines(solution.z, solution.slack, X)


SDP = Application(
    name="sdp",
    title="a conic program in the format of SDPA or SeDuMi",
    about="""\
    Maximise <F0, X> subject to <Fi, X> = bi, with X block diagonal and positive
    semidefinite, and prove an upper bound on the objective. The dual minimises
    b'z subject to sum_i zi Fi - F0 being positive semidefinite. The command can
    also prove that a program is infeasible or unbounded.

    Small programs need no bound on the trace of X. For larger ones condal looks
    for a bound in the constraints; if it finds none, give --trace-bound.

    FILE is a program in the sparse SDPA format (.dat-s), or of SeDuMi (.mat):
    minimise c'x subject to Ax = b, x in the cones of K. It may be compressed with
    gzip or xz. A file with such a suffix needs no --as.""",
    example="condal solve maxG11.dat-s --tol 1e-4 --out solution.txt",
    noun="rows",
    build=_build,
    answer=_answer,
    rows=_rows,
    proved=_proved,
    figures=_figures,
    lines=_lines,
    out="z on one line, then the entries of its slack and of X, in CSDP's format",
    options=(
        click.Option(
            ["--trace-bound"],
            type=click.FloatRange(min=0, min_open=True),
            metavar="T",
            help="An upper bound on the trace of each block of X, or the sum of a diagonal block; "
            "default: from the constraints.",
        ),
    ),
    solve=_solve,
    resume=_resume,
    suffixes=(".dat-s", SEDUMI),
)
