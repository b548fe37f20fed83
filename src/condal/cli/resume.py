"""The command `resume`: continue a solve from its checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from condal.cli.application import ANSWER_SHARE, SEED, Application, option, stored_seed
from condal.cli.applications import application_named
from condal.cli.claims import ASSUME_TRACE, TRACE_BOUND, trace_is_proved
from condal.cli.outputs import OPTIONS, outputs_in
from condal.cli.session import Session
from condal.cli.settings import engine, refuse_crowd, refusing_together
from condal.driver.checkpoint import Checkpoint
from condal.driver.run_record import Stop
from condal.errors import FormatError
from condal.result import Result
from condal.runtime.limits import TimeLimit

SOLVE_KEY = "solve"  # in a checkpoint's options: how the command line made the problem


PARAMS = [
    click.Argument(["file"], type=click.Path()),
    click.Argument(["problem"], type=click.Path()),
    option(
        "--tol TOL",
        "The relative gap to prove; also the limit for the infeasibility and its price; default: "
        "unchanged.",
        float,
    ),
    option("--max-iters N", "Stop after N more iterations.", int),
    option("--max-seconds S", "Stop after S more seconds.", float),
    option(
        "--seed N",
        "The seed of randomised proofs; that of the solve repeats its bits; default: a new one.",
        SEED,
    ),
    ASSUME_TRACE,
]


@click.command(params=[*PARAMS, *OPTIONS])
@click.pass_context
def resume(
    context: click.Context,
    /,
    file: str,
    problem: str,
    tol: float | None,
    max_iters: int | None,
    max_seconds: float | None,
    seed: int | None,
    assume_trace: float | None,
    **written: Any,
) -> None:
    """Resume a solve from the checkpoint FILE.

    \b
    Example:
      condal solve G1.txt --as max-cut --tol 1e-6 --checkpoint run.checkpoint
      condal resume run.checkpoint G1.txt --json result.json

    FILE was written by condal solve --checkpoint and is updated. The problem is
    built again from its file PROBLEM with the options of the solve, and the
    answer is that of an uninterrupted solve. A checkpoint of other data or of
    another version of condal is refused.

    If condal solve --distributed wrote it, FILE is a folder: resume with
    mpirun -n 4 condal resume FILE PROBLEM, on any number of ranks.
    """
    from condal.io.checkpoint.file import read_about

    Stop(1.0 if tol is None else tol, max_iters, max_seconds)
    limit, outputs = TimeLimit(max_seconds), outputs_in(written)
    sharded = engine().folder_reader(file) if Path(file).is_dir() else None
    application, own, settings = _read_solve(file, problem, sharded or read_about)
    if sharded is not None:
        storage = str(settings.get("storage", "auto"))
        application, outputs = engine().on_ranks(application, outputs, storage=storage)
    else:
        refuse_crowd("this checkpoint was written by one process; start it once")
    inputs = {"the file itself": problem, "the checkpoint": file}
    with refusing_together(sharded is not None):
        session = Session(context, application, problem, outputs, inputs, limit=limit)
    stated, limited = own.get(TRACE_BOUND), {**own, "limit": limit, "say": None}
    if stated not in (None, assume_trace) and not trace_is_proved(application, problem, limited):
        raise FormatError(
            f"assumes that no block of a solution has a trace above {stated:g}, which nothing "
            f"proves: give --assume-trace {stated!r} to assume it, too",
            path=file,
        )
    settings |= {"max_iters": max_iters, "max_seconds": max_seconds}
    settings |= {} if tol is None else {"tol": tol}

    def run(model: Any, **callbacks: Any) -> Result:
        result = application.resume(
            Checkpoint(file, say=session.warn),
            model,
            tol=tol,
            max_iters=max_iters,
            max_seconds=limit.share(1 - ANSWER_SHARE).max_seconds,
            seed=seed,
            **callbacks,
        )
        if tol is None and session.say is not None:
            session.say(f"tol is {result.tol:g}, as the checkpoint says; --tol sets another")
        return result

    session.run(own, settings, run, file)


def new_checkpoint(
    file: str,
    application: Application,
    model: Any,
    own: dict[str, Any],
    settings: dict[str, Any],
    say: Callable[[str], Any],
) -> Checkpoint:
    """Return the checkpoint of --checkpoint, with all that `resume` needs to build the model."""
    how = {
        "application": application.name,
        "options": application.saved_options(model, own),
        "settings": settings,
    }
    return Checkpoint(file, options={SOLVE_KEY: how}, say=say)


def _read_solve(
    file: str, problem: str, read: Callable[[str], dict[str, Any]]
) -> tuple[Application, dict[str, Any], dict[str, Any]]:
    """Return the application of a checkpoint, its options and the settings of the solve."""
    from condal.io.checkpoint.file import read_about

    try:
        options = read(file).get("options") or {}
    except FormatError:
        with suppress(FormatError):
            read_about(problem)
            raise click.UsageError(
                "the checkpoint comes first: condal resume FILE PROBLEM"
            ) from None
        raise
    how = options.get(SOLVE_KEY) if isinstance(options, dict) else None
    if not isinstance(how, dict) or not {"application", "options", "settings"} <= set(how):
        raise FormatError(
            "was not written by condal solve --checkpoint; resume it in Python, with condal.resume",
            path=file,
        )
    application = application_named(str(how["application"]), file)
    if not isinstance(how["options"], dict) or not isinstance(how["settings"], dict):
        raise FormatError("does not say how the problem was built; start again", path=file)
    own = application.restored_options(how["options"], file)
    # An earlier resume may have changed the tolerance.
    stored_seed(how["settings"], file)
    return application, own, {"seed": None, **how["settings"], "tol": options.get("tol")}
