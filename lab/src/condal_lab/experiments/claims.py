"""The results of an experiment on an instance, and claims.md: the paper's claims about them.

A study has all trials of all methods, and the best of each. A claim has its measured value, and
whether it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import TypeAlias, TypeVar

import condal
from condal.errors import CondalError
from condal_lab.experiments.contenders import (
    CONTENDERS,
    Contender,
    Setting,
    at_edge,
    best,
    next_settings,
)
from condal_lab.experiments.curve import FLOOR_MARGIN, Curve, Slope, score, slope
from condal_lab.experiments.trial import MethodTrial, Reference, TrialBudget
from condal_lab.markdown import markdown


@dataclass(frozen=True, eq=False)
class Tuned:
    """All trials of a method on an instance, their scores, and the best setting."""

    contender: Contender
    trials: Mapping[Setting, MethodTrial]
    optimum: float
    calls: int

    @cached_property
    def scores(self) -> dict[Setting, float]:
        """The score of each setting."""
        return {s: score(t.curve, self.optimum, self.calls) for s, t in self.trials.items()}

    @cached_property
    def setting(self) -> Setting:
        """The setting of the best score."""
        return best(self.scores, self.contender.parameters)

    @property
    def score(self) -> float:
        """The best score."""
        return self.scores[self.setting]

    @property
    def trial(self) -> MethodTrial:
        """The best trial."""
        return self.trials[self.setting]

    @property
    def curve(self) -> Curve:
        """The iterates of the best trial."""
        return self.trial.curve.iterates

    @property
    def label(self) -> str:
        """The method and its best parameters."""
        return f"{self.contender.label}, {self.contender.describe(self.setting)}"

    @property
    def remark(self) -> str:
        """Say whether the best value is an end of its range, or a neighbour of it is missing."""
        parameters = self.contender.parameters
        remarks = [
            f"{name} is at the end of its range" for name in at_edge(parameters, self.setting)
        ]
        if next_settings(parameters, self.scores):
            remarks.append("not all neighbours were tried")
        return ", ".join(remarks)


class NotRun(CondalError):
    """A claim is about a method that was not run."""


class TunedMethods(dict[str, Tuned]):
    """The tuned methods by name; a method that was not run raises NotRun."""

    def __missing__(self, name: str) -> Tuned:
        raise NotRun(f"{CONTENDERS[name].label} was not run")


@dataclass(frozen=True, eq=False)
class Study:
    """An instance, its certified optimum, and the methods tuned on it."""

    instance: str
    title: str
    reference: Reference
    budget: TrialBudget
    tuned: Mapping[str, Tuned]

    @property
    def optimum(self) -> float:
        """f*, as accurately as it is known."""
        return self.reference.objective

    @property
    def floor(self) -> float:
        """The residual below which the error of the reference dominates."""
        unit = abs(self.reference.objective) or 1.0
        return FLOOR_MARGIN * abs(self.reference.objective - self.reference.bound) / unit

    def only(self, names: Sequence[str]) -> Study:
        """Return the study of these methods."""
        tuned = ((name, self.tuned[name]) for name in names if name in self.tuned)
        return replace(self, tuned=TunedMethods(tuned))

    def slopes(self, curve: Curve) -> tuple[Slope, Slope]:
        """Return the slopes of the objective residual and of the infeasibility."""
        return (
            slope(curve.calls, curve.residual(self.optimum), self.floor),
            slope(curve.calls, curve.infeasibility),
        )


def make_study(
    instance: str,
    title: str,
    reference: Reference,
    budget: TrialBudget,
    trials: Iterable[MethodTrial],
) -> Study:
    """Group the trials by method, in the order of `CONTENDERS`."""
    by_name: dict[str, dict[Setting, MethodTrial]] = {}
    for trial in trials:
        by_name.setdefault(trial.task.contender, {})[trial.task.setting] = trial
    tuned = TunedMethods(
        (name, Tuned(contender, by_name[name], reference.objective, budget.calls))
        for name, contender in CONTENDERS.items()
        if name in by_name
    )
    return Study(instance, title, reference, budget, tuned)


class ClaimVerdict(Enum):
    """The verdict of a measurement on a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "undecided"
    UNTESTED = "not tested here"

    @classmethod
    def of(cls, truth: bool | ClaimVerdict | None) -> ClaimVerdict:
        """Return the verdict; None means that nothing could be measured."""
        if truth is None:
            return cls.UNTESTED
        if isinstance(truth, ClaimVerdict):
            return truth
        return cls.HOLDS if truth else cls.FAILS


@dataclass(frozen=True)
class PaperClaim:
    """A claim of the paper in our words, with its measurement and verdict on an instance."""

    where: str
    text: str
    measured: str
    verdict: ClaimVerdict
    instance: str = ""


# What was measured, in words, and whether the claim holds; None if nothing could be measured.
Measured: TypeAlias = tuple[str, bool | ClaimVerdict | None]
Subject = TypeVar("Subject")


def claim(
    where: str, text: str
) -> Callable[[Callable[[Subject], Measured]], Callable[[Subject], PaperClaim]]:
    """Make a measurement, of a study or of planted problems, a test of a claim."""

    def decorated(measure: Callable[[Subject], Measured]) -> Callable[[Subject], PaperClaim]:
        def test(subject: Subject) -> PaperClaim:
            measured, truth = measure(subject)
            instance = subject.instance if isinstance(subject, Study) else "planted"
            return PaperClaim(where, text, measured, ClaimVerdict.of(truth), instance)

        return test

    return decorated


def page(
    name: str,
    title: str,
    studies: Sequence[Study],
    claims: Iterable[PaperClaim],
    *,
    criteria: Sequence[str],
    remarks: Sequence[str] = (),
    quick: bool = False,
) -> str:
    """Return the text of claims.md."""
    blocks = [f"# {name}: {title}"]
    if quick:
        blocks.append(
            "A quick run: generated stand-ins replace the paper's data, and budgets are often too "
            "short to show a rate. Run without `--quick` to test the paper."
        )
    blocks += [
        "## The paper's claims",
        markdown(
            ("instance", "claim", "in the paper", "measured here", "verdict"),
            [(c.instance, c.text, c.where, c.measured, f"**{c.verdict.value}**") for c in claims],
        ),
        "## Definitions",
        "The criteria are the same for every run:",
        "\n".join(f"* {line}" for line in criteria),
    ]
    if studies:
        blocks += [
            "## The instances",
            instances_table(studies),
            "## The methods, each with its best parameters",
            methods_table(studies),
            "Parameters refer to the normalised problem that `condal.solve` passes to a method. "
            "Each was varied by factors of 10 until a value beat both its neighbours. All trials "
            "are in `../trials/`.",
        ]
    blocks += list(remarks)
    blocks.append(f"condal {condal.__version__}")
    return "\n\n".join(blocks) + "\n"


def instances_table(studies: Iterable[Study]) -> str:
    """Return a row per instance: its optimum and the budget of a trial."""
    rows = [
        (
            s.instance,
            s.title,
            f"{s.optimum:.10g}",
            f"{s.reference.gap:.1e}",
            f"{s.budget.calls:,}"
            + ("" if s.budget.seconds is None else f", at most {s.budget.seconds:g} s"),
        )
        for s in studies
    ]
    return markdown(("instance", "", "f*", "proved within", "calls per trial"), rows)


def methods_table(studies: Iterable[Study]) -> str:
    """Return a row per instance and method: its best parameters, score and number of trials."""
    rows = [
        (
            study.instance,
            tuned.contender.label,
            tuned.contender.describe(tuned.setting),
            f"{tuned.score:.1e}",
            str(len(tuned.trials)),
            tuned.trial.ended,
            tuned.remark,
        )
        for study in studies
        for tuned in study.tuned.values()
    ]
    head = ("instance", "method", "best", "score", "trials", "ended by", "remark")
    return markdown(head, rows)


def label(name: str) -> str:
    """Return the name of a method in figures and tables."""
    return CONTENDERS[name].label
