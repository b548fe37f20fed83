"""The results of an experiment on an instance: all trials of all methods, and the best of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

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
