"""The application of conic programs: semidefinite in the sparse SDPA format, or in SeDuMi's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.cli.application import BUILD_SHARE, POSITIVE, Application, Chosen, option
from condal.linalg.points import Array, LowRank
from condal.problems.answers import Answer, Figures, Rows
from condal.result import Result
from condal.runtime.text import counted, number

if TYPE_CHECKING:
    from condal.problems.conic import ConicModel, Program

SEDUMI = ".mat"
ANY_TRACE = "nothing bounds it; the bound on the objective holds for any trace"
MAX_WRITTEN_ENTRIES = 5_000_000  # of X, by --out


@dataclass(frozen=True, eq=False)
class _Solution(Answer):
    """X, the dual z and its slack, as far as they are asked for."""

    model: ConicModel
    result: Result
    bound: float

    @cached_property
    def X(self) -> tuple[Any, ...]:
        return self.model.blocks(self.result)

    @cached_property
    def z(self) -> Array:
        return self.model.dual(self.result)

    @property
    def written(self) -> bool:
        """Whether X is small enough for --out."""
        entries = sum(block.length for block in self.model.program.blocks)
        return entries <= 2 * MAX_WRITTEN_ENTRIES

    def picture(self) -> Any:
        return {}

    def rows(self) -> Rows:
        trace: Any = self.model.trace
        sides = [f"{block.n:,}" for block in self.model.program.blocks]
        shown = ", ".join(sides[:6]) + ", ..." * (len(sides) > 6)
        ranks = [block.rank for block in self.X if isinstance(block, LowRank)]
        rank = f", in a factor of rank {max(ranks):,} at most" if ranks else ""
        rows = [("X", f"{counted(len(sides), 'block')} of {shown} rows{rank}")]
        if not self.written:
            rows.append(("--out", "writes only z and its slack; --save keeps X as a factor"))
        exact = "is" if trace.exact else "is at most"
        largest = number(trace.largest, up=True)
        bounded = f"of a block {exact} {largest}: {trace.how}" if trace.proved else ANY_TRACE
        spread = f"from {number(self.z.min())} to {number(self.z.max())}"
        duals = f"z, {counted(self.z.size, 'number')} {spread}"
        return [*rows, ("trace", bounded), ("duals", duals)]

    def proved(self) -> Rows:
        which = "of such a trace has" if self.model.assumes_trace(self.result) else "has"
        maximise = self.model.program.maximise
        objective = "a larger <F0, X>" if maximise else "a smaller <c, x>"
        bound = number(self.bound, up=maximise, down=not maximise)
        return [("bound", f"{bound}, no feasible X {which} {objective}")]

    def figures(self) -> Figures:
        trace: Any = self.model.trace
        return {
            "dual_objective": float(self.model.program.b @ self.z),
            "trace_bound": trace.largest if trace.proved else None,
        }

    def lines(self) -> Iterable[str]:
        from condal.io.formats.answers import solution_lines

        X = tuple(np.asarray(block) for block in self.X) if self.written else ()
        return solution_lines(self.z, self.model.slack(self.result), X)


def read_program(file: str) -> Program:
    """Read a program from a file of SeDuMi (.mat), or in the SDPA format."""
    from condal.problems.conic.files import read_sdpa, read_sedumi

    if file.lower().removesuffix(".gz").removesuffix(".xz").endswith(SEDUMI):
        return read_sedumi(file)
    return read_sdpa(file).program


def _program(file: str, chosen: Chosen) -> ConicModel:
    from condal.problems.conic import conic_model

    return conic_model(
        replace(read_program(file), name="sdp"),
        chosen["trace_bound"],
        max_seconds=chosen["limit"].share(BUILD_SHARE).max_seconds,
    )


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
    build=_program,
    out="z on one line, then the entries of its slack and of X, in CSDP's format",
    keys=lambda model: ("dual_objective", "trace_bound"),
    answer=lambda model, result, chosen: _Solution(model, result, result.bound),
    options=(
        option(
            "--trace-bound T",
            "An upper bound on the trace of each block of X, or the sum of a diagonal block; "
            "default: from the constraints.",
            POSITIVE,
        ),
    ),
    solve=lambda model, method=None, **options: model.solve(method, **options),
    resume=lambda checkpoint, model, **options: model.resume(checkpoint, **options),
    suffixes=(".dat-s", SEDUMI),
)
