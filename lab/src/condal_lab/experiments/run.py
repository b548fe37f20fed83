"""Run an experiment: trials on all cores, each method tuned, every result written at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from condal_lab.experiments.claims import Study, make_study
from condal_lab.experiments.contenders import CONTENDERS, Contender, Setting, next_settings
from condal_lab.experiments.curve import score
from condal_lab.experiments.folder import ExperimentFolder, Known
from condal_lab.experiments.instances import Instance
from condal_lab.experiments.trial import MethodTrial, TrialBudget, TrialTask, reference, run_trial
from condal_lab.sweeps.progress import Watch
from condal_lab.sweeps.workers import Desk, Workers

Build = Callable[[], list[Instance]]


@dataclass(frozen=True)
class ExperimentCase:
    """The name of an instance, and the budget of a trial on it."""

    name: str
    budget: TrialBudget


def run(
    cases: Sequence[ExperimentCase],
    build: Build,
    contenders: Sequence[str],
    folder: ExperimentFolder,
    *,
    workers: Workers,
    watch: Watch,
) -> list[Study]:
    """Tune every contender on every instance; compute only what the folder lacks.

    `build` makes the instances of the cases. A worker calls it at most once.
    """
    return _ExperimentRun(cases, build, contenders, folder, workers, watch).go()


@dataclass(eq=False)
class _Search:
    """A method being tuned on an instance."""

    case: ExperimentCase
    contender: Contender
    trials: dict[Setting, MethodTrial] = field(default_factory=dict)
    pending: set[Setting] = field(default_factory=set)


class _ExperimentRun:
    """The loop: submit trials, keep their results, submit the settings that tuning asks for."""

    def __init__(
        self,
        cases: Sequence[ExperimentCase],
        build: Build,
        contenders: Sequence[str],
        folder: ExperimentFolder,
        workers: Workers,
        watch: Watch,
    ) -> None:
        self.cases, self.build, self.folder, self.watch = cases, build, folder, watch
        self.workers, self.desk = workers, Desk(workers)
        self.instances: dict[str, Any] = {}
        self.known: dict[str, Known] = {}
        self.searches = [_Search(case, CONTENDERS[name]) for case in cases for name in contenders]

    def go(self) -> list[Study]:
        """Run until no trial is left."""
        for case in self.cases:
            self._find_reference(case)
        for search in self.searches:
            self._advance(search)
        self.desk.go()
        return [self._study(case) for case in self.cases]

    def _find_reference(self, case: ExperimentCase) -> None:
        what = f"{case.name}: certified optimum"
        known = self.folder.reference(case.name)
        if known is not None:
            self.watch.found(what)
            self.known[case.name] = known
            return

        def keep(computed: Known) -> None:
            self.folder.keep_reference(case.name, computed)
            self.known[case.name] = computed
            self.watch.done(what, computed.reference.seconds, None)
            for search in self.searches:
                if search.case.name == case.name:
                    self._advance(search)

        self.watch.asked(what)
        self._ask(case.name, keep, _reference)

    def _advance(self, search: _Search) -> None:
        """Submit the next settings once all submitted trials are finished and scored."""
        while not search.pending:
            known = {setting: self._score(search, t) for setting, t in search.trials.items()}
            scores = {setting: score for setting, score in known.items() if score is not None}
            if len(scores) < len(known):
                return  # no scores without f*: called again when the reference is known
            settings = next_settings(search.contender.parameters, scores)
            if not settings:
                return
            for setting in settings:
                self._try(search, setting)

    def _score(self, search: _Search, trial: MethodTrial) -> float | None:
        known = self.known.get(search.case.name)
        if known is None:
            return None
        return score(trial.curve, known.reference.objective, search.case.budget.calls)

    def _try(self, search: _Search, setting: Setting) -> None:
        case, contender = search.case, search.contender
        task = TrialTask(case.name, contender.name, setting, case.budget)
        what = f"{case.name}: {contender.label}, {contender.describe(setting)}"
        known = self.folder.trial(task)
        if known is not None:
            self.watch.found(what)
            search.trials[setting] = known
            return

        def keep(trial: MethodTrial) -> None:
            self.folder.keep_trial(trial)
            search.trials[setting] = trial
            search.pending.discard(setting)
            self.watch.done(what, trial.seconds, self._score(search, trial))
            self._advance(search)

        self.watch.asked(what)
        search.pending.add(setting)
        self._ask(case.name, keep, _trial, task)

    def _ask(
        self, instance: str, keep: Callable[[Any], None], work: Callable[..., Any], *rest: Any
    ) -> None:
        """Call `keep` with work(the instance, *rest) when it is done.

        The instances are built at the first request, and sent to the workers once.
        """
        if not self.instances:
            self.desk.ask(self._share, self.build)
            self.desk.go()
        self.desk.ask(keep, work, self.instances[instance], *rest)

    def _share(self, built: list[Instance]) -> None:
        self.instances = {instance.name: self.workers.share(instance) for instance in built}

    def _study(self, case: ExperimentCase) -> Study:
        known = self.known[case.name]
        trials = [
            trial
            for search in self.searches
            if search.case is case
            for trial in search.trials.values()
        ]
        return make_study(case.name, known.title, known.reference, case.budget, trials)


def _reference(instance: Instance) -> Known:
    return Known(instance.title, reference(instance))


def _trial(instance: Instance, task: TrialTask) -> MethodTrial:
    return run_trial(instance.problem, task)
