"""What a search for a bound on the trace ends with: a bound, a verdict, or an error."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.methods.interior.engine import Proposal
from condal.problems.conic.combinations import Combination
from condal.problems.conic.rays import Ray
from condal.result import Status


class UnboundedTraceError(ProblemError):
    """No bound on the trace of a program's solutions was found."""


@dataclass(frozen=True, eq=False)
class TraceBound:
    """A bound on the traces of the parts of every feasible x.

    With a finite `level`, it holds for points whose (minimised) objective is at most the level. At
    a level of -inf it is proved for no point: methods work within it, and only proofs for any trace
    count.

    Attributes
    ----------
    traces : ndarray
        The bound for each part.
    how : str
        How the bound was found.
    exact : bool
        Whether the only part has exactly this trace.
    level : float
        The objective level; inf if the bound holds for all feasible points.
    reached : bool
        Whether a trial found a point below the level, or there is no level.
    given : float or None
        The bound on the trace of each block that the user claims; None if the bound is proved.
    combinations : tuple of Combination
        The combinations of rows that prove the bound, unless it was given.
    proposal : Proposal or None
        The pair from which the bound comes, if an interior-point method proposed it.
    """

    traces: Array
    how: str
    exact: bool = False
    level: float = inf
    reached: bool = True
    given: float | None = None
    combinations: tuple[Combination, ...] = field(default=(), repr=False)
    proposal: Proposal | None = field(default=None, repr=False)

    @property
    def proved(self) -> bool:
        """Whether the bound is proved, or given, for some points."""
        return self.level > -inf

    @property
    def largest(self) -> float:
        """The largest trace of a block, as it was given, or of a part."""
        return float(self.traces.max()) if self.given is None else self.given


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is proved about a program before it is solved: it is infeasible or unbounded.

    Attributes
    ----------
    status : Status
        INFEASIBLE or UNBOUNDED.
    how : str
        How this was proved.
    y : ndarray or None
        The weights of the rows that prove infeasibility.
    ray : Ray or None
        The direction that proves unboundedness.
    """

    status: Status
    how: str
    y: Array | None = field(default=None, repr=False)
    ray: Ray | None = field(default=None, repr=False)
