"""What the interior-point engine proposes for a program: a verdict, or a pair and its proof.

The engine needs no bound on the trace. Multipliers whose slack is inside the dual cone prove a
bound on the objective without one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf, nan
from typing import Any

import numpy as np

from condal.certificates.bound import certificate_by
from condal.certificates.certificate import Certificate
from condal.certificates.conic import proved_lower_bound
from condal.certificates.evaluation import EvaluatedPoint
from condal.certificates.history import History, Row
from condal.certificates.judge import of_point
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.rounding import Proof, row_norms, stable_norm
from condal.methods.interior.engine import ACCURACY, Proposal, propose
from condal.methods.interior.standard import MAX_ENGINE_SECONDS, stacked_step_seconds
from condal.problem import Problem, gap_unit
from condal.problems.conic.folded import Part
from condal.problems.conic.interpretation import ON_OWN_DATA
from condal.problems.conic.program import Program
from condal.problems.conic.structure import Shape
from condal.problems.conic.verified import bound_near, unpacked, verifiable
from condal.result import Result, Status
from condal.types import from_user

NEAR = 1e-5  # of the objective: a bound that serves usual tolerances
WHY = "interior-point: the program is small, and its own data prove the bound"


def proposal_for(
    program: Program, accuracy: float = ACCURACY, *, feasibility: bool = False
) -> Proposal | None:
    """Return the engine's proposal; None for a program that is too large for it.

    For `feasibility`, the objective is left out.
    """
    if not verifiable(program):
        return None
    if stacked_step_seconds(program.A, program.blocks) > MAX_ENGINE_SECONDS:
        return None
    form = program.form
    costs = (1 - feasibility) * form.c
    return _of(program, propose(costs, form.A, form.b, form.cones, accuracy=accuracy))


def refined(program: Program, proposal: Proposal) -> Proposal:
    """Return a proposal of `proposal_for` after further steps; itself if it is accurate enough."""
    finer = proposal.refined()
    return proposal if finer is proposal else _of(program, finer)


def _of(program: Program, proposal: Proposal) -> Proposal:
    """The proposal for the program, from that for its form."""
    return replace(proposal, x=unpacked(program, proposal.x))


def result_of(
    certificate: Certificate, status: Status, iterations: int, seconds: float, **fields: Any
) -> Result:
    """Return the result of an engine, with one row of history, its last, if it iterates."""
    names = ("objective", "bound", "gap", "infeasibility", "price")
    row = dict.fromkeys(Row._fields, nan) | {name: getattr(certificate, name) for name in names}
    row |= {"k": iterations, "proved": certificate.error, "seconds": seconds}
    history = History()
    if iterations:
        history.append(Row(**(row | {"oracle_calls": 0, "matvecs": 0})))
    fields = {"x": None, "y": np.zeros(0)} | fields
    return Result(
        status=status,
        certificate=certificate,
        history=history,
        seconds=seconds,
        oracle_calls=0,
        matvecs=0,
        **fields,
    )


def certificate_of(problem: Problem, x: Any, w: Array, lower: float, how: str) -> Certificate:
    """Return the certificate of a point by a lower bound on the minimum that w proves."""
    seen = EvaluatedPoint.of(problem, from_user(problem.X, x))
    proof = Proof(lower + problem.h.conjugate(w), how)
    return certificate_by(problem, seen, w, lower, proof)


def folded_dual(shape: Shape, y: Array) -> Array:
    """Return the multipliers w of the folded rows, with c + A'w the slack of y."""
    folded = shape.folded
    return np.asarray(-y[folded.rows] / folded.scale)


def inside_of(proposal: Proposal | None) -> list[Array]:
    """Return multipliers with slacks inside the dual cone, the nearest to the solution first."""
    found = [] if proposal is None else [proposal.inner, proposal.deep]
    return [y for y in found if y is not None]


def value_of(program: Program, proposal: Proposal) -> float:
    """Return the minimised objective of the proposed point."""
    value = float((program.c @ proposal.x)[0])
    return -value if program.maximise else value


def vector_of(shape: Shape, proposal: Proposal) -> Array:
    """Return the proposed x with 0 where it is in no part."""
    program, x = shape.folded.program, np.zeros(proposal.x.size)
    for part in shape.folded.parts:
        if part.kind == "psd":
            n, begin = program.blocks[part.block].n, program.offsets[part.block]
            places = begin + (n * part.index[:, None] + part.index).ravel()
        elif part.kind == "orthant":
            places = part.index
        else:
            places = np.arange(*program.offsets[[part.block, part.block + 1]])
        x[places] = proposal.x[places]
    return x


def part_traces(shape: Shape, proposal: Proposal) -> Array:
    """Return the trace of each part of the proposed x."""
    program, parts = shape.folded.program, shape.folded.parts
    return np.array([_trace(part, _part(program, part, proposal.x)) for part in parts])


def point_of(shape: Shape, proposal: Proposal, bounds: Array) -> Point:
    """Return the proposed x as a point of the parts, none of them beyond its trace."""
    program, parts = shape.folded.program, shape.folded.parts
    points = [
        _within(part, _part(program, part, proposal.x), bound)
        for part, bound in zip(parts, bounds, strict=True)
    ]
    return points[0] if len(points) == 1 else tuple(points)


def _part(program: Program, part: Part, x: Array) -> Any:
    if part.kind == "orthant":
        values = np.zeros(part.n)
        values[: part.index.size] = np.maximum(x[part.index], 0.0)
        return values
    block = x[program.place(part.block)]
    if part.kind == "second-order":
        return np.concatenate([[max(block[0], float(np.linalg.norm(block[1:])))], block[1:]])
    n = program.blocks[part.block].n
    full = block.reshape(n, n)[np.ix_(part.index, part.index)]
    values, vectors = np.linalg.eigh(0.5 * (full + full.T))
    kept = values > 0
    return LowRank(vectors[:, kept] * np.sqrt(values[kept]), np.ones(int(kept.sum())))


def _trace(part: Part, x: Any) -> float:
    if part.kind == "psd":
        return float(x.trace)
    return float(x.sum() if part.kind == "orthant" else x[0])


def _within(part: Part, x: Any, bound: float) -> Any:
    """The point, scaled down where rounding took it beyond its trace."""
    total = _trace(part, x)
    if total <= bound:
        return x
    share = bound / total
    return replace(x, U=x.U * np.sqrt(share)) if isinstance(x, LowRank) else x * share


@dataclass(frozen=True, eq=False)
class Settled:
    """A proposed point, and multipliers y that prove the bound `lower` on the minimum.

    The program needs no bound on its trace, no structured maps and no further method.
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
        lower = proved_lower_bound(program.form, y)
        return None if lower == -inf else cls(program, proposal, y, lower)

    @classmethod
    def towards(cls, program: Program, proposal: Proposal) -> Settled | None:
        """Return what multipliers near the proposed ones prove; None if that is no bound."""
        enough = value_of(program, proposal)
        enough -= NEAR * max(1.0, abs(enough))
        lower, y = bound_near(program, proposal.y, inside_of(proposal), enough)
        return None if lower == -inf else cls(program, proposal, y, lower)

    @property
    def _near(self) -> bool:
        """Whether the bound is near the objective."""
        value = value_of(self.program, self.proposal)
        return abs(self.lower - value) <= NEAR * max(1.0, abs(value))

    def result(self, shape: Shape, tol: float, seconds: float) -> Result | None:
        """Return the result; None if it does not solve the program to tol.

        Nothing is claimed about the distance of the point from X, which a bound on its trace
        defines.
        """
        certificate = self._certificate(shape)
        if of_point(certificate, tol) is None:
            finer = self.of(self.program, refined(self.program, self.proposal))
            same = finer is None or finer.proposal.error >= self.proposal.error
            return None if finer is None or same else finer.result(shape, tol, seconds)
        point = point_of(shape, self.proposal, np.full(len(shape.folded.parts), inf))
        return self._result(shape, point, certificate, tol, seconds)

    def result_within(
        self, shape: Shape, problem: Problem, traces: Array, tol: float, seconds: float
    ) -> Result | None:
        """Return the result of the problem with these traces; None if it is not within tol."""
        point, w = point_of(shape, self.proposal, traces), folded_dual(shape, self.y)
        certificate = certificate_of(problem, point, w, self.lower, ON_OWN_DATA)
        return self._result(shape, point, certificate, tol, seconds)

    def _result(
        self, shape: Shape, point: Point, certificate: Certificate, tol: float, seconds: float
    ) -> Result | None:
        status = of_point(certificate, tol)
        if status is None:
            return None
        return result_of(
            certificate,
            status,
            self.proposal.iterations,
            seconds,
            x=point,
            y=folded_dual(shape, self.y),
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
        # |x| is at most its largest value over points of bounded trace, so no unit is too large.
        gap_of = gap_unit(objective, stable_norm(program.c.data) * stable_norm(self.proposal.x))
        attainable = min(1.0, float(row_norms(program.A).max(initial=0.0)) * stable_norm(x))
        unit = max(attainable or 1.0, K.distance(np.zeros(K.size)))
        return Certificate(
            objective=objective,
            bound=sense * self.lower,
            infeasibility=K.distance(Ax) / unit,
            how=ON_OWN_DATA,
            distance_to_X=inf,
            inside=False,
            price=abs(float(w @ K.normal_residual(Ax))) / gap_of,
            unit=gap_of,
        )
