"""What is computed of an instance: trials, and the certified optimum.

A trial is one method with one setting, until it has used its budget. The optima are those of
`condal.solve`, to a tolerance far below what the trials reach. The points are feasible up to this
tolerance, so the error of the objective is at most about its distance from the bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from math import isfinite

from condal.certificates.history import Row
from condal.domains.wrapped import Wrapped
from condal.driver.scaling import normalise
from condal.driver.solve import solve
from condal.errors import ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.points import Point
from condal.methods.rules import Exact
from condal.problem import Model, Problem, problem_of
from condal.result import Result
from condal.storage import Atoms, Dense, Sketch
from condal.types import Method, Storage
from condal_lab.experiments.contenders import CONTENDERS, Setting
from condal_lab.experiments.curve import Curve, Thinning
from condal_lab.experiments.instances import Instance
from condal_lab.sweeps.run import undisturbed

TOLERANCE = 1e-9
MAX_SECONDS = 480.0
MAX_INFEASIBILITY = 1e-6  # of a point that counts as feasible


@dataclass(frozen=True)
class Reference:
    """The optimum f* lies between the `objective` of a feasible point and the proved `bound`.

    `gap` is |objective - bound| / |objective|. `infeasibility` and `distance_to_X` measure how far
    the point is from feasible. `how` names the proof of the bound, `failure` is its failure
    probability. All fields are numbers or text for JSON.
    """

    objective: float
    bound: float
    gap: float
    infeasibility: float
    distance_to_X: float
    how: str
    failure: float
    method: str
    seconds: float


def reference(instance: Instance, *, max_seconds: float = MAX_SECONDS) -> Reference:
    """Return the certified optimum of the instance, to the tolerance if time allows."""
    result = undisturbed(solve(instance.problem, tol=TOLERANCE, max_seconds=max_seconds, seed=0))
    proved = result.certificate
    objective, bound = float(proved.objective), float(proved.bound)
    if not isfinite(objective - bound) or proved.infeasibility > MAX_INFEASIBILITY:
        raise ProblemError(
            f"the optimum of {instance.name} is not known: condal.solve ended with "
            f"{result.status.name.lower()}, bound {bound:g} and infeasibility "
            f"{proved.infeasibility:.1e}"
        )
    return Reference(
        objective,
        bound,
        abs(objective - bound) / (abs(objective) or 1.0),
        float(proved.infeasibility),
        float(proved.distance_to_X),
        proved.how,
        float(proved.failure),
        result.method,
        result.seconds,
    )


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
