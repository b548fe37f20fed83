"""Verdicts and bounds of conic programs, checked on the program as it was given.

Folding, bounds on the trace and solvers propose rays, separators and multipliers. What they claim
about a program of moderate size is issued only if `condal.certificates.conic` proves it too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsqr

from condal.certificates.cones import Cone, ConicForm
from condal.certificates.conic import proved_lower_bound, proves_feasible
from condal.certificates.judge import Ending, of_multipliers
from condal.certificates.proposals import proved_value
from condal.linalg.points import Array
from condal.problems.conic.interior import ending_along, interior_point, separator_of
from condal.problems.conic.program import Program

MAX_LENGTH = 100_000  # of x: larger programs rest on the proofs of their parts
SHARES = (0.0, *(8.0**k for k in range(-16, 1)))  # of the way to multipliers inside the dual cone
STEPS = tuple(8.0**k for k in range(12))  # along a ray, to a point inside the cone


def verifiable(program: Program) -> bool:
    """Return whether the program is small enough for proofs on its own data."""
    return int(program.offsets[-1]) <= MAX_LENGTH


def form_of(program: Program) -> ConicForm:
    """Return the program, as a minimisation, in the form that proofs take.

    Matrices are triangles, whose entries off the diagonals, twice those of the program, are not
    rounded. Numbers with opposite columns are one free number, their difference. Numbers of
    successive blocks are one orthant.
    """
    free, _ = program.opposites
    kept = np.ones(int(program.offsets[-1]), dtype=bool)
    kept[np.concatenate(program.opposites)] = False
    cones = [Cone("free", free.size)] if free.size else []
    for k, block in enumerate(program.blocks):
        if block.kind != "orthant" and block.n > 1:
            cones.append(Cone(block.kind, block.n, packed=block.kind == "psd"))
            continue
        n = int(kept[program.place(k)].sum())
        before = cones.pop().n if cones and cones[-1].kind == "orthant" else 0
        cones.append(Cone("orthant", before + n))
    counted = _counted(program)
    c = (program.c @ counted).toarray().ravel()
    A = sp.csr_array(program.A @ counted)
    return ConicForm(-c if program.maximise else c, A, program.b, tuple(cones))


def packed(program: Program, x: Array) -> Array:
    """Return the program's x, or a direction, as a vector of its form."""
    numbers = np.asarray(_counted(program).sum(axis=0)).ravel()
    return np.asarray((_coordinates(program).T @ x) / numbers)


def unpacked(program: Program, v: Array) -> Array:
    """Return the program's x for a vector of its form."""
    x = np.asarray(_coordinates(program) @ v)
    for places in program.opposites:
        x[places] = np.maximum(x[places], 0.0)
    return x


def _counted(program: Program) -> Any:
    """Return P whose columns add up the columns of A that a number of the form stands for."""
    P = _coordinates(program).copy()
    P.data[program.opposites[1]] = 0.0  # a free number has one column, not two
    return P


def _coordinates(program: Program) -> Any:
    """Return P with x = Pv: v holds free numbers, then other numbers and lower triangles."""
    plus, minus = program.opposites
    places, length = np.full(int(program.offsets[-1]), -1), plus.size
    places[plus] = places[minus] = np.arange(plus.size)
    for k, block in enumerate(program.blocks):
        at = places[program.place(k)]  # a view
        if block.kind == "psd" and block.n > 1:
            cols, rows = np.triu_indices(block.n)
            index = at.reshape(block.n, block.n)
            index[rows, cols] = index[cols, rows] = length + np.arange(rows.size)
            length += rows.size
        else:
            others = np.flatnonzero(at < 0)
            at[others] = length + np.arange(others.size)
            length += others.size
    signs = np.ones(places.size)
    signs[minus] = -1.0
    return sp.csr_array((signs, places, np.arange(places.size + 1)), (places.size, length))


def bound_towards(form: ConicForm, y: Array, points: list[Array]) -> tuple[float, Array]:
    """Return the first bound that is proved between y and these multipliers, and what proves it.

    The slacks of the points should be inside the dual cone: one factorisation proves a bound where
    the slack is deeper inside than rounding moves it. The bound is -inf if none is proved.
    """
    for share in SHARES:
        for point in points if share else [y]:
            w = y + share * (point - y)
            bound = proved_lower_bound(form, w)
            if bound > -inf:
                return bound, w
    return -inf, y


def shifted(y: Array, directions: Sequence[Array]) -> list[Array]:
    """Return points far from y along the directions, relative to the size of y."""
    size = 1.0 + float(np.abs(y).max(initial=0.0))
    return [y + size * direction for direction in directions]


def bound_near(
    program: Program, y: Array, points: list[Array], enough: float = inf
) -> tuple[float, Array]:
    """Return the lower bound on the minimum that multipliers near y prove, and about these.

    It is -inf if none do. Multipliers towards the points are tried first; without any bound, and up
    to one that is `enough`, others are searched for.
    """
    form = program.form
    bound, y = bound_towards(form, y, points)
    if bound >= enough or (points and bound > -inf) or not np.isfinite(y).all():
        return bound, y
    dual = form.dual
    least, v = proved_value(dual, form.dual_vector(y), lambda: interior_point(dual), -enough)
    return (-least, v[: y.size]) if -least > bound else (bound, y)


def separator_near(
    form: ConicForm, y: Array | None = None, inward: Sequence[Array] = ()
) -> Ending | None:
    """Return the proof that the form is infeasible, by a y near a given one; None if there is none.

    -A'd is in the dual cone for the `inward` directions d. Without y, one is searched for.
    """
    form = form.feasibility
    if y is not None:
        moved = bound_towards(form, y, shifted(y, inward))[1]
        ending = of_multipliers(form, moved)
        if ending is not None:
            return ending
    ending = separator_of(form.dual, None if y is None else form.dual_vector(y))
    return None if ending is None else ending._replace(vector=ending.vector[: form.b.size])


def verified_unbounded(program: Program, ray: Array | None = None) -> Ending | None:
    """Return the proof that the program is unbounded, by a ray and a feasible point; or None.

    The ray is near the given one, or what a search proposes. The feasible point is near a solution
    of the rows, far along the ray, or what a search proposes.
    """
    form, b = program.form, program.b

    def points(direction: Array) -> Iterator[Array]:
        x = lsqr(form.A, b, atol=1e-15, btol=1e-15)[0] if b.size else np.zeros(direction.size)
        size = float(np.abs(x).max(initial=0.0)) / float(np.abs(direction).max()) or 1.0
        along = (x + step * size * direction for step in (0.0, *STEPS))
        yield next((v for v in along if proves_feasible(form, v)), x)

    near = None if ray is None else packed(program, ray)
    ending = ending_along(form, near, points)
    return None if ending is None else ending._replace(vector=unpacked(program, ending.vector))
