"""The command `certify`: prove or refute the answer of any solver from the files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from condal.cli.applications import APPLICATIONS
from condal.cli.check_answer import DEFAULT_TOL, check_answer
from condal.cli.command import ApplicationCommand
from condal.cli.finding import Finding
from condal.cli.group import Name
from condal.cli.verify_folder import verify_folder
from condal.driver.run_record import Stop
from condal.runtime.meter import Cancelled, Deadline
from condal.runtime.time_limit import TimeLimit

PROVED, NOT_PROVED = 0, 1


@click.command(cls=ApplicationCommand)
@click.argument("problem", type=click.Path())
@click.argument("answer", type=click.Path())
@click.option(
    "--as",
    "kind",
    type=Name(list(APPLICATIONS)),
    metavar="NAME",
    help="The application of PROBLEM, for an answer that does not name it.",
)
@click.option(
    "--tol",
    type=float,
    metavar="TOL",
    help="A relative gap to prove, in addition to the claims of a folder; 1e-3 for a file.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="The seed of randomised proofs; default: a new one each time.",
)
@click.option(
    "--assume-trace",
    type=click.FloatRange(min=0, min_open=True),
    metavar="T",
    help="Assume that no block of a solution of an SDPA program has a larger trace.",
)
@click.option(
    "--max-seconds",
    type=float,
    metavar="S",
    help="Stop after S seconds; a proof that is not complete by then does not count.",
)
@click.option("--quiet", is_flag=True, help="Print errors only; the exit code is the verdict.")
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
    check = check_answer if Path(answer).is_file() else verify_folder
    try:
        with limit.on(), Deadline(until=limit.until).on():
            finding = check(
                problem,
                answer,
                kind=kind,
                own=own,
                tol=tol,
                seed=seed,
                assume_trace=assume_trace,
                limit=limit,
            )
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
