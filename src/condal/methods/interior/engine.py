"""Proposals for conic programs of moderate size: solutions, rays, and duals inside their cone.

A program comes as minimise <c, x>, Ax = b, x in a product of cones. Equal cones become one stack,
so that a program of many small matrices costs few calls. Rows are scaled to norm 1, and large or
tiny b and c as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import inf
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices
from condal.methods.interior.embedding import Embedded, EmbeddedProgram
from condal.methods.interior.standard import Block, Cone
from condal.runtime.limits import current_limit
from condal.runtime.meter import check_cancelled

ACCURACY = 1e-9  # of a solution: proofs lose some of it
RAY_ACCURACY = 1e-9
SMALL_TAU = 1e-3  # of kappa or 1: below it, rays are looked at
MAX_ITERS = 120
PATIENCE, PROGRESS = 8, 0.8  # iterations within which an error falls below this share
WAY_ERROR = 1e-3  # of the point that is kept for multipliers deep inside the dual cone
MIN_NATURAL_NORM = 1e-3  # of b and c: smaller ones are scaled up
MAX_STACKED_SIDE = 40  # of matrices that are stacked: larger ones gain nothing


@dataclass(frozen=True, eq=False)
class Proposal:
    """What the engine ends with; every vector is a proposal, none is a proof.

    x and y look like a solution of that relative error; or y like a "separator", with -A'y in the
    dual cone and <b, y> > 0; or x like a "direction", with Ax = 0 and <c, x> < 0.
    """

    outcome: Literal["solution", "separator", "direction"]
    x: Array = field(repr=False)
    y: Array = field(repr=False)
    error: float
    iterations: int
    _path: Path = field(repr=False)

    @cached_property
    def inner(self) -> Array | None:
        """Multipliers near y with c - A'y inside the dual cone; None for a ray or without any."""
        return self._inside(self._path.best)

    @cached_property
    def deep(self) -> Array | None:
        """Multipliers with c - A'y deep inside the dual cone; None for a ray or without any."""
        return self._inside(self._path.way)

    def refined(self, accuracy: float = ACCURACY) -> Proposal:
        """Return the proposal of a solution after further steps, as it is if it is accurate enough.

        It may end with a ray, or with the same pair.
        """
        accurate = self.outcome != "solution" or self.error <= accuracy
        return self if accurate else self._path.followed(accuracy)

    def _inside(self, at: Embedded) -> Array | None:
        centred = at.centred() if self.outcome == "solution" else None
        return None if centred is None else self._path.scaled.multipliers(centred)


def propose(
    c: Array, A: Any, b: Array, cones: Sequence[Block], *, accuracy: float = ACCURACY
) -> Proposal:
    """Follow the central path of the embedding to a solution that is accurate enough, or to a ray.

    The limit of the call under way ends it early.
    """
    return Path(Scaled.of(c, A, b, cones)).followed(accuracy)


class Path:
    """The central path of an embedded program, up to some point.

    `best` is the most accurate pair so far, `way` one on the way to it. `marks` are the errors when
    one of them last got better, `since` iterations ago.
    """

    def __init__(self, scaled: Scaled) -> None:
        self.scaled, self.iterations = scaled, 0
        self.at = self.best = self.way = Embedded.first(scaled.program)
        self.error, self.since, self.marks = inf, 0, np.full(3, inf)

    def points(self, accuracy: float) -> Iterator[Embedded]:
        """Go on until a solution is accurate enough, or nothing gets better; yield each point."""
        while True:
            self._record()
            accurate = self.iterations > 0 and self.error <= accuracy
            if accurate or self.since >= PATIENCE or self.shows_ray:
                return
            if self.iterations >= MAX_ITERS or current_limit().is_over():
                return
            check_cancelled()
            moved = self.at.advanced()
            if moved is None:
                return
            self.at, self.iterations = moved, self.iterations + 1
            yield moved

    def _record(self) -> None:
        at = self.at
        if at.error < self.error:
            self.way = at if self.way.error > WAY_ERROR else self.way
            self.best, self.error = at, at.error
        values = np.array([at.error, min(at.ray_errors), at.mu])
        better = values <= PROGRESS * self.marks
        self.marks = np.where(better, values, self.marks)
        self.since = 0 if better.any() else self.since + 1

    @property
    def shows_ray(self) -> bool:
        """Whether the last point is a ray."""
        small = self.at.tau < SMALL_TAU * max(1.0, self.at.kappa)
        return small and min(self.at.ray_errors) <= RAY_ACCURACY

    @property
    def ends_in_ray(self) -> bool:
        """Whether the last point is nearer to a ray than any point to a solution."""
        return self.shows_ray or min(self.at.ray_errors) < self.error

    def followed(self, accuracy: float) -> Proposal:
        """Go on to the end of the path: the best pair, or the better ray, scaled to 1."""
        for _ in self.points(accuracy):
            pass
        scaled, at = self.scaled, self.best
        if not self.ends_in_ray:
            x, y = scaled.x(at) / at.tau, scaled.multipliers(at)
            return Proposal("solution", x, y, self.error, self.iterations, self)
        x, y = scaled.x(self.at), self.at.y / scaled.norms
        x, y = (v / (float(np.abs(v).max(initial=0.0)) or 1.0) for v in (x, y))
        separator, direction = self.at.ray_errors
        if separator <= direction:
            return Proposal("separator", x, y, separator, self.iterations, self)
        return Proposal("direction", x, y, direction, self.iterations, self)


@dataclass(frozen=True, eq=False)
class Scaled:
    """The embedded program, and how its vectors are those of the program.

    x is `expand` times u beside w at `free`, times the size of b; y is scaled by the rows' norms.
    """

    program: EmbeddedProgram
    expand: Any
    free: Indices
    norms: Array
    size_b: float
    size_c: float

    @classmethod
    def of(
        cls,
        c: Array,
        A: Any,
        b: Array,
        cones: Sequence[Block],
        *,
        diagonal_rows: int = 0,
        natural: bool = False,
    ) -> Scaled:
        """Stack equal cones and scale the data.

        `diagonal_rows` are those of the program; only rows are scaled where units are `natural`.
        """
        stacks, expand, free = _stacked(cones, c.size)
        A = sp.csr_array(A)
        norms = np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).ravel())
        norms[norms == 0] = 1.0
        A = sp.csr_array((1.0 / norms)[:, None] * A)
        b = b / norms
        size_b, size_c = (1.0, 1.0) if natural else (_size(b), _size(c))
        whole, costs = sp.csc_array(A @ expand), expand.T @ c / size_c
        parts, begin = [], 0
        for kind, n, count in stacks:
            first = np.tile(_identity(kind, n), count)
            place = slice(begin, begin + first.size)
            parts.append(Cone(kind, n, costs[place], sp.csr_array(whole[:, place]), first))
            begin = place.stop
        F = sp.csr_array(sp.csc_array(A)[:, free]) if free.size else None
        unit = min(1.0, 1.0 / (size_b * size_c))
        program = EmbeddedProgram(
            tuple(parts), b / size_b, F, c[free] / size_c, unit, diagonal_rows
        )
        return cls(program, expand, free, norms, size_b, size_c)

    def x(self, at: Embedded) -> Array:
        """Return x of a point, for tau = 1."""
        x = np.asarray(self.expand @ at.u)
        x[self.free] = at.w
        return self.size_b * x

    def slack(self, at: Embedded) -> Array:
        """Return z of a point, for tau = 1; entries of matrices count once."""
        return self.size_c * np.asarray(self.expand @ at.z)

    def multipliers(self, at: Embedded) -> Array:
        """Return y / tau of a point, for the rows of the program."""
        return self.size_c / at.tau * at.y / self.norms


def _stacked(
    cones: Sequence[Block], length: int
) -> tuple[list[tuple[Any, int, int]], Any, Indices]:
    """Return the stacks as kind, n and count, x in terms of their entries, and free coordinates."""
    ends = np.cumsum([0, *(cone.length for cone in cones)]).tolist()
    groups: dict[tuple[Any, ...], list[tuple[Block, Indices]]] = {}
    free = [np.zeros(0, dtype=np.int64)]
    for k, (cone, (begin, end)) in enumerate(zip(cones, pairwise(ends), strict=True)):
        places = np.arange(begin, end)
        if cone.kind == "free":
            free.append(places)
        elif cone.kind == "orthant" or cone.length == 1:
            groups.setdefault(("orthant",), []).append((cone, places))
        elif cone.kind == "psd" and cone.n > MAX_STACKED_SIDE:
            groups[cone.kind, cone.n, k] = [(cone, places)]
        elif cone.length:
            groups.setdefault((cone.kind, cone.n), []).append((cone, places))
    stacks, rows, cols, data, count = [], [], [], [], 0
    for key, members in groups.items():
        for cone, places in members:
            row, col, value = _entries(cone, places) if key[0] == "psd" else _plain(places)
            rows.append(row)
            cols.append(count + col)
            data.append(value)
            count += cone.n**2 if key[0] == "psd" else cone.length
        if key[0] == "orthant":
            stacks.append(("orthant", sum(places.size for _, places in members), 1))
        else:
            stacks.append((key[0], key[1], len(members)))
    empty = np.zeros(0, dtype=np.int64)
    where = np.concatenate([empty, *rows]), np.concatenate([empty, *cols])
    expand = sp.csr_array((np.concatenate([np.zeros(0), *data]), where), (length, count))
    return stacks, expand, np.concatenate(free)


def _plain(places: Indices) -> tuple[Indices, Indices, Array]:
    return places, np.arange(places.size), np.ones(places.size)


def _entries(cone: Block, places: Indices) -> tuple[Indices, Indices, Array]:
    """The coordinates of a matrix in terms of its n^2 entries: the mean of mirror images."""
    n = cone.n
    j, i = np.triu_indices(n) if cone.packed else np.divmod(np.arange(n * n), n)
    columns = np.concatenate([i * n + j, j * n + i])
    weights = np.where((i != j) & cone.doubled, 1.0, 0.5)
    return np.concatenate([places, places]), columns, np.concatenate([weights, weights])


def _size(v: Array) -> float:
    """The size to scale by: 1 where the units look natural, since the first point is made of 1s."""
    norm = float(np.linalg.norm(v)) or 1.0
    return max(norm, 1.0) if norm >= MIN_NATURAL_NORM else norm


def _identity(kind: str, n: int) -> Array:
    """The unit of a cone."""
    if kind == "psd":
        return np.eye(n).ravel()
    return np.ones(n) if kind == "orthant" else np.eye(1, n).ravel()
