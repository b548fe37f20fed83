"""Programs that the interior-point engine solves outright, proved on the program's own data.

Such a program needs no bound on its trace, no structured maps and no further method.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, nan

import numpy as np

from condal.certificates.certificate import Certificate, relative, relative_gap
from condal.certificates.history import History, Row
from condal.linalg.norms import row_norms, stable_norm
from condal.linalg.points import Array
from condal.methods.interior.engine import Proposal
from condal.problem import gap_unit
from condal.problems.conic.own_data import ON_OWN_DATA
from condal.problems.conic.program import Program
from condal.problems.conic.proposed import folded_dual, point_of, refined, value_of, vector_of
from condal.problems.conic.structure import Shape
from condal.problems.conic.verified import bound_of
from condal.result import Result, Status

NEAR = 1e-5  # of the objective: a bound that serves usual tolerances
WHY = "interior-point: the program is small, and its own data prove the bound"


@dataclass(frozen=True, eq=False)
class Settled:
    """A proposed point, and multipliers y that prove the bound `lower` on the minimum.

    Nothing is claimed about the distance of the point from X, which a bound on its trace defines.
    """

    program: Program
    proposal: Proposal = field(repr=False)
    y: Array = field(repr=False)
    lower: float

    @classmethod
    def of(cls, program: Program, proposal: Proposal) -> Settled | None:
        """Return what a proposal settles; None if its multipliers prove no bound.

        A bound that is far from the objective is improved by further steps.
        """
        first = cls._proved(program, proposal)
        if first is not None and first._near:
            return first
        finer = refined(program, proposal)
        return first if finer is proposal else cls._proved(program, finer) or first

    @classmethod
    def _proved(cls, program: Program, proposal: Proposal) -> Settled | None:
        y = proposal.inner
        if y is None:
            return None
        lower = bound_of(program, y)
        return None if lower == -inf else cls(program, proposal, y, lower)

    @property
    def _near(self) -> bool:
        """Whether the bound is near the objective."""
        return relative_gap(value_of(self.program, self.proposal), self.lower) <= NEAR

    def result(self, shape: Shape, tol: float, seconds: float) -> Result | None:
        """Return the result; None if it does not solve the program to tol."""
        certificate = self._certificate(shape)
        objective, size = certificate.objective, stable_norm(self.proposal.x)
        # |x| is at most its largest value over points of bounded trace, so no unit is too large.
        allowed = tol * gap_unit(objective, stable_norm(self.program.c.data) * size)
        price = certificate.price * max(1.0, abs(objective))
        within = max(abs(certificate.bound - objective), price) <= allowed
        if not (within and certificate.infeasibility <= tol):
            finer = self.of(self.program, refined(self.program, self.proposal))
            same = finer is None or finer.proposal.error >= self.proposal.error
            return None if finer is None or same else finer.result(shape, tol, seconds)
        return Result(
            x=point_of(shape, self.proposal, np.full(len(shape.folded.parts), inf)),
            y=folded_dual(shape, self.y),
            status=Status.SOLVED,
            certificate=certificate,
            history=self._history(certificate, seconds),
            seconds=seconds,
            oracle_calls=0,
            matvecs=0,
            problem_name=self.program.name,
            method="interior-point",
            why=WHY,
            tol=tol,
            maximise=self.program.maximise,
        )

    def _certificate(self, shape: Shape) -> Certificate:
        """What is proved of the point."""
        program, folded, K = self.program, shape.folded, shape.K
        sense = -1.0 if program.maximise else 1.0
        x, w = vector_of(shape, self.proposal), K.dual_point(folded_dual(shape, self.y))
        objective = float((program.c @ x)[0]) + 0.0  # 0 for -0
        Ax = folded.scale * (program.A @ x)[folded.rows]
        attainable = min(1.0, float(row_norms(program.A).max(initial=0.0)) * stable_norm(x))
        unit = max(attainable or 1.0, K.distance(np.zeros(K.size)))
        return Certificate(
            objective=objective,
            bound=sense * self.lower,
            infeasibility=K.distance(Ax) / unit,
            how=ON_OWN_DATA,
            distance_to_X=inf,
            inside=False,
            price=relative(abs(float(w @ K.normal_residual(Ax))), objective),
        )

    def _history(self, certificate: Certificate, seconds: float) -> History:
        """One row, the last."""
        history = History()
        names = ("objective", "bound", "gap", "infeasibility", "price")
        row = dict.fromkeys(Row._fields, nan) | {name: getattr(certificate, name) for name in names}
        row |= {"k": self.proposal.iterations, "proved": certificate.error, "seconds": seconds}
        history.append(Row(**(row | {"oracle_calls": 0, "matvecs": 0})))
        return history
