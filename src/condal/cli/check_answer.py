"""Check a file of another solver: what it proves of a problem, and what it lacks."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isfinite, isnan, nan
from pathlib import Path
from typing import Any

from condal.certificates.certificate import Certificate, CheckedAnswer, rounded_text
from condal.certificates.claims import Claim
from condal.certificates.evaluation import EvaluatedPoint
from condal.certificates.history import History
from condal.certificates.verification import MISFITS, Verdict, verify
from condal.cli.application import Lines
from condal.cli.applications import APPLICATIONS
from condal.cli.applications.sdp import read_program
from condal.cli.finding import Finding, not_within
from condal.cli.verify_folder import assumed_trace, heading_of
from condal.errors import CondalError, FormatError
from condal.io.formats.answers import GivenAnswer, read_answer, read_pair
from condal.problem import problem_of
from condal.problems.conic import certify
from condal.problems.conic.solver_answer import as_blocks
from condal.result import Result, Status
from condal.runtime.meter import check_cancelled
from condal.runtime.time_limit import UNLIMITED, TimeLimit
from condal.types import from_user

DEFAULT_TOL = 1e-3
PROGRAMS = "sdp"  # the application whose answers have formats of their own


def check_answer(
    problem: str,
    answer: str,
    *,
    kind: str | None,
    own: dict[str, Any],
    tol: float | None,
    seed: int | None,
    assume_trace: float | None,
    limit: TimeLimit = UNLIMITED,
) -> Finding:
    """Prove or refute what a file of another solver says of a problem.

    Cancelled is raised if the time is up.
    """
    tol = DEFAULT_TOL if tol is None else tol
    if kind is None and problem.lower().removesuffix(".gz").removesuffix(".xz").endswith(
        APPLICATIONS[PROGRAMS].suffixes
    ):
        kind = PROGRAMS
    if kind is None:
        raise FormatError(
            "is not a folder of a saved result; for the answer of another solver, name the "
            "application of the problem with --as",
            path=answer,
        )
    if kind == PROGRAMS:
        trace = own.get("trace_bound") if assume_trace is None else assume_trace
        return _check_program(problem, answer, tol, trace, seed)
    application = APPLICATIONS[kind]
    if assume_trace is not None:
        assumed_trace(application, assume_trace)
    chosen = {**own, "seed": 0, "limit": limit, "say": None}
    model = application.build(problem, chosen)
    check_cancelled()
    verdict = _check_pair(model, answer, tol, seed)
    heading = _heading(heading_of(application, problem, chosen), answer, ".npz")
    finding, within = Finding.of(heading, verdict), verdict.claims[-1]
    if verdict.unproved != (within,) or verdict.certificate is None:
        return finding
    others = replace(verdict, claims=verdict.claims[:-1])  # a bound is proved, but not close enough
    return replace(finding, verdict=not_within(within, others.headline))


def _heading(problem: str, answer: str, writer: str) -> str:
    return f"{problem}, answered by {Path(answer).name} ({writer})"


def _check_program(
    problem: str, answer: str, tol: float, trace_bound: float | None, seed: int | None
) -> Finding:
    """Check a solution of a program."""
    program = read_program(problem)
    check_cancelled()
    given = read_answer(answer, [b.n if b.kind == "psd" else -b.n for b in program.blocks])
    X = given.X if given.x is None else _blocks(program, given.x, answer)
    checked = certify(program, X, given.y, tol=tol, trace_bound=trace_bound, seed=seed)
    excess = checked.excess(tol) if checked.status == "bounded" else ""
    solved, verdict = checked.proved and not excess, checked.verdict
    if checked.proved and excess:
        verdict = not_within(Claim(f"tol {tol:g}", False, excess), verdict)
    heading = _heading(f"{PROGRAMS} of {Path(problem).name}", answer, given.writer)
    return Finding(heading, _rows(checked, tol, maximise=program.maximise), verdict, solved)


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


def _rows(checked: CheckedAnswer, tol: float, *, maximise: bool) -> Lines:
    rows: Lines = []
    for name in ("objective", "infeasibility", "price"):
        value = getattr(checked, name)
        if not isnan(value):
            rows.append((name, f"{value:.10g}" if name == "objective" else f"{value:.3g}"))
    if checked.status in ("infeasible", "unbounded"):
        return [*rows, (checked.status, "proved")]
    none = "none is proved"
    bound = rounded_text(checked.bound, up=maximise) if isfinite(checked.bound) else none
    excess = checked.excess(tol)
    within = f"NOT PROVED: {excess}" if excess else f"a gap of {checked.gap:.3g}, within tol"
    return [*rows, ("bound", bound), (f"tol {tol:g}", within)]


def _check_pair(model: Any, answer: str, tol: float, seed: int | None) -> Verdict:
    """Check the point and the dual of a .npz archive."""
    given = read_pair(answer)
    x = given.x if given.X is None else given.X[0] if len(given.X) == 1 else given.X
    if x is None or given.y is None:
        lacks = "a point x" if x is None else "a dual y"
        raise FormatError(f"holds no {lacks[2:]}: a proof needs {lacks}", path=answer)
    verdict = verify(model, _unclaimed(model, x, given), tol=tol, seed=seed)
    certificate, maximise = verdict.certificate, problem_of(model).maximise
    if certificate is None:
        return verdict
    shown = rounded_text(certificate.bound, up=maximise)
    proved = certificate.certified
    text = f"{shown} proved by {certificate.because}" if proved else str(certificate)
    bound = Claim("bound", proved, text)
    *others, within = (_measured(claim) for claim in verdict.claims)
    side, optimum = ("most", "maximum") if maximise else ("least", "minimum")
    statement = f"the {optimum} is at {side} {shown}"
    return Verdict((*others, bound, within), certificate, statement)


def _measured(claim: Claim) -> Claim:
    """Return a claim as a measurement: nothing was claimed."""
    return replace(claim, text=claim.text.removesuffix(", as claimed"))


def _unclaimed(model: Any, x: Any, given: GivenAnswer) -> Result:
    """Return a result that claims what is true of x, and no bound."""
    problem = problem_of(model)
    none = -problem.sense * inf
    try:
        seen = EvaluatedPoint.of(problem, from_user(problem.X, x))
        certificate = Certificate(
            seen.objective,
            none,
            seen.infeasibility,
            "",
            failure=1.0,
            distance_to_X=seen.distance_to_X,
        )
    except (*MISFITS, CondalError):  # verify says what does not fit
        certificate = Certificate(nan, none, nan, "")
    return Result(
        x=x,
        y=given.y,
        status=Status.STALLED,
        certificate=certificate,
        history=History(),
        seconds=0.0,
        oracle_calls=0,
        matvecs=0,
    )
