"""A pair that another engine proposes, as a method: it yields the pair once, for the driver to
prove."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from condal.methods.state import State, Warm
from condal.types import Keeps, Storage

if TYPE_CHECKING:
    from condal.problem import Problem


@dataclass(frozen=True)
class Proposed:
    """Yield the point and the dual of the warm start as they are."""

    name: ClassVar[str] = "interior-point"
    keeps: ClassVar[Keeps] = "factor"

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state of the warm start."""
        return State.start(problem, warm)

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state once, with the bound of a slack in the dual cone."""
        state = start or self.start(problem)
        y = problem.h.dual_point(state.y)
        lower = -problem.h.conjugate(y)
        gap = state.value + float(y @ state.Ax)
        yield replace(state, k=state.k + 1, y=y, w=y, lower=lower, gap=gap, last=True)
