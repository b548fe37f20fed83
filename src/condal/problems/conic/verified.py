"""Verdicts and bounds of conic programs, checked on the program as it was given.

Folding, bounds on the trace and solvers propose rays, separators and multipliers. What they claim
about a program of moderate size is issued only if `condal.certificates.conic` proves it too.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsqr

from condal.certificates.cones import Cone, ConicForm
from condal.certificates.conic import proved_lower_bound, proves_feasible, proves_infeasible
from condal.certificates.proposals import proved_value
from condal.linalg.points import Array
from condal.problems.conic.interior import interior_point, proved_ray
from condal.problems.conic.program import Program

MAX_LENGTH = 100_000  # of x: larger programs rest on the proofs of their parts
SHIFTS = (
    0.0,
    *(4.0**k for k in range(-24, -7)),
)  # of multipliers into the dual cone, relative to 1 + |y|
STEPS = tuple(8.0**k for k in range(12))  # along a ray, to a point inside the cone


def verifiable(program: Program) -> bool:
    """Return whether the program is small enough for proofs on its own data."""
    return int(program.offsets[-1]) <= MAX_LENGTH


def form_of(program: Program) -> ConicForm:
    """Return the program, as a minimisation, in the form that proofs take.

    Matrices are triangles, whose entries off the diagonals, twice those of the program, are not
    rounded. Numbers with opposite columns are one free number, their difference.
    """
    free, _ = program.opposites
    kept = np.ones(int(program.offsets[-1]), dtype=bool)
    kept[np.concatenate(program.opposites)] = False
    cones = [Cone("free", free.size)] if free.size else []
    for k, block in enumerate(program.blocks):
        n = int(kept[program.place(k)].sum()) if block.kind == "orthant" else block.n
        cones.append(Cone(block.kind, n, packed=block.kind == "psd"))
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
        if block.kind == "psd":
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


def verified_bound(program: Program, y: Array, inward: list[Array], inner: list[Array]) -> float:
    """Return the lower bound on the minimum that y proves; -inf if it proves none.

    y may be shifted by multiples of the `inward` directions, for which -A'y is in the dual cone,
    and towards the `inner` points, for which c - A'y is.
    """
    form, size = program.form, 1.0 + float(np.abs(y).max(initial=0.0))
    directions = [*(size * direction for direction in inward), *(point - y for point in inner)]
    for shift in SHIFTS:
        for direction in directions if shift else [y]:
            bound = proved_lower_bound(form, y + shift * direction)
            if bound > -inf:
                return bound
    return -inf


def bound_near(program: Program, y: Array, enough: float = inf) -> tuple[float, Array]:
    """Return the lower bound on the minimum that multipliers near y prove, and about these.

    It is -inf if none do. No more multipliers are tried once the bound is `enough`.
    """
    form = program.form
    bound = proved_lower_bound(form, y)
    if bound >= enough or not np.isfinite(y).all():
        return bound, y
    dual = form.dual
    least, v = proved_value(dual, form.dual_vector(y), lambda: interior_point(dual), -enough)
    return (-least, v[: y.size]) if -least > bound else (bound, y)


def verified_infeasible(program: Program, y: Array, inward: list[Array]) -> bool:
    """Return whether y, or a multiplier near it, proves that the program is infeasible."""
    form, size = program.form, 1.0 + float(np.abs(y).max(initial=0.0))
    shifted = any(
        proves_infeasible(form, y + shift * size * direction)
        for shift in SHIFTS
        for direction in (inward if shift else [y])
    )
    return shifted or separator_near(form, y) is not None


def separator_near(form: ConicForm, y: Array | None = None) -> Array | None:
    """Return y near a given one that proves that the form is infeasible; None if none is found."""
    form = form.feasibility
    ray = proved_ray(form.dual, None if y is None else form.dual_vector(y))
    return None if ray is None else ray[: form.b.size]


def verified_unbounded(program: Program, ray: Array, points: Iterable[Array] = ()) -> bool:
    """Return whether a ray near the given one, and a feasible point, prove unboundedness.

    The feasible point is near one of the `points`, far along the ray, or what a search proposes.
    """
    form, b = program.form, program.b
    direction = proved_ray(form, packed(program, ray))
    if direction is None:
        return False
    x = lsqr(form.A, b, atol=1e-15, btol=1e-15)[0] if b.size else np.zeros(direction.size)
    size = float(np.abs(x).max(initial=0.0)) / float(np.abs(direction).max()) or 1.0
    if any(proves_feasible(form, x + step * size * direction) for step in (0.0, *STEPS)):
        return True
    candidates = chain([x], (packed(program, point) for point in points))
    if any(proved_value(form.feasibility, point, enough=1.0)[0] < inf for point in candidates):
        return True
    inside = interior_point(form.feasibility)
    return inside is not None and proved_value(form.feasibility, inside, enough=1.0)[0] < inf
