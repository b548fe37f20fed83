"""The command `certify`: prove or refute the answer of any solver from the files alone."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

import click

from condal.certificates.certificate import Certificate, assumptions_of, rounded_text
from condal.certificates.verification import Verdict, certify_to, verify
from condal.cli.application import SEED, Application, Rows, option
from condal.cli.applications import APPLICATIONS
from condal.cli.applications.programs import SDP, read_program
from condal.cli.claims import (
    ASSUME_TRACE,
    TRACE_BOUND,
    of_folder,
    saved_application,
)
from condal.cli.command import ApplicationCommand, Name
from condal.driver.run_record import Stop
from condal.errors import MISFITS, CondalError, FormatError
from condal.io.formats.answers import read_answer, read_pair
from condal.io.results.reading import load
from condal.problem import problem_of
from condal.problems.conic import certify as certify_program
from condal.problems.conic.solver_answer import as_blocks
from condal.runtime.limits import TimeLimit
from condal.runtime.meter import Cancelled, Deadline, check_cancelled
from condal.runtime.text import WIDTH, escape_terminal, table

PROVED, NOT_PROVED = 0, 1  # exit codes
DEFAULT_TOL = 1e-3


@dataclass(frozen=True)
class Finding:
    """A heading, names and values, a verdict in words, and whether it is proved."""

    heading: str
    rows: Rows
    verdict: str
    proved: bool

    @property
    def text(self) -> str:
        """The page to print, 80 columns wide."""
        rows = [(name, escape_terminal(value)) for name, value in self.rows]
        sentences = (f"{line[:1].upper()}{line[1:]}" for line in self.verdict.splitlines())
        lines = [_wrapped(f"{sentence.rstrip('.')}.") for sentence in sentences]
        return "\n".join(["", _wrapped(self.heading), "", table(rows), "", *lines])


PARAMS = [
    click.Argument(["problem"], type=click.Path()),
    click.Argument(["answer"], type=click.Path()),
    option(
        "--as kind NAME",
        "The application of PROBLEM, for an answer that does not name it.",
        Name(list(APPLICATIONS)),
    ),
    option(
        "--tol TOL",
        "A relative gap to prove, in addition to the claims of a folder; 1e-3 for a file.",
        float,
    ),
    option("--seed N", "The seed of randomised proofs; default: a new one each time.", SEED),
    ASSUME_TRACE,
    option(
        "--max-seconds S",
        "Stop after S seconds; a proof that is not complete by then does not count.",
        float,
    ),
    option("--quiet", "Print errors only; the exit code is the verdict."),
]


@click.command(cls=ApplicationCommand, params=PARAMS)
@click.pass_context
def certify(
    context: click.Context,
    /,
    problem: str,
    answer: str,
    kind: str | None,
    tol: float | None,
    seed: int | None,
    assume_trace: float | None,
    max_seconds: float | None,
    quiet: bool,
    **own: Any,
) -> None:
    """Prove or refute ANSWER, whatever solver it comes from.

    \b
    Example:
      condal solve G1.txt --as max-cut --save run1
      condal certify G1.txt run1
      csdp theta1.dat-s theta1.sol
      condal certify theta1.dat-s theta1.sol

    ANSWER is a folder that condal solve --save wrote, a solution of an SDPA
    program by CSDP, DSDP, SDPA or SDPLR, or a .npz archive of x and y. The problem
    is read again from its file PROBLEM, and all is recomputed from the point and
    the dual: objective, infeasibility, bound and, for a folder, what it claims. No
    number is trusted. The verdict states what is proved, what it assumes, and what
    is missing. Time, work and history are not checked.

    Exit codes: 0 every claim of a folder is proved, or an answer in a file is
    proved to within --tol; 1 refuted or not proved; 2 a file cannot be read, or was
    changed after it was saved.
    """
    Stop(DEFAULT_TOL if tol is None else tol, max_seconds=max_seconds)  # refuses bad numbers
    limit = TimeLimit(max_seconds)
    try:
        with limit.on(), Deadline(until=limit.until).on():
            finding = _find(problem, answer, kind, own, limit, tol, seed, assume_trace)
    except Cancelled:
        finding = Finding(
            f"{Path(problem).name}, answered by {Path(answer).name}",
            [("time", f"{limit.seconds:.2f} s, and the limit is {max_seconds:g} s")],
            "not proved: the time was up before the proof; raise --max-seconds",
            proved=False,
        )
    if not quiet:
        click.echo(finding.text)
    context.exit(PROVED if finding.proved else NOT_PROVED)


def _find(
    problem: str,
    answer: str,
    kind: str | None,
    own: dict[str, Any],
    limit: TimeLimit,
    tol: float | None,
    seed: int | None,
    assume_trace: float | None,
) -> Finding:
    """Prove or refute what a folder claims, or what the file of another solver says; Cancelled if
    the time is up."""
    saved = None if Path(answer).is_file() else load(answer)
    if saved is None:
        tol = DEFAULT_TOL if tol is None else tol
        application, chosen = _named(problem, answer, kind), {**own, "seed": 0}
    else:
        application, chosen = saved_application(saved, problem, answer, kind, own)
    chosen |= {"limit": limit, "say": None}
    if assume_trace is not None:
        if TRACE_BOUND not in {option.name for option in application.options}:
            raise click.UsageError(
                f"--assume-trace is for SDPA programs; the trace of {application.name} is known"
            )
        chosen[TRACE_BOUND] = assume_trace
    if saved is None and application is SDP:
        return _of_program(problem, answer, tol or DEFAULT_TOL, chosen.get(TRACE_BOUND), seed)
    model, heading = application.build(problem, chosen), application.heading(problem, chosen)
    check_cancelled()
    if saved is None:
        heading = f"{heading}, answered by {Path(answer).name} (.npz)"
        return _of_pair(model, heading, answer, tol or DEFAULT_TOL, seed)
    verdict = verify(model, saved.result, tol=tol, seed=seed)
    assumed = assume_trace is not None
    asked = "" if tol is None else f"tol {tol:g}"
    stated, within = of_folder(
        verdict, application, model, saved, problem, chosen, asked, assumed=assumed
    )
    verdict = Verdict((*stated.claims, *within))
    headline = verdict.headline
    if stated.proved and not verdict.proved:
        headline = _not_within(within[0].text, tol, stated.headline)
    rows = [(claim.name, str(claim)) for claim in verdict.claims]
    return Finding(heading, rows, headline, verdict.proved)


def _named(problem: str, answer: str, kind: str | None) -> Application:
    """Return the application that --as or the name of the file selects."""
    stem = problem.lower().removesuffix(".gz").removesuffix(".xz")
    if kind is None and stem.endswith(SDP.suffixes):
        return SDP
    if kind is None:
        raise FormatError(
            "is not a folder of a saved result; for the answer of another solver, name the "
            "application of the problem with --as",
            path=answer,
        )
    return APPLICATIONS[kind]


def _not_within(excess: str, tol: float | None, proved: str) -> str:
    """Return the verdict on an answer that proves something, but not that it is within tol."""
    measure = excess.partition(" is not within tol")[0]
    return f"not proved to within tol {tol:g}: {measure} is too large\n{proved}"


def _wrapped(line: str) -> str:
    return textwrap.fill(escape_terminal(line), WIDTH, break_on_hyphens=False)


def _of_program(
    problem: str, answer: str, tol: float, trace_bound: float | None, seed: int | None
) -> Finding:
    """Return what a solution of a program proves, by another solver."""
    program = read_program(problem)
    check_cancelled()
    given = read_answer(answer, [b.n if b.kind == "psd" else -b.n for b in program.blocks])
    X = given.X if given.x is None else _blocks(program, given.x, answer)
    checked = certify_program(program, X, given.y, tol=tol, trace_bound=trace_bound, seed=seed)
    excess, verdict = checked.excess(tol) if checked.status == "bounded" else "", checked.verdict
    if checked.proved and excess:
        verdict = _not_within(excess, tol, verdict)
    heading = f"{SDP.name} of {Path(problem).name}, answered by {Path(answer).name}"
    rows = _rows(checked, tol, maximise=program.maximise)
    return Finding(f"{heading} ({given.writer})", rows, verdict, checked.proved and not excess)


def _of_pair(model: Any, heading: str, answer: str, tol: float, seed: int | None) -> Finding:
    """Return what the point and the dual of a .npz archive prove."""
    given = read_pair(answer)
    x = given.x if given.X is None else given.X[0] if len(given.X) == 1 else given.X
    if x is None or given.y is None:
        lacks = "a point x" if x is None else "a dual y"
        raise FormatError(f"holds no {lacks[2:]}: a proof needs {lacks}", path=answer)
    maximise = problem_of(model).maximise
    try:
        proved = certify_to(model, x, given.y, tol, seed)
    except (*MISFITS, CondalError) as error:
        rows = [("x and y", f"REFUTED: {error}")]
        return Finding(heading, rows, "refuted: x and y are not of this problem", proved=False)
    shown, excess = rounded_text(proved.bound, up=maximise), proved.excess(tol)
    side, optimum = ("most", "maximum") if maximise else ("least", "minimum")
    assumed = "; ".join(assumptions_of(proved)) or "without assumptions"
    verdict = f"proved, {assumed}: the {optimum} is at {side} {shown}"
    if excess:
        verdict = _not_within(excess, tol, verdict if proved.certified else proved.how)
    rows = [*_rows(proved, tol, maximise=maximise), ("proof", proved.because)]
    return Finding(heading, rows, verdict, not excess)


def _blocks(program: Any, x: Any, path: str) -> tuple[Any, ...]:
    """Return a point that is one array as blocks."""
    length = int(program.offsets[-1])
    if len(program.blocks) == 1 and x.shape != (length,):
        return (x,)
    if x.shape != (length,):
        raise FormatError(
            f"has x of shape {x.shape}; wanted {length} numbers, or the blocks X1, X2, ...",
            path=path,
        )
    return as_blocks(program, x)


def _rows(checked: Certificate, tol: float, *, maximise: bool) -> Rows:
    rows: Rows = []
    for name in ("objective", "infeasibility", "price"):
        value = getattr(checked, name)
        if not isnan(value):
            rows.append((name, f"{value:.10g}" if name == "objective" else f"{value:.3g}"))
    status = getattr(checked, "status", "")
    if status in ("infeasible", "unbounded"):
        return [*rows, (status, "proved")]
    bound = rounded_text(checked.bound, up=maximise) if checked.certified else "none is proved"
    excess = checked.excess(tol)
    within = f"NOT PROVED: {excess}" if excess else f"a gap of {checked.gap:.3g}, within tol"
    return [*rows, ("bound", bound), (f"tol {tol:g}", within)]
