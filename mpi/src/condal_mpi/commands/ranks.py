"""--distributed: an application on the ranks that mpirun or srun has started.

All ranks run the same command. The first rank prints and writes for all.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from io import StringIO
from typing import Any

import click

import condal_mpi
from condal.cli.application import Application, Chosen, rounded
from condal.cli.outputs import Outputs
from condal.errors import FormatError, ProblemError
from condal.methods import registry
from condal.runtime.meter import uninterrupted

APPLICATIONS = ("max-cut", "theta", "phase-retrieval")
SILENT = Outputs(None, None, None, overwrite=False, quiet=True)
VARIANTS = (
    registry.AUTOMATIC,
    *(name for name, method in registry.METHODS.items() if method.distributed),
)


def on_ranks(
    application: Application, outputs: Outputs, method: str = "auto", storage: str = "auto"
) -> tuple[Application, Outputs]:
    """Return the application as the ranks run it together, and the outputs of this rank."""
    team = condal_mpi.Team()
    silence_others(team)
    if application.name not in APPLICATIONS:
        names = f"--as {', '.join(APPLICATIONS[:-1])} and {APPLICATIONS[-1]}"
        raise ProblemError(f"--distributed is for {names}; got --as {application.name}")
    if method not in VARIANTS:
        raise ProblemError(f"--distributed takes --method {', '.join(VARIANTS)}; got {method}")
    if outputs.folder is not None or outputs.proof is not None:
        raise ProblemError(
            "--distributed does not take --save or --proof, which need one machine: use "
            "--checkpoint, which keeps one part per rank, and --json and --out for the answer"
        )
    R = _sketch_size(storage)

    def build(file: str, chosen: Chosen) -> Any:
        with uninterrupted(), team.solving():  # ranks would ask for the time at other places
            if application.name == "max-cut":
                model: Any = condal_mpi.read_max_cut(file, team)
            elif application.name == "theta":
                model = _theta(file, team, chosen)
            else:
                options = {"trace": chosen["trace"], "name": application.name}
                model = condal_mpi.read_phase_retrieval(file, team, **options)
            # A collective call: every rank makes it.
            memory = condal_mpi.describe_memory(model, R, registry.method_of(method))
            if chosen["say"] is not None:
                chosen["say"](memory)
        return model

    def solve(model: Any, method: Any, **options: Any) -> Any:
        del options["storage"]
        condal_mpi.require_memory(model, R, options.pop("max_memory"), method)
        return condal_mpi.solve(model, method, R=R, **options)

    def answer(model: Any, result: Any, chosen: Chosen) -> Any:
        with team.solving():
            found: Any = rounded if application.name == "theta" else application.answer
            return replace(found(model, result, chosen), model=_Described(model))

    on_team = replace(
        application,
        build=build,
        solve=solve,
        resume=condal_mpi.resume,
        answer=answer,
        keys=lambda model: application.keys(_Described(model)),
        resume_command=f"mpirun -n {team.size} condal resume",
    )
    return on_team, SILENT if team.rank else outputs


def silence_others(team: Any) -> None:
    """Discard what all ranks but the first print."""
    if team.rank:
        sys.stdout = sys.stderr = StringIO()


@dataclass(frozen=True, eq=False)
class _Described:
    """What an answer says of a model on ranks, whose vertices are numbered from 1."""

    model: Any
    of_complement = False

    @property
    def names(self) -> range:
        return range(1, self.model.n + 1)

    @property
    def weights(self) -> Any:
        return self.model.weights


def _theta(file: str, team: Any, chosen: Chosen) -> Any:
    for option in ("plus", "complement"):
        if chosen[option]:
            raise ProblemError(f"--distributed does not take --{option}: x is never stored whole")
    return condal_mpi.read_theta(file, team)


def refusing_together() -> AbstractContextManager[None]:
    """Return a context in which all ranks refuse if one does."""
    return condal_mpi.Team().together()


def folder_reader(file: str) -> Callable[[str], dict[str, Any]]:
    """Return the function that reads the header of a distributed checkpoint."""
    if not condal_mpi.is_sharded_checkpoint(file):
        raise FormatError(
            "is a folder without a manifest, not a checkpoint of condal solve --distributed",
            path=file,
        )
    return condal_mpi.read_about


def tol_of(context: click.Context, tol: float, kind: str, method: str) -> float:
    """Return --tol if it was typed, else the default of distributed solves."""
    if context.get_parameter_source("tol") is click.core.ParameterSource.COMMANDLINE:
        return tol
    if method in (registry.AUTOMATIC, "lowrank", "spheres"):
        return condal_mpi.LOW_RANK_TOL
    return condal_mpi.TOL if kind == "max-cut" else condal_mpi.ENTRY_TOL


def _sketch_size(storage: str) -> int | None:
    """Return the R of sketch:R; None if it is left to the solve."""
    kind, _, R = storage.partition(":")
    if kind not in ("auto", "sketch"):
        raise ProblemError(f"--distributed keeps a sketch: --storage sketch:R; got {storage}")
    return int(R) if R else None
