"""Running an experiment: trials on all cores, each method tuned, every result kept at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from condal.errors import CondalError
from condal.lab.experiments.contenders import CONTENDERS, Contender
from condal.lab.experiments.curve import score
from condal.lab.experiments.folder import ExperimentFolder, Known
from condal.lab.experiments.instances import Instance
from condal.lab.experiments.reference import reference
from condal.lab.experiments.study import Study, Tuned
from condal.lab.experiments.trial import Budget, Task, Trial, run_trial
from condal.lab.experiments.tune import Setting, wanted
from condal.sweeps.progress import Watch
from condal.sweeps.workers import Desk, WorkerDied, Workers

Build = Callable[[], list[Instance]]


@dataclass(frozen=True)
class Case:
    """An instance by its name, and what a trial on it may spend."""

    name: str
    budget: Budget


def run(
    cases: Sequence[Case],
    build: Build,
    contenders: Sequence[str],
    folder: ExperimentFolder,
    *,
    workers: Workers,
    watch: Watch,
) -> list[Study]:
    """Tune every contender on every instance; only what the folder lacks is computed.

    `build` makes the instances of the cases; it is called by a worker, once, if at all.
    """
    return _Run(cases, contenders, folder, _Bench(workers, build), watch).go()


@dataclass(eq=False)
class _Search:
    """A method being tuned on an instance."""

    case: Case
    contender: Contender
    trials: dict[Setting, Trial] = field(default_factory=dict)
    pending: set[Setting] = field(default_factory=set)


class _Run:
    """The loop: ask for trials, keep what comes, ask for what the tuning rule wants next."""

    def __init__(
        self,
        cases: Sequence[Case],
        contenders: Sequence[str],
        folder: ExperimentFolder,
        bench: _Bench,
        watch: Watch,
    ) -> None:
        self.cases, self.folder, self.bench, self.watch = cases, folder, bench, watch
        self.known: dict[str, Known] = {}
        self.searches = [_Search(case, CONTENDERS[name]) for case in cases for name in contenders]

    def go(self) -> list[Study]:
        """Until nothing is wanted."""
        for case in self.cases:
            self._find_reference(case)
        for search in self.searches:
            self._advance(search)
        self.bench.desk.go()
        return [self._study(case) for case in self.cases]

    def _find_reference(self, case: Case) -> None:
        what = f"{case.name}: certified optimum"
        known = self.folder.reference(case.name)
        if known is not None:
            self.watch.found(what)
            self.known[case.name] = known
            return

        def keep(found: Known) -> None:
            self.folder.keep_reference(case.name, found)
            self.known[case.name] = found
            self.watch.done(what, found.reference.seconds, None)
            for search in self.searches:
                if search.case.name == case.name:
                    self._advance(search)

        self.watch.asked(what)
        self.bench.ask(case.name, keep, _reference)

    def _advance(self, search: _Search) -> None:
        """Ask for the next settings once all that were asked for are known, and scored."""
        while not search.pending:
            known = {setting: self._score(search, t) for setting, t in search.trials.items()}
            scores = {setting: score for setting, score in known.items() if score is not None}
            if len(scores) < len(known):
                return  # without f* there are no scores; the reference will call again
            settings = wanted(search.contender.parameters, scores)
            if not settings:
                return
            for setting in settings:
                self._try(search, setting)

    def _score(self, search: _Search, trial: Trial) -> float | None:
        known = self.known.get(search.case.name)
        if known is None:
            return None
        return score(trial.curve, known.reference.objective, search.case.budget.calls)

    def _try(self, search: _Search, setting: Setting) -> None:
        case, contender = search.case, search.contender
        task = Task(case.name, contender.name, setting, case.budget)
        what = f"{case.name}: {contender.label}, {contender.describe(setting)}"
        known = self.folder.trial(task)
        if known is not None:
            self.watch.found(what)
            search.trials[setting] = known
            return

        def keep(trial: Trial) -> None:
            self.folder.keep_trial(trial)
            search.trials[setting] = trial
            search.pending.discard(setting)
            self.watch.done(what, trial.seconds, self._score(search, trial))
            self._advance(search)

        self.watch.asked(what)
        search.pending.add(setting)
        self.bench.ask(case.name, keep, _trial, task)

    def _study(self, case: Case) -> Study:
        title, found = self.known[case.name].title, self.known[case.name].reference
        tuned = {
            search.contender.name: Tuned(
                search.contender, search.trials, found.objective, case.budget.calls
            )
            for search in self.searches
            if search.case.name == case.name
        }
        return Study(case.name, title, found, case.budget, tuned)


class _Bench:
    """Trials given to the workers, and what to do with each result.

    The instances are built when one is first needed, and sent to the workers once.
    """

    def __init__(self, workers: Workers, build: Build) -> None:
        self.workers, self.build, self.desk = workers, build, Desk(workers)
        self.instances: dict[str, Any] | None = None
        self.waiting: list[Callable[[], None]] = []

    def ask(
        self, instance: str, keep: Callable[[Any], None], work: Callable[..., Any], *rest: Any
    ) -> None:
        """`keep` is called with work(the instance, *rest)."""

        def begin() -> None:
            assert self.instances is not None
            self.desk.ask(_kept_by(keep), work, self.instances[instance], *rest)

        if self.instances is not None:
            begin()
            return
        self.waiting.append(begin)
        if len(self.waiting) == 1:
            self.desk.ask(_kept_by(self._begin_all), self.build)

    def _begin_all(self, built: list[Instance]) -> None:
        self.instances = {one.name: self.workers.share(one) for one in built}
        for begin in self.waiting:
            begin()


def _kept_by(keep: Callable[[Any], None]) -> Callable[[Future[Any]], None]:
    """What takes a future by taking its result."""

    def kept(future: Future[Any]) -> None:
        try:
            value = future.result()
        except WorkerDied as error:
            raise CondalError(
                f"{error}; what is done is kept: run the same command again, with fewer --workers"
            ) from error
        keep(value)

    return kept


def _reference(instance: Instance) -> Known:
    return Known(instance.title, reference(instance))


def _trial(instance: Instance, task: Task) -> Trial:
    return run_trial(instance.problem, task)
