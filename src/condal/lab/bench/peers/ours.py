"""condal itself: `condal.solve(problem, tol=tol)`, with no other option."""

from __future__ import annotations

from dataclasses import dataclass, field

import condal
from condal.lab.bench.peers.peer import Limits, PeerAnswer
from condal.problem import Model, Problem
from condal.problems.conic import ConicModel, conic_model
from condal.result import Result


@dataclass
class OursTask:
    """A solve; its own certificate is part of it, and of a conic program the bound on its trace."""

    model: Problem | Model
    tol: float
    result: Result | None = field(default=None, init=False)

    def solve(self) -> None:
        """The one call; a user who has a file pays for the bound too."""
        model = self.model
        fresh = conic_model(model.program) if isinstance(model, ConicModel) else model
        self.result = condal.solve(fresh, tol=self.tol)

    def answer(self) -> PeerAnswer:
        """x and y as they came, with the certificate that the solve has paid for."""
        assert self.result is not None
        result = self.result
        said = f"{result.status.name.lower()} by {result.method}"
        return PeerAnswer(result.x, result.y, said=said, certificate=result.certificate)


@dataclass(frozen=True)
class Ours:
    """condal with its defaults."""

    name: str = "condal"
    install: str = "pip install condal"

    def version(self) -> str:
        """condal's."""
        return condal.__version__

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> OursTask:
        """Nothing to prepare."""
        return OursTask(model, tol)
