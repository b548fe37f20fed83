"""The options of the solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from cvxpy.error import SolverError

from condal.certificates.bound import DEFAULT_FAILURE
from condal.driver.run_record import Stop
from condal.runtime.arguments import require_positive, require_whole
from condal.types import Method

CVXPY_OPTIONS = {"use_quad_obj"}  # options that CVXPY itself reads


@dataclass(frozen=True)
class Options:
    """The options of `condal.solve` that apply here, and a bound on the trace.

    Iterations are limited by default, because other solvers of CVXPY end by themselves.
    """

    tol: float = 1e-4
    trace_bound: float | None = None
    max_iters: int | None = 5_000
    max_seconds: float | None = None
    method: Method | str | None = None
    seed: int | None = None
    failure: float = DEFAULT_FAILURE
    warm_start: bool = field(default=False, compare=False)  # CVXPY passes it with each solve

    def __post_init__(self) -> None:
        Stop(self.tol, self.max_iters, self.max_seconds, self.failure)
        require_positive(self.tol, "tol")  # 0 is for runs to a limit, and CVXPY wants an answer
        if self.seed is not None:
            require_whole(self.seed, "seed", least=0)
        if self.trace_bound is not None:
            require_positive(self.trace_bound, "trace_bound")

    def updated(self, given: Mapping[str, Any]) -> Options:
        """Return the options with those passed to `problem.solve`."""
        changes = {name: value for name, value in given.items() if name not in CVXPY_OPTIONS}
        known = [each.name for each in fields(self) if each.name != "warm_start"]
        unknown = [name for name in changes if name not in known]
        if unknown:
            raise SolverError(
                f"CONDAL has no option {', '.join(map(repr, unknown))}; it has {', '.join(known)}, "
                "and verbose"
            )
        return replace(self, **changes)
