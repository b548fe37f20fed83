"""States as rows of the history, in the user's units and sense."""

from __future__ import annotations

from condal.certificates.certificate import relative_gap
from condal.driver.counting import Counts
from condal.driver.scaling import Scaling
from condal.linalg.points import Array
from condal.methods.state import State
from condal.problem import Problem
from condal.result import Row


class Recorder:
    """Converts states of the normalised problem to rows."""

    def __init__(self, problem: Problem, normalised: Problem, scaling: Scaling) -> None:
        self.problem, self.normalised, self.scaling = problem, normalised, scaling
        self._uniform = _uniform(scaling.rows)

    def row(self, state: State, lower: float, counts: Counts, seconds: float) -> Row:
        """Return the row of a state, with the best estimated lower bound so far."""
        sense, c = self.problem.sense, self.scaling.c
        value = state.value + self.normalised.h.value(state.Ax)
        objective, bound = sense * value / c, sense * lower / c
        if self._uniform is not None:
            distance = self.normalised.h.distance(state.Ax) / self._uniform
        else:
            distance = self.problem.h.distance(self.scaling.image(state.Ax))
        return Row(
            state.k,
            objective,
            bound,
            relative_gap(objective, bound),
            distance / self.problem.infeasibility_unit,
            state.lam,
            state.eta,
            state.sigma,
            counts.oracle_calls,
            counts.matvecs,
            seconds,
        )


def _uniform(rows: Array) -> float | None:
    """Return the common factor of the rows, if there is one."""
    if rows.size == 0:
        return 1.0
    least = float(rows.min())
    return least if least == rows.max() else None
