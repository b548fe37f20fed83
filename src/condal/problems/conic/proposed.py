"""What the interior-point engine proposes for a program: a verdict, or a pair and a trace bound.

The engine needs no bound. Multipliers whose slack is inside the dual cone bound the traces of all
points below an objective level, so a proposal that comes with such multipliers gives the bound that
a search would have to find by solving other problems.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from condal.certificates.conic import proved_lower_bound
from condal.linalg.points import Array, LowRank, Point
from condal.methods.interior.cost import MAX_ENGINE_SECONDS, stacked_step_seconds
from condal.methods.interior.engine import ACCURACY, Proposal, propose
from condal.problems.conic.combinations import Combination, combine
from condal.problems.conic.folded import Part
from condal.problems.conic.program import Program
from condal.problems.conic.structure import Shape
from condal.problems.conic.verified import conic_form, unpacked, verifiable

SHARES_OF_DEEP = (0.0, 1e-10, 1e-8, 1e-6, 1e-4, 1e-3)  # in the multipliers that prove the bound
LEVEL_ROOM = 0.1  # of the objective: the level stands at least this far above the proposed point


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
    form = conic_form(program)
    costs = (1 - feasibility) * form.c
    return _of(program, propose(costs, form.A, form.b, form.cones, accuracy=accuracy))


def refined(program: Program, proposal: Proposal) -> Proposal:
    """Return a proposal of `proposal_for` after further steps; itself if it is accurate enough."""
    finer = proposal.refined()
    return proposal if finer is proposal else _of(program, finer)


def _of(program: Program, proposal: Proposal) -> Proposal:
    """The proposal for the program, from that for its form."""
    return replace(proposal, x=unpacked(program, proposal.x))


def _costs(program: Program) -> Array:
    """The costs of the program as a minimisation."""
    c = program.c.toarray().ravel()
    return np.asarray(-c if program.maximise else c)


def folded_dual(shape: Shape, y: Array) -> Array:
    """Return the multipliers w of the folded rows, with c + A'w the slack of y."""
    folded = shape.folded
    return np.asarray(-y[folded.rows] / folded.scale)


def proved_by(shape: Shape, proposal: Proposal) -> list[Combination]:
    """Return what the multipliers deep inside the dual cone prove about traces."""
    if proposal.deep is None:
        return []
    return [combine(shape, folded_dual(shape, proposal.deep), of_objective=True)]


def proving_dual(program: Program, proposal: Proposal) -> Array:
    """Return the multipliers nearest to the proposed ones that prove a bound, whatever the trace.

    The proposed multipliers move towards the deep ones until their slack is in the dual cone. They
    are returned as they are if it never is.
    """
    form, deep = conic_form(program), proposal.deep
    if deep is None:
        return proposal.y
    for share in SHARES_OF_DEEP:
        y = np.asarray(proposal.y + share * (deep - proposal.y))
        if proved_lower_bound(form, y) > -inf:
            return y
    return proposal.y


def level_above(shape: Shape, proposal: Proposal, proofs: list[Combination]) -> float:
    """Return an objective level that the proposed point is clearly below."""
    value = float(_costs(shape.folded.program) @ proposal.x)
    lowest = max(-proof.most for proof in proofs)
    return value + max(value - lowest, LEVEL_ROOM * abs(value))


def value_of(program: Program, proposal: Proposal) -> float:
    """Return the minimised objective of the proposed point."""
    return float(_costs(program) @ proposal.x)


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
