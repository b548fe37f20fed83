"""--distributed: an application on the ranks that mpirun or srun has started.

All of them run the same command. The first one speaks and writes for all.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import click

from condal.cli.application import Application, Chosen
from condal.cli.outcome import Wishes
from condal.errors import FormatError, ProblemError

SILENT = Wishes(None, None, None, overwrite=False, port=None, quiet=True)
# How a process is told how many there are, and which it is: by Open MPI, and by MPICH and others.
SEVERAL = (("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"), ("PMI_SIZE", "PMI_RANK"))
VARIANTS = ("auto", "cgal", "cgal-decr", "cgal-ls", "hcgm", "fw-al")  # of the one method there is


def on_ranks(
    application: Application, wishes: Wishes, method: str = "auto", storage: str = "auto"
) -> tuple[Application, Wishes]:
    """The application as the ranks run it together, and what this one is to write."""
    from condal import distributed

    team = distributed.Team()
    if team.rank:
        sys.stdout = sys.stderr = StringIO()  # which nobody reads
    if application.name != "max-cut":
        raise ProblemError(f"--distributed is for --as max-cut; got --as {application.name}")
    if method not in VARIANTS:
        raise ProblemError(f"--distributed knows --method {', '.join(VARIANTS)}; got {method}")
    if wishes.folder is not None:
        raise ProblemError(
            "--distributed does not take --save, which wants x on one machine: --checkpoint keeps "
            "it, a part a rank, and --json and --out have what came of it"
        )
    if wishes.port is not None:
        raise ProblemError(
            "--distributed does not take --watch, a page on one machine: the first rank prints how "
            "far it is"
        )
    R = _sketched(storage)

    def build(file: str, chosen: Chosen) -> Any:
        with team.solving():
            model = distributed.read_max_cut(file, team)
            memory = distributed.describe_memory(model, R)  # all of them have a part in it
            if chosen["say"] is not None:
                chosen["say"](memory)
        return model

    def solve(model: Any, method: Any, **options: Any) -> Any:
        del options["storage"]
        distributed.require_memory(model, R, options.pop("max_memory"))
        return distributed.solve(model, method, R=R, **options)

    def answer(model: Any, result: Any, chosen: Chosen) -> Any:
        with team.solving():
            return application.answer(model, result, chosen)

    made = replace(
        application,
        build=build,
        solve=solve,
        resume=distributed.resume,
        answer=answer,
        picture=lambda model, result, answer: None,
        again=f"mpirun -n {team.size} condal resume",
    )
    return made, SILENT if team.rank else wishes


def refuse_crowd(advice: str) -> None:
    """Raise ProblemError where mpirun has started several processes, which would all do the same;
    the first one tells."""
    for size, rank in SEVERAL:
        count = os.environ.get(size, "")
        if count.isdecimal() and int(count) > 1:
            if os.environ.get(rank, "0") != "0":
                sys.stdout = sys.stderr = StringIO()
            raise ProblemError(f"condal was started {count} times, by mpirun or the like: {advice}")


def checked(distributed: bool) -> AbstractContextManager[None]:
    """What a rank looks at before it begins: where it refuses, all do."""
    if not distributed:
        return nullcontext()
    from condal.distributed import Team

    return Team().together()


def about(file: str) -> Callable[[str], dict[str, Any]] | None:
    """What reads what a checkpoint of many ranks says of itself; None if it is of one."""
    if not Path(file).is_dir():
        return None
    from condal.distributed import is_sharded_checkpoint, read_about

    if not is_sharded_checkpoint(file):
        raise FormatError(
            "is a folder without a manifest, and so no checkpoint of condal solve --distributed; "
            "check the path",
            path=file,
        )
    return read_about


def tol_of(context: click.Context, tol: float) -> float:
    """What is asked for: where nothing is typed, what people ask of problems of this size."""
    from condal.distributed import TOL

    typed = context.get_parameter_source("tol") is click.core.ParameterSource.COMMANDLINE
    return tol if typed else TOL


def _sketched(storage: str) -> int:
    """The R of sketch:R."""
    from condal.distributed import RANK

    kind, _, R = storage.partition(":")
    if kind not in ("auto", "sketch"):
        raise ProblemError(f"--distributed keeps a sketch: --storage sketch:R; got {storage}")
    return int(R) if R else RANK
