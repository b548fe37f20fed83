"""The results of an experiment on an instance: all trials of all methods, and the best of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from condal.lab.experiments.contenders import Contender
from condal.lab.experiments.curve import FLOOR_MARGIN, Curve, Slope, score, slope
from condal.lab.experiments.reference import Reference
from condal.lab.experiments.trial import MethodTrial, TrialBudget
from condal.lab.experiments.tune import Setting, at_edge, best


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
    def edges(self) -> tuple[str, ...]:
        """The parameters whose best value is an end of their range."""
        return at_edge(self.contender.parameters, self.setting)


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

    def slopes(self, curve: Curve) -> tuple[Slope, Slope]:
        """Return the slopes of the objective residual and of the infeasibility."""
        return (
            slope(curve.calls, curve.residual(self.optimum), self.floor),
            slope(curve.calls, curve.infeasibility),
        )
