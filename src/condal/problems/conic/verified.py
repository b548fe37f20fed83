"""Verdicts and bounds of conic programs, checked on the program as it was given.

Folding, bounds on the trace and solvers propose rays, separators and multipliers. What they claim
about a program of moderate size is issued only if `condal.certificates.conic` proves it too.
"""

from __future__ import annotations

from math import inf

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsqr

from condal.certificates.cones import Cone, ConicForm
from condal.certificates.conic import proved_lower_bound, proves_infeasible, proves_unbounded
from condal.linalg.points import Array
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


def conic_form(program: Program) -> ConicForm:
    """Return the program, as a minimisation, in the form that proofs take."""
    c = program.c.toarray().ravel()
    cones = tuple(Cone(block.kind, block.n) for block in program.blocks)
    return ConicForm(-c if program.maximise else c, sp.csr_array(program.A), program.b, cones)


def verified_bound(program: Program, y: Array, inward: list[Array], inner: list[Array]) -> float:
    """Return the lower bound on the minimum that y proves; -inf if it proves none.

    y may be shifted by multiples of the `inward` directions, for which -A'y is in the dual cone,
    and towards the `inner` points, for which c - A'y is.
    """
    form, size = conic_form(program), 1.0 + float(np.abs(y).max(initial=0.0))
    directions = [*(size * direction for direction in inward), *(point - y for point in inner)]
    for shift in SHIFTS:
        for direction in directions if shift else [y]:
            bound = proved_lower_bound(form, y + shift * direction)
            if bound > -inf:
                return bound
    return -inf


def verified_infeasible(program: Program, y: Array, inward: list[Array]) -> bool:
    """Return whether y, or a multiplier near it, proves that the program is infeasible."""
    form, size = conic_form(program), 1.0 + float(np.abs(y).max(initial=0.0))
    return any(
        proves_infeasible(form, y + shift * size * direction)
        for shift in SHIFTS
        for direction in (inward if shift else [y])
    )


def verified_unbounded(program: Program, ray: Array) -> bool:
    """Return whether the ray, with a feasible point far along it, proves unboundedness."""
    form, b = conic_form(program), program.b
    x = lsqr(program.A, b, atol=1e-15, btol=1e-15)[0] if b.size else np.zeros(ray.size)
    size = float(np.abs(x).max(initial=0.0)) / (float(np.abs(ray).max(initial=0.0)) or 1.0) or 1.0
    return any(proves_unbounded(form, x + step * size * ray, ray) for step in STEPS)
