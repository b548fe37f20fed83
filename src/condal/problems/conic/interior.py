"""Points inside the cones, and unknown entries of a vector, proposed by the interior-point engine.

Nothing here is trusted: `conic` proves what it can about each vector.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.certificates import judge
from condal.certificates.cones import Cone, ConicForm
from condal.certificates.proposals import corrected
from condal.linalg.points import Array
from condal.linalg.rounding import row_squares
from condal.linalg.sparse import diagonal_matrix
from condal.methods.interior.engine import Proposal, propose
from condal.methods.interior.standard import stacked_step_seconds
from condal.runtime.limits import current_limit

MAX_STEP_SECONDS = 0.05  # of the engine, for a form whose interior is searched for
ACCURACY, MAX_ERROR = 1e-8, 1e-6  # of a proposal: what it aims at, and what is accepted
FACE = 1e-6  # relative to the largest depth: less is the boundary
PENALTY = 1e3  # on the remainder of the rows, relative to the costs


def interior_point(form: ConicForm) -> Array | None:
    """Return a feasible point in the relative interior of the feasible set, about.

    Entries and rows of matrices that are 0 at all feasible points, about, are set to 0. None if the
    engine finds no feasible point, or the form is large.
    """
    central = _proposed(np.zeros(form.c.size), form.A, form.b, form.cones)
    return None if central is None else corrected(form, _on_face(form, central))


def separator_of(dual: ConicForm, near: Array | None = None) -> judge.Ending | None:
    """Return the proof that nothing is feasible by a ray of the dual: near one, or by a search."""
    return judge.separated(dual, _falling(dual.directions, near))


def ending_along(
    form: ConicForm,
    near: Array | None = None,
    points: Callable[[Array], Iterable[Array]] = lambda ray: (),
) -> judge.Ending | None:
    """Return the proof that the objective is unbounded, by a ray and a point or by a search.

    `points` are tried for a ray that is proved before one is searched for.
    """
    falling = _falling(form.directions, near)
    return judge.unbounded(form, falling, lambda ray: _feasible(form, points(ray)))


def _feasible(form: ConicForm, points: Iterable[Array]) -> Iterator[Array]:
    """Yield the points, and one that a search finds."""
    yield from points
    found = interior_point(form.feasibility)
    if found is not None:
        yield found


def _falling(form: ConicForm, v: Array | None) -> Iterator[Array]:
    """Yield v, and vectors of the cones with Av = 0 and <c, v> < 0, about."""
    if v is not None:
        yield v
    if not form.c.any():
        return
    row = sp.csr_array(form.c[None] / float(np.abs(form.c).max()))
    falling = replace(form, A=sp.csr_array(sp.vstack([form.A, row])), b=np.append(form.b, -1.0))
    proposal = _proposal(np.zeros(form.c.size), falling.A, falling.b, form.cones)
    if proposal is None:
        return
    if _is_accepted(proposal):
        yield corrected(falling, _on_face(falling, proposal.x))
    yield proposal.x  # of any size: where <c, v> hardly falls, -1 looks infeasible


def completed(form: ConicForm, v: Array, known: Any) -> Array:
    """Return v with the entries that are not `known` chosen for the least objective, about.

    Known blocks are whole. For large forms, v is returned as it is.
    """
    unknown = np.flatnonzero(~known)
    if not unknown.size:
        return v
    cones = tuple(
        Cone(cone.kind, int(np.count_nonzero(~known[place])))
        if cone.kind in ("free", "orthant")
        else cone
        for cone, place in zip(form.cones, form.places, strict=True)
        if not known[place].all()
    )
    A = sp.csc_array(form.A)
    right = form.b - A[:, np.flatnonzero(known)] @ v[known]
    part = ConicForm(form.c[unknown], sp.csr_array(A[:, unknown]), right, cones)
    # Known entries are off by their own error: a penalty on the remainder r allows for it.
    norms = np.sqrt(row_squares(part.A))
    norms[norms == 0] = 1.0
    m, n = part.A.shape
    scaled = sp.csr_array((1 / norms)[:, None] * part.A)
    rows = sp.hstack([scaled, sp.csr_array((m, 1)), diagonal_matrix(np.ones(m))])
    price = PENALTY * (1.0 + float(np.abs(part.c).max(initial=0.0)))
    costs = np.concatenate([part.c, [price], np.zeros(m)])
    proposed = _proposed(costs, rows, right / norms, (*cones, Cone("second-order", m + 1)))
    if proposed is None:
        return v
    v = v.copy()
    v[unknown] = proposed[:n]
    return v


def _proposed(c: Array, A: Any, b: Array, cones: tuple[Cone, ...]) -> Array | None:
    """Return x that minimises <c, x>, Ax = b, x in the cones, about; None if there is no time."""
    proposal = _proposal(c, A, b, cones)
    return proposal.x if proposal is not None and _is_accepted(proposal) else None


def _proposal(c: Array, A: Any, b: Array, cones: tuple[Cone, ...]) -> Proposal | None:
    """Return what the engine proposes; None if there is no time."""
    A = sp.csr_array(A)
    if current_limit().is_over() or stacked_step_seconds(A, cones) > MAX_STEP_SECONDS:
        return None
    proposal = propose(c, A, b, cones, accuracy=ACCURACY)
    return proposal if np.isfinite(proposal.x).all() else None


def _is_accepted(proposal: Proposal) -> bool:
    return proposal.outcome == "solution" and proposal.error <= MAX_ERROR


def _on_face(form: ConicForm, v: Array) -> Array:
    """Return v with entries, blocks and rows of matrices near the boundary set to 0."""
    v, depths = v.copy(), [_depths(cone, v[place]) for cone, place in _blocks(form)]
    least = FACE * max((float(depth.max(initial=0.0)) for depth in depths), default=0.0)
    for (cone, place), depth in zip(_blocks(form), depths, strict=True):
        inside = depth > least
        if cone.kind == "psd":
            v[place] *= cone.coordinates(np.outer(inside, inside))
        else:
            v[place] = np.where(inside, v[place], 0.0)
    return v


def _blocks(form: ConicForm) -> list[tuple[Cone, slice]]:
    """The cones that have a boundary, and their places."""
    blocks = zip(form.cones, form.places, strict=True)
    return [(cone, place) for cone, place in blocks if cone.kind != "free"]


def _depths(cone: Cone, v: Array) -> Array:
    """The depth of each number, of a second-order vector, or of each diagonal entry of a matrix."""
    if cone.kind == "psd":
        return np.diagonal(cone.matrix(v))
    if cone.kind == "orthant" or not v.size:
        return v
    return np.array([v[0] - np.linalg.norm(v[1:])])
