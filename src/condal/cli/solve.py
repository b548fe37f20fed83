"""The command `solve`: an application, from its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from condal.certificates.bound import DEFAULT_FAILURE, require_failure
from condal.cli.application import ANSWER_SHARE, SEED, Application, option
from condal.cli.applications import APPLICATIONS
from condal.cli.command import ApplicationCommand, Name, application_of
from condal.cli.outputs import OPTIONS, outputs_in
from condal.cli.session import Session
from condal.cli.settings import (
    PARAMETERS,
    SETTINGS,
    build_storage,
    check_settings,
    engine,
    memory_note,
    method_in,
    refuse_crowd,
    refusing_together,
    settings_of,
)
from condal.driver.memory import Plan, make_plan
from condal.driver.run_record import Stop
from condal.methods import registry
from condal.result import Result
from condal.runtime.limits import TimeLimit
from condal.types import Method

if TYPE_CHECKING:
    from condal.driver.checkpoint import Checkpoint

METHODS = [registry.AUTOMATIC, *registry.METHODS]


def _dual_bound(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> float | str | None:
    """A number, or the word for the paper's rule."""
    if value is None or value == registry.PAPER:
        return value
    try:
        return float(value)
    except ValueError:
        text = f"wanted a positive number, or {registry.PAPER}; got {value!r}"
        raise click.BadParameter(text, ctx, param) from None


class Solve(ApplicationCommand):
    """The command, with the help of the application that --as or the name of FILE selects."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [*self.implied(args), *args])

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        application = application_of(ctx)
        if application is None:
            super().format_help_text(ctx, formatter)
            with formatter.section("Applications"):
                formatter.write_dl([(each.name, each.title) for each in APPLICATIONS.values()])
            return
        text = f"{application.about}\n\n--out writes {application.out}."
        formatter.write(f"\n  Example:\n    {application.example}\n")
        with formatter.indentation():
            for paragraph in text.split("\n\n"):
                formatter.write_paragraph()
                formatter.write_text(" ".join(paragraph.split()))


PARAMS = [
    click.Argument(["file"], type=click.Path()),
    option(
        "--as kind NAME",
        "The application to solve FILE as; not needed for a FILE.dat-s or FILE.mat.",
        Name(list(APPLICATIONS)),
        required=True,
    ),
    option(
        "--method NAME",
        f"The method: {', '.join(METHODS)}.",
        Name(METHODS),
        default=registry.AUTOMATIC,
    ),
    option(
        "--lam0 L",
        "The initial penalty of cgal, cgal-..., hcgm and sketchy-cgal; the fixed one of fw-al, "
        "ial, gdmm and cgs.",
        float,
    ),
    option(
        "--D-Y D_Y [D|paper]",
        "A bound on the norm of the dual of cgal, cgal-...; paper for D_X |A| lam0.",
        callback=_dual_bound,
    ),
    option("--eps E", "The accuracy of upd, aupd and ial.", float),
    option("--rho R", "The factor of the dual step of fw-al, gdmm.", float),
    option(
        "--normalise/--no-normalise",
        "Whether these parameters are for the normalised problem (the default) or for the problem "
        "in its own units.",
        default=None,
    ),
    option(
        "--tol TOL",
        "The relative gap to prove; also the limit for the infeasibility and its price; 0 runs to "
        "--max-iters or --max-seconds.",
        float,
        default=1e-3,
    ),
    option("--max-iters N", "Stop after N iterations.", int),
    option("--max-seconds S", "Stop after S seconds, from reading FILE to the answer.", float),
    option(
        "--storage [auto|dense|factored|sketch:R]",
        "What to keep of the n x n unknowns; sketch:R keeps n x R.",
        default="auto",
    ),
    option(
        "--seed N",
        "The seed of all random numbers; the same seed gives the same answer, unless a time limit "
        "stops the solve. By default randomised proofs begin at random.",
        SEED,
    ),
    option(
        "--failure P",
        "The probability with which the proofs may be wrong; 0 for deterministic proofs only.",
        float,
        default=DEFAULT_FAILURE,
    ),
    option(
        "--max-memory SIZE",
        "Use at most this much memory in total, such as 4GB, or refuse to start.",
    ),
    option(
        "--checkpoint FILE",
        "Write a new checkpoint file, updated every minute, for condal resume.",
    ),
    option(
        "--warm-start DIR",
        "Start from the point and dual that --save wrote for a similar problem.",
    ),
    option(
        "--distributed",
        "Solve on all ranks that mpirun or srun started: max-cut, theta, phase-retrieval.",
    ),
]


@click.command(cls=Solve, params=[*PARAMS, *OPTIONS])
@click.pass_context
def solve(
    context: click.Context,
    /,
    file: str,
    kind: str,
    max_memory: str | None,
    checkpoint: str | None,
    warm_start: str | None,
    distributed: bool,
    failure: float,
    **chosen: Any,
) -> None:
    """Solve the problem in FILE and prove how good the answer is.

    \b
    Example:
      condal solve G1.txt --as max-cut --tol 1e-2 --json result.json

    The application decides what FILE is and which further options there are:
    see condal solve --as NAME --help. Ctrl-C stops the solve and prints the
    best answer so far; a second Ctrl-C aborts.
    """
    outputs, settings = outputs_in(chosen), settings_of(chosen)
    own = {name: chosen[name] for name in chosen if name not in (*SETTINGS, *PARAMETERS)}
    check_settings(settings, max_memory)
    require_failure(failure)
    surer = {} if failure == DEFAULT_FAILURE else {"failure": failure}
    limit = TimeLimit(settings["max_seconds"])
    application = APPLICATIONS[kind]
    if distributed:
        if warm_start is not None:
            raise click.UsageError("--warm-start does not work with --distributed", context)
        if surer:
            raise click.UsageError("--failure does not work with --distributed", context)
        method = settings["method"]
        settings["tol"] = engine().tol_of(context, settings["tol"], kind, method)
        application, outputs = engine().on_ranks(application, outputs, method, settings["storage"])
    else:
        refuse_crowd("add --distributed, or start it once")
    inputs = {f"the --{name} file": own[name] for name in application.inputs}
    inputs = {what: path for what, path in inputs.items() if path is not None}
    with refusing_together(distributed):
        session = Session(
            context,
            application,
            file,
            outputs,
            {"the file itself": file, **inputs},
            None if distributed else checkpoint,  # ranks write a folder, checked where it is made
            limit=limit,
        )

    def written(model: Any, path: str) -> Checkpoint:
        from condal.cli.resume import new_checkpoint

        return new_checkpoint(path, application, model, own, settings, session.warn)

    def run(model: Any, **callbacks: Any) -> Result:
        if warm_start is not None:
            from condal.io.results import load

            callbacks["warm_start"] = load(warm_start).result
        return solve_model(
            application,
            model,
            {**settings, "storage": "auto"} if distributed else settings,  # ranks have their own
            limit=limit,
            max_memory=max_memory,
            say=None if distributed else session.say,
            checkpoint=None if checkpoint is None else written(model, checkpoint),
            **callbacks,
            **surer,
        )

    session.run(own, settings, run, checkpoint)


def solve_model(
    application: Application,
    model: Any,
    settings: Mapping[str, Any],
    *,
    limit: TimeLimit,
    max_memory: str | None,
    say: Callable[[str], Any] | None = None,
    **options: Any,
) -> Result:
    """Solve the model with the settings of the command line, in time for the answer.

    `say` gets a note on the memory, and the solve follows the plan that the note is about.
    """
    method, tol = method_in(settings), settings["tol"]
    aim = Stop(tol, settings["max_iters"], settings["max_seconds"]).aim
    plan: Plan | Method | None = method
    storage = build_storage(
        settings["storage"], model.problem, application.noun, settings["seed"] or 0
    )
    if say is not None:
        plan = make_plan(model.problem, method, storage, tol=aim, max_memory=max_memory)
        note = memory_note(model.problem, plan, storage)
        if note is not None:
            say(note)
    return application.solve(
        model,
        plan,
        tol=tol,
        max_iters=settings["max_iters"],
        max_seconds=limit.share(1 - ANSWER_SHARE).max_seconds,
        storage=storage,
        seed=settings["seed"],
        max_memory=max_memory,
        **options,
    )
