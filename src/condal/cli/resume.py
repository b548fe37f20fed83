"""The command `resume`: a solve from its checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

from condal.cli import ranks
from condal.cli.application import Application
from condal.cli.applications import APPLICATIONS
from condal.cli.options import kept, restored
from condal.cli.outcome import Outcome, Wishes, outcomes
from condal.cli.output_paths import left
from condal.driver.checkpoint_writer import Checkpoint
from condal.driver.stop import Stop
from condal.errors import FormatError
from condal.io.checkpoint.file import read_about
from condal.result import Result

OF = "solve"  # the key of what the command line keeps with a checkpoint


@click.command()
@click.argument("file", type=click.Path())
@click.argument("problem", type=click.Path())
@click.option("--tol", type=float, metavar="TOL", help="The relative gap to prove; else as before.")
@click.option("--max-iters", type=int, metavar="N", help="Stop after N more iterations.")
@click.option("--max-seconds", type=float, metavar="S", help="Stop after S more seconds.")
@outcomes
@click.pass_context
def resume(
    context: click.Context,
    /,
    file: str,
    problem: str,
    tol: float | None,
    max_iters: int | None,
    max_seconds: float | None,
    wishes: Wishes,
) -> None:
    """Go on with a solve from FILE, which condal solve --checkpoint wrote.

    The problem is made again from its file PROBLEM, with the options of the
    solve, and the answer is the one that the solve would have had if it had been
    left alone. FILE is written on. It is refused if it is of other data, or of
    another version of condal.

    \b
    Example:
      condal solve G1.txt --as max-cut --tol 1e-6 --checkpoint run.checkpoint
      condal resume run.checkpoint G1.txt --json result.json

    FILE is a folder if condal solve --distributed wrote it: go on with
    mpirun -n 4 condal resume FILE PROBLEM, on any number of ranks.
    """
    Stop(1.0 if tol is None else tol, max_iters, max_seconds)
    about = ranks.about(file)
    application, own, settings = _of(file, problem, about or read_about)
    if about is not None:
        storage = str(settings.get("storage", "auto"))
        application, wishes = ranks.on_ranks(application, wishes, storage=storage)
    else:
        ranks.refuse_crowd("this checkpoint is of one process; start it once")
    read = {"the file itself": problem, "the checkpoint": file}
    with ranks.checked(about is not None):
        outcome = Outcome(context, application, problem, wishes, read)
    began = time.perf_counter()
    settings |= {"max_iters": max_iters, "max_seconds": max_seconds}
    settings |= {} if tol is None else {"tol": tol}

    def run(model: Any, **heard: Any) -> Result:
        return application.resume(
            Checkpoint(file, say=outcome.warn),
            model,
            tol=tol,
            max_iters=max_iters,
            max_seconds=left(max_seconds, began),
            **heard,
        )

    outcome.reach(own, settings, run, file)


def kept_at(
    file: str | None,
    application: Application,
    model: Any,
    own: dict[str, Any],
    settings: dict[str, Any],
    say: Callable[[str], Any],
) -> Checkpoint | None:
    """The checkpoint that --checkpoint asks for, with what `resume` makes the model of."""
    if file is None:
        return None
    made = {
        "application": application.name,
        "options": kept(application, model, own),
        "settings": settings,
    }
    return Checkpoint(file, options={OF: made}, say=say)


def _of(
    file: str, problem: str, about: Callable[[str], dict[str, Any]]
) -> tuple[Application, dict[str, Any], dict[str, Any]]:
    """What a checkpoint is of: the application, its options, and the settings of the solve."""
    try:
        found = about(file).get("options")
    except FormatError:
        with suppress(FormatError):
            read_about(problem)
            raise click.UsageError(
                "the checkpoint comes first: condal resume FILE PROBLEM"
            ) from None
        raise
    made = found.get(OF) if isinstance(found, dict) else None
    if not isinstance(made, dict) or not {"application", "options", "settings"} <= set(made):
        raise FormatError(
            "was not written by condal solve --checkpoint; resume it in Python, with condal.resume",
            path=file,
        )
    application = APPLICATIONS.get(str(made["application"]))
    if application is None:
        raise FormatError(
            f"is of an application {str(made['application'])[:40]!a} that this condal does not "
            f"know; wanted one of {', '.join(APPLICATIONS)}",
            path=file,
        )
    if not isinstance(made["options"], dict) or not isinstance(made["settings"], dict):
        raise FormatError("does not say how the problem was made; begin anew", path=file)
    own = restored(application, made["options"], file)
    return application, own, dict(made["settings"])
