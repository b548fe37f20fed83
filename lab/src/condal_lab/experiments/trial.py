"""A trial: one method with one setting on one instance, until it has used its budget."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from condal.certificates.history import Row
from condal.domains.wrapped import Wrapped
from condal.driver.scaling import normalise
from condal.driver.solve import solve
from condal.linalg.gradients import Gradient
from condal.linalg.points import Point
from condal.methods.rules import Exact
from condal.problem import Model, Problem, problem_of
from condal.result import Result
from condal.storage import Atoms, Dense, Sketch
from condal.types import Method, Storage
from condal_lab.experiments.contenders import CONTENDERS, Setting
from condal_lab.experiments.curve import Curve, Thinning
from condal_lab.sweeps.run import undisturbed

UNREACHABLE_TOL = 1e-300  # so the budget ends a trial
CONVERGED_TOL = 1e-8  # of the free estimates; the optimum is not known more accurately
GROWTH = 1.02  # of the calls from row to row
SKETCH_RANK = 2  # a trial needs the images of x, not x


@dataclass(frozen=True)
class TrialBudget:
    """The oracle calls of a trial; `exact` asks for an oracle exact to rounding.

    A limit in seconds makes a trial depend on the machine: only quick runs and `--seconds` set it.
    """

    calls: int
    seconds: float | None = None
    exact: bool = False


@dataclass(frozen=True)
class TrialTask:
    """The instance, method, setting and budget of a trial."""

    instance: str
    contender: str
    setting: Setting
    budget: TrialBudget

    @property
    def name(self) -> str:
        """The stem of its file name."""
        values = CONTENDERS[self.contender].values(self.setting)
        budget = self.budget
        parts = [
            *(f"{name}={value:.0e}" for name, value in values.items()),
            f"calls={budget.calls}",
        ]
        if budget.seconds is not None:
            parts.append(f"seconds={budget.seconds:g}")
        if budget.exact:
            parts.append("exact")
        return ",".join(parts)


@dataclass(frozen=True, eq=False)
class MethodTrial:
    """A task and its result.

    `ended` is calls, seconds, converged, or the status of `solve` if it ended by itself. `c` is the
    factor that normalised the objective, `oracle_share` the oracle's share of `cpu_seconds`.
    """

    task: TrialTask
    curve: Curve
    ended: str
    seconds: float
    oracle_calls: int
    matvecs: int
    cpu_seconds: float
    oracle_share: float
    c: float


def run_trial(model: Model | Problem, task: TrialTask) -> MethodTrial:
    """Run the trial by `solve`, and keep a thinned curve."""
    contender, budget = CONTENDERS[task.contender], task.budget
    method = contender.method(task.setting, Exact() if budget.exact else None)
    problem = problem_of(model)
    X = _Watched(problem.X)
    # The figures show the method's own estimates, before any repair; nothing is proved.
    watched = replace(problem, X=X, repair=None, propose=None)
    recorder = _Recorder(watched, X, budget, stairs=contender.stairs)
    storage = _storage(method, problem)
    tol = UNREACHABLE_TOL
    result = solve(watched, method, tol=tol, storage=storage, seed=0, callback=recorder)
    undisturbed(result, asked=recorder.spent is not None)
    return MethodTrial(
        task,
        recorder.curve(),
        recorder.spent or result.status.name.lower(),
        result.seconds,
        result.oracle_calls,
        result.matvecs,
        result.cpu_seconds,
        _share(result),
        normalise(problem)[1].c,
    )


def _storage(method: Method, problem: Problem) -> Storage:
    if method.keeps in ("atoms", "atoms by block"):
        return Atoms(by_block=method.keeps == "atoms by block")
    n = getattr(problem.X, "n", None)
    return Dense() if n is None else Sketch(int(n), SKETCH_RANK)


def _share(result: Result) -> float:
    return result.oracle_cpu_seconds / result.cpu_seconds if result.cpu_seconds else 0.0


class _Watched(Wrapped):
    """X, which remembers the last answer of its oracle."""

    last: Point | None = None

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Point:
        self.last = super().lmo(v, tol, guess)
        return self.last


@dataclass(eq=False)
class _Recorder:
    """The callback: keep rows at calls that grow by 2%, and stop when the budget is used."""

    problem: Problem
    X: _Watched
    budget: TrialBudget
    stairs: bool
    spent: str | None = None
    _rows: list[tuple[float, ...]] = field(default_factory=list)
    _kept: Thinning = field(default_factory=lambda: Thinning(GROWTH))

    def __call__(self, row: Row) -> bool:
        """Record a row; return whether to stop."""
        outer = not self.stairs or row.sigma > 0
        if row.oracle_calls >= self.budget.calls:
            self.spent = "calls"
        elif self.budget.seconds is not None and row.seconds >= self.budget.seconds:
            self.spent = "seconds"
        elif max(row.gap, row.infeasibility) <= CONVERGED_TOL:
            self.spent = "converged"
        if self._kept.keeps(row.oracle_calls, outer=outer, last=self.spent is not None):
            self._rows.append(self._values(row, outer))
        return self.spent is not None

    def _values(self, row: Row, outer: bool) -> tuple[float, ...]:
        s = self.X.last
        assert s is not None
        atom = self.problem.objective(s), self.problem.infeasibility(s)
        return row.oracle_calls, row.objective, row.infeasibility, float(outer), *atom

    def curve(self) -> Curve:
        """Return the curve of the rows."""
        names = [f.name for f in fields(Curve)]
        return Curve.of({name: [row[i] for row in self._rows] for i, name in enumerate(names)})
