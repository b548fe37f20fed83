"""The point of the cone program at the values of a CVXPY problem's variables."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.reductions.cvx_attr2constr import lower_value

from condal.certificates.interior import completed
from condal.cvxpy.judge import Judge
from condal.linalg.points import Array


def cone_point(problem: cp.Problem, inverse: Any, judge: Judge) -> Array | None:
    """Return (x, s), about, at the values of the user's variables; None if they have none.

    Variables that CVXPY added, such as those of epigraphs, are chosen for the least objective.
    """
    A, b = judge.problem.A, judge.problem.b
    x, known = np.zeros(A.shape[1]), np.zeros(A.shape[1], dtype=bool)
    places = inverse[-2].id_map  # the first column and the number of columns of each variable
    for variable in problem.variables():
        place = places.get(_reduced(variable.id, inverse))
        if place is None or variable.value is None or np.iscomplexobj(variable.value):
            continue
        value = np.ravel(lower_value(variable, variable.value), order="F")
        if value.size == place[1]:
            x[place[0] : sum(place)], known[place[0] : sum(place)] = value, True
    if not known.any():
        return None
    v = np.concatenate([x, (b - A @ x)[judge.problem.layout.zero :]])
    if known.all():
        return v
    return completed(judge.primal, v, np.append(known, np.zeros(v.size - x.size, dtype=bool)))


def _reduced(identity: int, inverse: Any) -> int:
    """Return the id of a variable after its attributes have become constraints."""
    for step in inverse:
        if isinstance(step, tuple) and step and identity in step[0]:
            identity = step[0][identity].id
    return identity
