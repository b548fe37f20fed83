"""The central path, u z = mu with A u = b and A'y + z = c, followed by predictor and corrector.

Mehrotra (1992): a step at mu = 0 shows how far mu can fall, and gives a second-order term. z is
c - A'y at every point, so each point has a bound on the optimum; A u = b holds in the limit, or
after a full step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from condal.linalg.cone_slices import ConeSlice
from condal.linalg.points import Array
from condal.methods.interior.newton_system import NewtonSystem
from condal.methods.interior.psd import Psd
from condal.methods.interior.standard import Cone, ConePoint, StandardForm, Step, share_of
from condal.methods.interior.vector_cones import Orthant, SecondOrder

MAX_REFINEMENTS = 3  # of a direction
DIRECTION_ERROR = 1e-2  # of the residual: the accepted error of A du
DIRECTION_ROUNDING = 1e-15  # of b: the error that rounding causes
MIN_FRACTION, MORE_FRACTION = 0.9, 0.09  # of the way to the boundary
SHORTENING = 0.8  # of a step that rounding takes beyond the boundary
MAX_SHORTENINGS = 8
MIN_SIGMA = 1e-6
NOTICEABLE = 1e-8  # of a number: an addition that rounding does not hide


@dataclass(frozen=True, eq=False)
class Path:
    """A point in each cone, and y."""

    form: StandardForm
    places: tuple[ConePoint, ...]
    y: Array

    @classmethod
    def first(cls, form: StandardForm) -> Path:
        """Start with u in the middle of X and a y that makes z about mu / u."""
        mu = _first_mu(form)
        y = _first_dual(form, mu)
        return cls(form, tuple(_first_point(cone, y, mu) for cone in form.cones), y)

    @cached_property
    def gap(self) -> float:
        """<u, z>."""
        return sum(place.gap for place in self.places)

    @cached_property
    def degree(self) -> float:
        """The gap over mu on the path; 1 where X is a single point."""
        return sum(place.degree for place in self.places) or 1.0

    @cached_property
    def residual(self) -> Array:
        """b - A u."""
        return self.form.b - self._image([place.flat for place in self.places])

    @property
    def lower(self) -> float:
        """<b, y> minus the price of the caps: a lower bound on the optimum."""
        caps = sum(place.price() for place in self.places)
        return self.form.constant + float(self.form.b @ self.y) - caps

    @np.errstate(divide="ignore", invalid="ignore", over="ignore")  # `moved` refuses such steps
    def advanced(self) -> Path | None:
        """Return the path after one step; None where rounding prevents a step."""
        system = NewtonSystem.of(self.places, self.form.b.size)
        if system is None:
            return None
        _, predicted = self._direction(system, 0.0, None)
        primal, dual = (min(1.0, t) for t in self._longest(predicted))
        reached = self._gap_at(predicted, primal, dual) / max(self.gap, 1e-300)
        power = max(1.0, 3.0 * min(primal, dual) ** 2)
        sigma = min(1.0, max(MIN_SIGMA, reached) ** power)
        mu = sigma * self.gap / self.degree
        dy, steps = self._direction(system, mu, predicted)
        farthest = self._longest(steps)
        fraction = MIN_FRACTION + MORE_FRACTION * min(primal, dual)
        primal, dual = (min(1.0, fraction * t) for t in farthest)
        for _ in range(MAX_SHORTENINGS):
            y = self.y + dual * dy
            pairs = zip(self.places, steps, strict=True)
            moved = [
                place.moved(step, primal, dual, place.cone.reduced(y)) for place, step in pairs
            ]
            inside = tuple(place for place in moved if place is not None)
            if len(inside) == len(moved):
                return Path(self.form, inside, y)
            primal, dual = SHORTENING * primal, SHORTENING * dual
        return None

    def _direction(
        self, system: NewtonSystem, mu: float, past: Sequence[Step] | None
    ) -> tuple[Array, list[Step]]:
        """dy and the step of each cone, towards u z = mu."""
        before = past or (None,) * len(self.places)
        aims = [place.aim(mu, last) for place, last in zip(self.places, before, strict=True)]
        left = self.residual - self._image([aim.r for aim in aims])
        accepted = max(
            DIRECTION_ERROR * _norm(self.residual), DIRECTION_ROUNDING * _norm(self.form.b)
        )
        steps: list[Step] = []
        dy, error = np.zeros_like(self.y), inf
        for _ in range(1 + MAX_REFINEMENTS):
            tried = dy + system.solved(left)
            each = zip(self.places, aims, self.form.cones, strict=True)
            candidates = [place.step(aim, -(cone.adjoint @ tried)) for place, aim, cone in each]
            left = self.residual - self._image([step.u.ravel() for step in candidates])
            if not _norm(left) < 0.5 * error and steps:
                break
            dy, steps, error = tried, candidates, _norm(left)
            if error <= accepted:
                break
        return dy, steps

    def _image(self, parts: Sequence[Array]) -> Array:
        """A u."""
        pairs = zip(self.form.cones, parts, strict=True)
        return np.asarray(sum(cone.A @ part for cone, part in pairs))

    def _longest(self, steps: Sequence[Step]) -> tuple[float, float]:
        pairs = zip(self.places, steps, strict=True)
        primal, dual = zip(*(place.longest(step) for place, step in pairs), strict=True)
        return min(primal), min(dual)

    def _gap_at(self, steps: Sequence[Step], primal: float, dual: float) -> float:
        pairs = zip(self.places, steps, strict=True)
        return sum(place.gap_at(step, primal, dual) for place, step in pairs)


def _first_point(cone: Cone, y: Array, mu: float) -> ConePoint:
    """The first point, with z = c - A'y, which must be inside; caps add about mu."""
    cost = cone.reduced(y)
    if cone.kind == "psd":
        first = Psd.first(cone, cone.first, cost)
        assert first is not None
        return first
    if cone.kind == "second-order":
        return SecondOrder(cone, cone.first[None], cost[None])
    capped, w = cone.cap < inf, cone.cap - cone.first
    more = np.where(capped, np.maximum(mu / np.minimum(cone.first, w), np.abs(cost)), 0.0)
    z = np.where(capped, more + np.maximum(cost, 0.0), cost)
    return Orthant(cone, cone.first, w, z, z - cost)


def _first_mu(form: StandardForm) -> float:
    """The largest product of an entry of u and the spread of its cost."""
    orthant = form.cones[0]
    boxed = (orthant.cap < inf) & (orthant.c != 0)
    mu = np.max(np.abs(orthant.c * orthant.first), where=boxed, initial=0.0)
    for section, cost in _costs(form, np.zeros(form.b.size)):
        low, high = _ends(section, cost)
        mu = max(mu, (high - low) * share_of(section))
    return float(mu) or 1.0 / max(1, sum(cone.n for cone in form.cones))


def _first_dual(form: StandardForm, mu: float) -> Array:
    """The initial y.

    In rows with a slack, its z is mu / u. In rows that bound X, z is within a factor of 2 of one
    number in each section.
    """
    m, orthant = form.b.size, form.cones[0]
    y = np.zeros(m)
    slacks = orthant.A[:, form.columns.size :].tocoo()
    u = orthant.first[form.columns.size :]
    w = orthant.cap[form.columns.size :] - u
    in_rows = slacks.row < m - form.sums  # not in sums
    rows, columns, signs = slacks.row[in_rows], slacks.col[in_rows], slacks.data[in_rows]
    y[rows] = -signs * mu * (1.0 / u[columns] - 1.0 / w[columns])
    matrices = sum(section.kind in ("psd", "second-order") for section, _ in form.places)
    for cone in form.cones[1 + matrices :]:
        y[cone.A.tocoo().row[0]] = mu / cone.first[0]
    levels = []
    for section, cost in _costs(form, y):
        (low, high), share = _ends(section, cost), share_of(section)
        level = low - max(high - low, mu / share, NOTICEABLE * abs(low))
        level = min(level, -mu / share) if section.at_most else level
        levels.append(section.bound * level)
    y[m - form.sums :] = levels
    return y


def _costs(form: StandardForm, y: Array) -> list[tuple[ConeSlice, Array]]:
    """c - A'y of each section with a sum."""
    costs = [cone.reduced(y) for cone in form.cones]
    bounded, others = [], iter(costs[1:])
    for section, entries in form.places:
        if section.kind == "orthant":
            begin, end = np.searchsorted(form.columns, [entries.start, entries.stop])
            bounded.append((section, costs[0][begin:end]))
        elif section.kind != "box":
            bounded.append((section, next(others)))
    return bounded


def _ends(section: ConeSlice, cost: Array) -> tuple[float, float]:
    """The smallest and the largest eigenvalue of a cost."""
    if section.kind == "psd":
        values = np.linalg.eigvalsh(cost.reshape(section.n, section.n))
    elif section.kind == "second-order":
        width = float(np.linalg.norm(cost[1:]))
        return float(cost[0]) - width, float(cost[0]) + width
    else:
        values = np.sort(cost)
    return float(values[0]), float(values[-1])


def _norm(v: Array) -> float:
    return float(np.linalg.norm(v))
