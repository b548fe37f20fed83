"""Answers by engines that need no bound on the trace: the engine, and what its proposal proves.

Beside those of other modules, the interior-point engine of this library. It solves the program in s
or in z, whichever has fewer rows. For the program in s it also proposes a z deep inside its cone,
near which the judge proves a bound.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan
from typing import Any

import numpy as np
from cvxpy import settings

from condal.certificates.cones import Cone
from condal.certificates.history import Row
from condal.cvxpy.forms import CvxpyProblem, Dual, Pair, Primal
from condal.cvxpy.interior import DIRECTION, SEPARATOR, SOLUTION, ClarabelEngine, Proposal
from condal.cvxpy.judgement import Judgement
from condal.cvxpy.nearest import NearestMatrix
from condal.cvxpy.solving import Options
from condal.cvxpy.verdicts import (
    POOR_ERROR,
    PROVED,
    CvxpyAnswer,
    Verdicts,
    answer_of,
    result_of,
    unbounded,
)
from condal.linalg.points import Array
from condal.methods.interior.cost import MAX_ENGINE_SECONDS, stacked_step_seconds
from condal.methods.interior.engine import Proposal as Ending
from condal.methods.interior.engine import propose as embedding
from condal.result import Result

TINY_STEP = 1e-3  # seconds of an iteration
# Of a proposal, in tol: the last steps of an interior-point method cost little and gain digits.
ACCURACY, MIN_ACCURACY = 1e-4, 1e-9


@dataclass(frozen=True, eq=False)
class EmbeddedEngine:
    """The engine for one problem."""

    problem: CvxpyProblem

    @property
    def name(self) -> str:
        """The name of the method."""
        return "interior-point"

    @cached_property
    def form(self) -> Primal | Dual:
        """The form with fewer rows."""
        in_s, in_z = self.problem.fewest
        return Primal(self.problem) if in_s <= in_z else Dual(self.problem)

    @cached_property
    def step_seconds(self) -> float:
        """About the seconds of an iteration."""
        program = self.form.program
        return stacked_step_seconds(program.A, program.blocks)

    def propose(self, options: Options, accuracy: float) -> Proposal:
        """Return what the engine proposes."""
        start = time.perf_counter()
        form, program = self.form, self.form.program
        c = program.c.toarray().ravel()
        c = -c if program.maximise else c
        cones = [Cone(block.kind, block.n) for block in program.blocks]
        ended = embedding(c, program.A, program.b, cones, accuracy=accuracy)
        seconds = time.perf_counter() - start
        if ended.outcome != "solution":
            return self._ray(ended, seconds)
        pair = form.pair(ended.x, ended.y)
        deep = ended.deep if isinstance(form, Primal) else None
        inner = None if deep is None else form.pair(ended.x, deep)
        return Proposal(SOLUTION, pair, ended.iterations, time.perf_counter() - start, inner)

    def _ray(self, ended: Ending, seconds: float) -> Proposal:
        """Return a separator or a direction, from a ray of the program."""
        form, problem = self.form, self.problem
        x: Array = np.zeros(problem.c.size)
        z: Array = np.zeros(problem.b.size)
        outcome = ""
        if isinstance(form, Primal) and ended.outcome == "separator":
            outcome, z = SEPARATOR, form.separating(ended.y)
        elif isinstance(form, Primal):
            outcome, x = DIRECTION, form.direction(ended.x)
        elif ended.outcome == "direction":
            outcome, z = SEPARATOR, form.separating(ended.x)
        return Proposal(outcome, Pair(x, z), ended.iterations, seconds)


Engine = ClarabelEngine | EmbeddedEngine | NearestMatrix


@dataclass(frozen=True, eq=False)
class EngineAnswers(Verdicts):
    """The answers to a CVXPY problem that engines propose."""

    proposed: list[Pair] = field(default_factory=list)

    @cached_property
    def engines(self) -> list[Engine]:
        """The engines to try, one after the other."""
        clarabel = ClarabelEngine(self.problem)
        if self.problem.P is not None:
            nearest = NearestMatrix.of(self.problem)
            return [clarabel] if nearest is None else [nearest, clarabel]
        if clarabel.step_seconds <= TINY_STEP:
            return [clarabel]
        embedded = EmbeddedEngine(self.problem)
        return [embedded if embedded.step_seconds < clarabel.step_seconds else clarabel]

    @property
    def step_seconds(self) -> float:
        """About the seconds of an iteration of the first engine."""
        return self.engines[0].step_seconds

    def by_engines(self) -> CvxpyAnswer | None:
        """Return the first answer that is proved, or the last one; None if there is none."""
        answer = None
        for engine in self.engines:
            if engine.step_seconds <= MAX_ENGINE_SECONDS and not (answer and self.limit.is_over()):
                answer = self._by_engine(engine) or answer
            if answer is not None and answer.status in PROVED:
                break
        return answer

    def _by_engine(self, engine: Engine) -> CvxpyAnswer | None:
        """Answer by what an engine proposes; None if that is of no use."""
        proposal = engine.propose(self._left, max(ACCURACY * self.options.tol, MIN_ACCURACY))
        x, z = proposal.pair
        self.proposed.append(proposal.pair)
        if proposal.outcome == SEPARATOR:
            return self._refuted(z)
        if proposal.outcome == DIRECTION:
            return unbounded() if self.judge.unbounded(x) else None
        if proposal.outcome != SOLUTION:
            return None
        judged = self.judge.judge(proposal.pair, self.options.tol, inner=proposal.inner)
        proved = judged.within(self.options.tol)
        if not proved and self.problem.error(proposal.pair) > POOR_ERROR:
            return None
        status = settings.OPTIMAL if proved else settings.OPTIMAL_INACCURATE
        result = _result(status, judged, proposal, engine.name)
        if self.progress is not None:
            self.progress(result.history.last)
        return answer_of(status, judged, result, x, z)


def _result(status: str, judged: Judgement, proposal: Proposal, method: str) -> Result:
    """Return the result of a solve by an engine: one row of history, its last."""
    result = replace(result_of(status, judged), method=method, seconds=proposal.seconds)
    row: dict[str, Any] = dict.fromkeys(Row._fields, nan)
    row |= {"k": proposal.iterations, "oracle_calls": 0, "matvecs": 0, "seconds": proposal.seconds}
    measured = ("objective", "bound", "gap", "infeasibility", "price")
    row |= {name: getattr(judged, name) for name in measured} | {"proved": judged.error}
    result.history.append(Row(**row))
    return replace(result, y=proposal.pair.z)
