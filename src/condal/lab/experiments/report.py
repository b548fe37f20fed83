"""An experiment from its name to its figures and claims.md."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from condal.io.formats.writing import write_text
from condal.lab.experiments import claims, paper
from condal.lab.experiments.catalogue import EXPERIMENTS, Experiment
from condal.lab.experiments.claims import Claim
from condal.lab.experiments.data import find
from condal.lab.experiments.folder import ExperimentFolder
from condal.lab.experiments.instances import Instance
from condal.lab.experiments.run import run
from condal.runtime import extras
from condal.sweeps.progress import Watch
from condal.sweeps.workers import Workers


@dataclass(frozen=True)
class Report:
    """Where the figures and the claims are, and what the claims came to."""

    figures: tuple[Path, ...]
    page: Path
    claims: tuple[Claim, ...]


def require_matplotlib() -> None:
    """Raise MissingExtra now, and not after the hours that the trials take."""
    extras.require("matplotlib", what="the figures need matplotlib", extra="experiments")


def require_data(experiment: Experiment, folder: ExperimentFolder, data: str | None) -> None:
    """Raise ProblemError now if a file that will be read cannot be had."""
    for plan in experiment.plans:
        if plan.needs is not None and folder.reference(plan.name) is None:
            find(plan.needs, data)


def produce(
    experiment: Experiment,
    folder: ExperimentFolder,
    *,
    quick: bool,
    data: str | None,
    workers: Workers,
    watch: Watch,
    seconds: float | None = None,
) -> Report:
    """Run what the folder lacks, then draw and compare."""
    require_matplotlib()
    studies = run(
        [plan.case(quick=quick, seconds=seconds) for plan in experiment.plans],
        partial(_instances, experiment.name, quick, data),
        experiment.contenders,
        folder,
        workers=workers,
        watch=watch,
    )
    name = f"{experiment.name}-quick" if quick else experiment.name
    section = folder.section(name)
    from condal.lab.experiments.figures import draw

    figures = draw(experiment.layout, studies, section / experiment.name)
    found = experiment.claims(studies)
    text = claims.page(
        name,
        experiment.title,
        studies,
        found,
        criteria=paper.CRITERIA,
        remarks=experiment.remarks,
        quick=quick,
    )
    write_text(section / "claims.md", [text])
    return Report(tuple(figures), section / "claims.md", tuple(found))


def _instances(name: str, quick: bool, data: str | None) -> list[Instance]:
    """By name, for a worker: tests are functions of functions, and cannot be sent."""
    return EXPERIMENTS[name].instances(quick, data)
