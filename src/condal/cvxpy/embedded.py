"""The interior-point engine of this library as a proposer of answers to cone programs.

It solves the program in s or in z, whichever has fewer rows, and needs no bound on the trace. For
the program in s it also proposes a z deep inside its cone, near which the judge proves a bound.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from condal.certificates.cones import Cone
from condal.cvxpy.forms import CvxpyProblem, Dual, Pair, Primal
from condal.cvxpy.interior import DIRECTION, SEPARATOR, SOLUTION, Proposal
from condal.cvxpy.options import Options
from condal.linalg.points import Array
from condal.methods.interior import engine
from condal.methods.interior.cost import stacked_step_seconds


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
        ended = engine.propose(c, program.A, program.b, cones, accuracy=accuracy)
        seconds = time.perf_counter() - start
        if ended.outcome != "solution":
            return self._ray(ended, seconds)
        pair = form.pair(ended.x, ended.y)
        deep = ended.deep if isinstance(form, Primal) else None
        inner = None if deep is None else form.pair(ended.x, deep)
        return Proposal(SOLUTION, pair, ended.iterations, time.perf_counter() - start, inner)

    def _ray(self, ended: engine.Proposal, seconds: float) -> Proposal:
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
