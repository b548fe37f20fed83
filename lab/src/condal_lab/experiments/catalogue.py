"""The experiments: instances, methods, budgets and the paper's claims; and how one is repeated."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Literal, TypeAlias

from condal.errors import ProblemError
from condal.io.formats.writing import write_text
from condal_lab.experiments import claims, guarantees, paper, rate_claims, rates, rivals
from condal_lab.experiments.claims import NotRun, PaperClaim, Study
from condal_lab.experiments.data import find
from condal_lab.experiments.folder import ExperimentFolder
from condal_lab.experiments.instances import SPECTRA, Instance, build
from condal_lab.experiments.run import ExperimentCase, run
from condal_lab.experiments.trial import TrialBudget
from condal_lab.sweeps.progress import Watch
from condal_lab.sweeps.workers import Workers

Layout = Literal["best", "trials", "atoms"]


@dataclass(frozen=True)
class Measured:
    """Claims with their verdicts, and the paths of the figures that were drawn."""

    claims: list[PaperClaim]
    figures: tuple[Path, ...] = ()


# Measurements that need no instance take `quick`, `workers`, `watch` and `section`, a folder for
# results that are kept, and figures.
Measure: TypeAlias = Callable[..., Measured]


@dataclass(frozen=True)
class InstancePlan:
    """An instance, its full budget, the budget of its stand-in, and the file that it needs."""

    name: str
    full: TrialBudget
    quick: TrialBudget
    needs: str | None = None

    def case(self, *, quick: bool, seconds: float | None = None) -> ExperimentCase:
        """Return the instance or its stand-in; `seconds` may lower the time limit of a trial."""
        budget = self.quick if quick else self.full
        if seconds is not None:
            budget = replace(budget, seconds=min(seconds, budget.seconds or seconds))
        return ExperimentCase(f"{self.name}-like" if quick else self.name, budget)


@dataclass(frozen=True)
class Experiment:
    """A figure of the paper, or, without plans, measurements that need no instance."""

    name: str
    title: str
    contenders: tuple[str, ...] = ()
    plans: tuple[InstancePlan, ...] = ()
    layout: Layout = "best"
    tests: tuple[paper.Test, ...] = ()
    remarks: tuple[str, ...] = ()
    measure: Measure | None = None
    criteria: tuple[str, ...] = paper.CRITERIA

    def instances(self, quick: bool, data: str | None) -> list[Instance]:
        """Build the instances of the plans, or their stand-ins."""
        return [build(plan.name, data, quick=quick) for plan in self.plans]

    def claims(self, studies: list[Study]) -> list[PaperClaim]:
        """Apply every test to every instance that has its methods."""
        claims = []
        for study, test in product(studies, self.tests):
            with suppress(NotRun):
                claims.append(test(study))
        return claims


def _measure_guarantees(*, quick: bool, **_: object) -> Measured:
    return Measured(guarantees.measure_all(quick=quick))


def _measure_rates(
    *, quick: bool, section: Path, workers: Workers, watch: Watch, iterations: int | None
) -> Measured:
    plan = rates.QUICK if quick else rates.FULL
    plan = replace(plan, iterations=iterations or plan.iterations)
    runs = rates.measure_all(plan, section, workers, watch)
    from condal_lab.experiments.figures import draw_rates  # imports matplotlib

    return Measured(rate_claims.expectations(runs), tuple(draw_rates(runs, section / "rates")))


# A full trial ends after its oracle calls, so its curve does not depend on the machine; a quick one
# after 10 seconds as well.
SMALL = (InstancePlan("gd97b", TrialBudget(30_000), TrialBudget(200, 10), "GD97_b"),)
GSET = (
    InstancePlan("g1", TrialBudget(6_000), TrialBudget(100, 10), "G1"),
    InstancePlan("g40", TrialBudget(6_000), TrialBudget(100, 10), "G40"),
)
CLUSTERING = (InstancePlan("mnist", TrialBudget(4_000), TrialBudget(100, 10), "MNIST features"),)
# The atoms converge only as far as the oracle is exact.
GENEIG = tuple(
    InstancePlan(
        f"geneig-{kind}",
        TrialBudget(500, exact=True),
        TrialBudget(100, 10, exact=True),
        "G40" if kind == "maxcut-sdp" else None,
    )
    for kind in SPECTRA
)

ALL = ("cgal", "cgal-decr", "cgal-ls", "corrective", "hcgm", "fwal", "ial", "ial-ls", "upd", "aupd")
ABSENT = (
    "CGS, Lan's smoothed CG and storage-optimal CGM are left out because they do not support a "
    "constraint Ax in K, GDMM because it needs polytopes."
)
PAPER_ALONE = (
    "The paper's figure shows CGAL (const.), HCGM and UPD; CGAL (decr.) and AUPD are added here."
)

CONST_AND_DECR = (
    paper.ahead("cgal", "cgal-decr", "5, B"),
    paper.ahead("cgal-decr", "hcgm", "5, B"),
)
FAST = (paper.hcgm_is_slow, paper.cgal_is_fast, *CONST_AND_DECR)
UPD = (rivals.upd_saturates, rivals.upd_drops_by_sign, rivals.upd_needs_the_optimum)
COST = (paper.oracle_dominates, paper.cost_is_nearly_the_same)

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "maxcut-small",
            "max-cut of a small graph, every method at its best (figure 2)",
            ALL,
            SMALL,
            "best",
            (
                *FAST,
                *(
                    paper.ahead("cgal", rival, "5")
                    for rival in ("hcgm", "fwal", "ial", "upd", "aupd")
                ),
                *UPD,
                *COST,
            ),
            (ABSENT,),
        ),
        Experiment(
            "maxcut-small-trials",
            "max-cut of a small graph, every trial (appendix B)",
            ALL,
            SMALL,
            "trials",
            (
                *CONST_AND_DECR,
                paper.hcgm_is_slow,
                paper.unbounded_duals,
                rivals.fwal_is_hard,
                rivals.two_parameters_cost,
                rivals.ial_has_stairs,
                paper.ahead("ial", "ial-ls", "B"),
                rivals.upd_saturates,
                rivals.aupd_is_alike,
                rivals.aupd_goes_on,
            ),
            (ABSENT,),
        ),
        Experiment(
            "maxcut-gset",
            "max-cut of G1 and G40 (figure 1)",
            ("cgal", "cgal-decr", "hcgm", "upd", "aupd"),
            GSET,
            "best",
            (
                *FAST,
                paper.ahead("cgal", "hcgm", "5.1"),
                paper.ahead("cgal", "upd", "5.1"),
                *UPD,
                rivals.aupd_gets_stuck,
                *COST,
            ),
            (PAPER_ALONE,),
        ),
        Experiment(
            "clustering",
            "k-means clustering of MNIST features (figure 3)",
            ("cgal", "cgal-decr", "hcgm", "upd"),
            CLUSTERING,
            "best",
            (
                paper.cgal_is_nearly_one,
                paper.hcgm_is_slow,
                *CONST_AND_DECR,
                paper.ahead("cgal", "hcgm", "5.2"),
                rivals.upd_cannot_be_tuned,
                rivals.upd_needs_the_optimum,
                *COST,
            ),
        ),
        Experiment(
            "geneig",
            "generalised eigenvectors, with the oracle's atoms (figure 4)",
            ("cgal", "hcgm", "upd"),
            GENEIG,
            "atoms",
            (
                paper.atoms_converge("cgal", linearly=True),
                paper.atoms_converge("hcgm", linearly=False),
                paper.atoms_converge("upd", linearly=False),
                paper.ahead("cgal", "hcgm", "5.3"),
            ),
        ),
        Experiment(
            "guarantees",
            "the theorem and the dual steps, on planted problems",
            measure=_measure_guarantees,
        ),
        Experiment(
            "rates",
            "rates beyond 1/sqrt(k), with and without strict complementarity",
            measure=_measure_rates,
            criteria=rate_claims.CRITERIA,
        ),
    )
}


def named(name: str) -> tuple[Experiment, ...]:
    """Return the experiment of that name, or every one for `all`."""
    if name == "all":
        return tuple(EXPERIMENTS.values())
    if name not in EXPERIMENTS:
        raise ProblemError(
            f"there is no experiment {name!r}; there are {', '.join(EXPERIMENTS)}, and all, which "
            "runs every one"
        )
    return (EXPERIMENTS[name],)


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
    iterations: int | None = None,
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
    name = name if iterations is None else f"{name}-{iterations}"
    section = folder.section(name)
    from condal_lab.experiments.figures import draw

    figures = draw(experiment.layout, studies, section / experiment.name) if studies else []
    measured = Measured([])
    if experiment.measure is not None:
        measured = experiment.measure(
            quick=quick, section=section, workers=workers, watch=watch, iterations=iterations
        )
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
