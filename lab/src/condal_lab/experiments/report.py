"""Run an experiment and write its figures and claims.md."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from condal.io.formats.writing import write_text
from condal_lab.experiments import claims
from condal_lab.experiments.catalogue import EXPERIMENTS, Experiment, Measured
from condal_lab.experiments.claims import PaperClaim
from condal_lab.experiments.data import find
from condal_lab.experiments.folder import ExperimentFolder
from condal_lab.experiments.instances import Instance
from condal_lab.experiments.run import run
from condal_lab.sweeps.progress import Watch
from condal_lab.sweeps.workers import Workers


@dataclass(frozen=True)
class ExperimentReport:
    """The paths of the figures and of claims.md, and the claims with their verdicts."""

    figures: tuple[Path, ...]
    page: Path
    claims: tuple[PaperClaim, ...]


def require_data(experiment: Experiment, folder: ExperimentFolder, data: str | None) -> None:
    """Raise ProblemError before the trials if a file is not available."""
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
) -> ExperimentReport:
    """Run the trials that the folder lacks, draw the figures and check the claims."""
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
    from condal_lab.experiments.figures import draw

    figures = draw(experiment.layout, studies, section / experiment.name) if studies else []
    measured = Measured([])
    if experiment.measure is not None:
        measured = experiment.measure(quick=quick, section=section, workers=workers, watch=watch)
    checked = [*experiment.claims(studies), *measured.claims]
    text = claims.page(
        name,
        experiment.title,
        studies,
        checked,
        criteria=experiment.criteria,
        remarks=experiment.remarks,
        quick=quick,
    )
    write_text(section / "claims.md", [text])
    drawn = (*figures, *measured.figures)
    return ExperimentReport(drawn, section / "claims.md", tuple(checked))


def _instances(name: str, quick: bool, data: str | None) -> list[Instance]:
    """Build the instances in a worker, by name: the tests are closures and cannot be pickled."""
    return EXPERIMENTS[name].instances(quick, data)
