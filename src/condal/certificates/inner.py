"""The value of a point inside its cones, proved after one short step onto the rows.

An interior-point method ends inside the cones and a little off the rows. The step leaves it inside,
and what rounding leaves of the residual is repaired by an even shorter one.
"""

from __future__ import annotations

from math import inf

import numpy as np

from condal.certificates.cones import Cone, ConicForm
from condal.certificates.local_metric import LocalMetric
from condal.certificates.objective import objective_above
from condal.certificates.row_space import ROUND_UP, TINY
from condal.linalg.factorisations import dense_cholesky
from condal.linalg.points import Array
from condal.linalg.rounding import UNIT_ROUNDOFF, norm_above, stable_norm
from condal.linalg.symmetric import Symmetric

MAX_STEPS = 4
LENGTHS = 1.0, 0.6, 0.3, 0.1
MAX_REFINEMENTS, PROGRESS = 6, 0.3
ROUNDED = 1e3  # times the error of a residual: less is small enough
OWN_SHARE = 0.1  # of its room that a coordinate may take in a step along one column per row
DEPTH_SHARE = 0.5  # of the depth that is proved


def inner_value(form: ConicForm, v: Array) -> tuple[float, Array]:
    """Return the objective that is proved near v, and the vector that proves it; inf if none is.

    A v that is not inside all its cones proves nothing here.
    """
    if not np.isfinite(v).all() or not form.row_space.tractable:
        return inf, v
    moved = _onto_rows(form, v)
    return (inf, v) if moved is None else (_value(form, moved), moved)


def nearby_value(form: ConicForm, v: Array) -> float:
    """Return the objective that is proved next to v; inf if none is.

    No system is solved: v is inside its cones and so near the rows that it stays inside, after a
    step along one column per row if each row has one of its own.
    """
    if not np.isfinite(v).all() or not form.row_space.tractable:
        return inf
    if form.row_space.triangular:
        v = v + form.row_space.step(form.row_space.residual(form.b, v)[0])
    return _value(form, v)


def lifted(form: ConicForm, v: Array, slack: Array, mu: float) -> Array:
    """Return v + mu / (slack + sqrt(mu)), block by block: about the central point of mu.

    `slack` is a point of the dual cones, in the coordinates of the costs; free blocks stay.
    """
    v, ridge = v.copy(), np.sqrt(mu)
    for cone, place in zip(form.cones, form.places, strict=True):
        s = slack[place]
        if cone.kind == "orthant":
            v[place] += mu / (np.maximum(s, 0.0) + ridge)
        elif cone.kind == "second-order":
            width = stable_norm(s[1:])
            head = max(float(s[0]), width) + ridge
            v[place] += mu / (head**2 - width**2) * np.concatenate([[head], -s[1:]])
        elif cone.kind == "psd" and cone.length:
            values, vectors = np.linalg.eigh((cone.dual if cone.packed else cone).matrix(s))
            inverse = (vectors * (mu / (np.maximum(values, 0.0) + ridge))) @ vectors.T
            v[place] += cone.vector(inverse)
    return v


def _value(form: ConicForm, v: Array) -> float:
    """Return the objective that is proved near v, which is about on the rows; inf if none is."""
    room = _rooms(form, v)
    if room is None:
        return inf
    r, error = form.row_space.residual(form.b, v)
    reach = form.row_space.reach(np.abs(r) + error) * ROUND_UP
    if not reach < inf:
        return inf
    for cone, place in zip(form.cones, form.places, strict=True):
        if cone.length and not _surely_inside(cone, v[place], reach, float(room[place.start])):
            return inf
    return objective_above(form, v, np.ones(v.size), reach)


def _onto_rows(form: ConicForm, v: Array) -> Array | None:
    """Return a point on the rows, about, and inside its cones; None if none is near v."""
    room = _rooms(form, v)
    if room is None:
        return None
    r = form.row_space.residual(form.b, v)[0]
    if form.row_space.triangular:
        step = form.row_space.step(r)
        if (np.abs(step) < OWN_SHARE * room).all():
            return v + step
    for _ in range(MAX_STEPS):
        metric = LocalMetric.at(form, v)
        if metric is None:
            return None
        step = metric.step(r)
        length = next((t for t in LENGTHS if _rooms(form, v + t * step) is not None), None)
        if length is None:
            return None
        v = v + length * step
        if length == 1.0:
            return _refined(form, metric, v)
        r = form.row_space.residual(form.b, v)[0]
    return None


def _refined(form: ConicForm, metric: LocalMetric, v: Array) -> Array:
    """Return v after further steps as long as they reduce its residual."""
    r, error = form.row_space.residual(form.b, v)
    for _ in range(MAX_REFINEMENTS):
        if stable_norm(r) <= ROUNDED * stable_norm(error):
            break
        moved = v + metric.step(r)
        rest, error = form.row_space.residual(form.b, moved)
        if not stable_norm(rest) < PROGRESS * stable_norm(r):
            break
        v, r = moved, rest
    return v


def _rooms(form: ConicForm, v: Array) -> Array | None:
    """Return about how far each coordinate may move; None if v is not inside its cones."""
    room = np.full(v.size, inf)
    for cone, place in zip(form.cones, form.places, strict=True):
        block = v[place]
        if cone.kind == "orthant":
            room[place] = block
        elif cone.kind == "second-order":
            room[place] = 0.5 * (float(block[0]) - stable_norm(block[1:]))
        elif cone.kind == "psd" and cone.length:
            room[place] = float(np.linalg.eigvalsh(cone.matrix(block))[0]) / cone.stretch
    return room if room.min(initial=inf) > 0 else None


def _surely_inside(cone: Cone, v: Array, reach: float, depth: float) -> bool:
    """Whether every vector within `reach` of v, whose depth is about known, is in the cone."""
    if cone.kind == "orthant":
        return bool(v.min(initial=inf) >= reach)
    if cone.kind == "second-order":
        return float(v[0]) >= (norm_above(v[1:]) + 1.5 * reach + TINY) * ROUND_UP
    if cone.kind == "psd" and cone.length:
        full = cone.matrix(v)  # halving may round each entry
        off = reach * cone.stretch + 4 * UNIT_ROUNDOFF * norm_above(full.ravel()) + TINY * cone.n
        proof = dense_cholesky(Symmetric(cone.n, dense=full), DEPTH_SHARE * cone.stretch * depth)
        return proof is not None and proof.value >= off * ROUND_UP
    return True
