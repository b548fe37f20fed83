"""Random problems min f(x) + g(Bx), x in X, Ax in K, of every domain, set and function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

import condal
from truth.case import Asked, Case
from truth.constraints import BARELY, Box, Kept
from truth.costs import Cost, linear, random_linear, random_smooth
from truth.holding import aimed, apart, box_about, cone_and_target, holding
from truth.images import Image, random_image, structured
from truth.regions import Region
from truth.terms import Term, random_term

KINDS = ("slater", "cone", "boundary", "degenerate", "infeasible", "composite", "free")
WIDEST = 40  # powers of 2: 1e12


@dataclass(frozen=True)
class Scale:
    """condal has c f(x / s), and the rows of A times `rows`, all of them powers of 2."""

    c: float
    s: float
    rows: Any

    @classmethod
    def drawn(cls, region: Region, K: Kept | None, rng) -> Scale:
        size = 0 if K is None else K.size
        c, s, rows = 1.0, 1.0, np.ones(size)
        if rng.random() > 0.4:
            return cls(c, s, rows)
        which = rng.integers(4)
        if which in (0, 3):
            c = 2.0 ** rng.integers(-WIDEST, WIDEST + 1)
        if which in (1, 3):
            wide = int(rng.choice([4, 12, WIDEST]))
            rows = 2.0 ** rng.integers(-wide, wide + 1, size)
            if K is not None and not K.each:
                rows = np.full(size, rows[0])
        if which == 2 and region.scales:
            s = 2.0 ** rng.integers(-WIDEST, WIDEST + 1)
        return cls(c, s, rows)


@dataclass(frozen=True, eq=False)
class Template:
    """The pieces of a problem in NumPy."""

    region: Region
    f: Cost
    A: Image | None = None
    K: Kept | None = None
    B: Image | None = None
    g: Term | None = None
    maximise: bool = False

    def problem(self, scale: Scale) -> condal.Problem:
        space, s = self.region.space, scale.s
        pieces: dict[str, Any] = {}
        if self.A is not None and self.K is not None:
            pieces |= {"A": self.A.made(space, scale.rows / s), "K": self.K.made(scale.rows)}
        if self.B is not None and self.g is not None:
            factors = None if s == 1.0 else np.full(len(self.B.rows), 1 / s)
            pieces |= {"B": self.B.made(space, factors), "g": self.g.made(scale.c)}
        return condal.Problem.of(
            f=self.f.made(scale.c, s), X=self.region.made(s), maximise=self.maximise, **pieces
        )

    def value(self, z: np.ndarray) -> float:
        nonsmooth = 0.0 if self.g is None else self.g.value(self.B.rows @ z)
        return self.f.value(z) - nonsmooth if self.maximise else self.f.value(z) + nonsmooth

    def asked(self, scale: Scale) -> Asked:
        x, rules = self.region.rival()
        objective, ties = self.f.rival(x), []
        if self.A is not None and self.K is not None:
            image = cp.Variable(self.K.size)
            tie = self.A.rows @ x == image
            rules, ties = [*rules, tie, *self.K.rival(image)], [(tie, scale.c / scale.rows)]
        if self.B is not None and self.g is not None:
            image = cp.Variable(len(self.B.rows))
            nonsmooth = self.g.rival(image)
            objective = objective - nonsmooth if self.maximise else objective + nonsmooth
            rules = [*rules, self.B.rows @ x == image]
        goal = cp.Maximize(objective) if self.maximise else cp.Minimize(objective)
        return Asked(cp.Problem(goal, rules), scale.c, ties)

    def missed(self, z: np.ndarray, scale: Scale) -> float:
        if self.A is None or self.K is None:
            return 0.0
        image = self.A.rows @ z
        if self.K.each:  # then the nearest point does not depend on the units
            return float(np.linalg.norm(scale.rows * (image - self.K.nearest(image))))
        return float(np.max(scale.rows) * np.linalg.norm(image - self.K.nearest(image)))

    def separation(self, d: np.ndarray, scale: Scale) -> tuple[float, float, float]:
        assert self.A is not None
        assert self.K is not None
        e = scale.rows * d[: self.K.size]  # a part of d for g is 0
        assert not d[self.K.size :].any()
        v = self.A.rows.T @ e
        size = float(np.abs(e) @ np.abs(self.A.rows).sum(axis=1)) * self.region.size
        return self.region.least(v), self.K.support(e), size

    def case(self, family: str, scale: Scale, **known: Any) -> Case:
        space, s = self.region.space, scale.s
        names = [self.f.name, *([self.g.name] if self.g else [])]
        names += [type(self.K).__name__] if self.K else []
        scales = (
            f"c {scale.c:g}, s {s:g}, rows {np.array2string(np.asarray(scale.rows), precision=2)}"
        )
        kind, model = known.pop("kind"), known.pop("model", None)
        story = f"{kind}: {' + '.join(names)} over {self.region!r}; {scales}"
        return Case(
            family,
            " ".join(story.split()),
            self.problem(scale) if model is None else model,
            lambda: self.asked(scale),
            lambda x: scale.c * self.value(space.flat(x) / s),
            lambda x: self.region.off(space.flat(x) / s) / (self.region.size or 1.0),
            lambda x: self.missed(space.flat(x) / s, scale),
            maximise=self.maximise,
            separation=lambda d: self.separation(d, scale),
            **known,
        )


def random_case(family: str, region: Region, rng, kind: str | None = None) -> Case:
    """Return a problem over the region with the named difficulty, or any."""
    kind = str(rng.choice(KINDS)) if kind is None else kind
    if kind in ("boundary", "degenerate") and not region.exacts:
        kind = "slater"
    return _MAKERS[kind](family, region, rng)


def _cost(region: Region, rng) -> Cost:
    if rng.random() < 0.6:
        return random_linear(region.space, rng, bool(rng.integers(2)))
    corners = [region.vertex(e) for e in np.eye(region.space.dimension)]
    positive = np.min(corners) >= 0
    return random_smooth(region.space, region.size, rng, bool(positive))


def _image(region: Region, rng) -> Image:
    if rng.random() < 0.4:
        return structured(region.space, rng)
    return random_image(region.space, int(rng.integers(1, 6)), rng, bool(rng.integers(2)))


def _max(f: Cost, rng) -> bool:
    return f.linear is not None and bool(rng.random() < 0.3)


def _slater(family: str, region: Region, rng) -> Case:
    A, f = _image(region, rng), _cost(region, rng)
    K = holding(A.rows @ region.member(rng), float(rng.choice([0.5, 0.05])), rng)
    template = Template(region, f, A, K, maximise=_max(f, rng))
    return template.case(family, Scale.drawn(region, K, rng), kind="slater")


def _cone(family: str, region: Region, rng) -> Case:
    x, f = region.member(rng), _cost(region, rng)
    if not x.any():
        return _slater(family, region, rng)
    room = float(rng.choice([0.5, 0.05]))
    K, target = cone_and_target(int(rng.integers(1, 7)), room, rng)
    rows = aimed(region.space.rows(rng, K.size, bool(rng.integers(2))), x, target)
    template = Template(region, f, Image(rows), K, maximise=_max(f, rng))
    return template.case(family, Scale.drawn(region, K, rng), kind="cone")


def _exact(family: str, region: Region, rng, kind: str, rows: np.ndarray, x: np.ndarray) -> Case:
    """Rows and point of whole numbers and powers of 2: what is computed here is exact. So it is
    of any rows, if the point has one entry that is not 0."""
    whole = np.count_nonzero(x) > 1 or bool(rng.integers(2))
    if not whole:
        more = region.space.rows(rng, len(rows) - 1, False)
        rows = np.vstack([rows[:1], more, more[: int(rng.integers(0, 2))]])
    f = linear(region.space, region.space.rows(rng, 1, whole)[0] * float(rng.random() < 0.9))
    z = rows @ x
    K = Box(z, z) if rng.random() < 0.6 else box_about(z, 0.0, rng)
    assert np.array_equal(K.nearest(z), z)
    template = Template(region, f, Image(rows), K, maximise=_max(f, rng))
    scale = Scale.drawn(region, K, rng)
    upper = scale.c * template.value(x)
    return template.case(family, scale, kind=kind, upper=upper, margin=0.0)


def _boundary(family: str, region: Region, rng) -> Case:
    """Feasible only on a face of X: there is no interior point."""
    v, x = region.face(rng)
    rows = np.vstack([v, region.space.rows(rng, int(rng.integers(0, 4)), True)])
    return _exact(family, region, rng, "boundary", rows, x)


def _degenerate(family: str, region: Region, rng) -> Case:
    rows = random_image(region.space, int(rng.integers(1, 6)), rng, True).rows
    rows = np.vstack([rows, rows[: int(rng.integers(0, 3))]])
    return _exact(family, region, rng, "degenerate", rows, region.exact(rng))


def _infeasible(family: str, region: Region, rng) -> Case:
    A, f = _image(region, rng), _cost(region, rng)
    unit = float(np.linalg.norm(A.rows, 2)) * region.size or 1.0
    margin = float(rng.choice(BARELY)) * unit
    K, d = apart(A.rows, region, margin, rng)
    if rng.random() < 0.25:
        return _contradicted(family, region, f, rng)
    template, scale = Template(region, f, A, K), Scale.drawn(region, K, rng)
    apart_by = margin * float(np.linalg.norm(d) / np.linalg.norm(d / scale.rows))
    return template.case(family, scale, kind=f"infeasible by {margin / unit:g}", margin=apart_by)


def _contradicted(family: str, region: Region, f: Cost, rng) -> Case:
    """A repeated row, or a row of zeros, with an image that it cannot have: infeasible."""
    rows = random_image(region.space, int(rng.integers(1, 4)), rng, bool(rng.integers(2))).rows
    rows = np.vstack([rows, rows[:1]]) if rng.integers(2) else np.vstack([rows, 0 * rows[:1]])
    z = rows @ region.member(rng)
    unit = float(np.linalg.norm(rows, 2)) * region.size or 1.0
    margin = 10.0 ** -int(rng.integers(1, 10)) * unit
    z[-1] += margin
    K = Box(z, z)
    template, scale = Template(region, f, Image(rows), K), Scale.drawn(region, K, rng)
    d = np.zeros(len(z))
    d[-1] = 1.0
    d[0] = -1.0 if rows[-1].any() else 0.0
    apart_by = margin * (1 - 1e-6) / float(np.linalg.norm(d / scale.rows))
    return template.case(family, scale, kind=f"contradicted by {margin / unit:g}", margin=apart_by)


def _composite(family: str, region: Region, rng) -> Case:
    f, B = _cost(region, rng), _image(region, rng)
    g, A, K = random_term(len(B.rows), rng), None, None
    if rng.random() < 0.5:
        A = _image(region, rng)
        K = holding(A.rows @ region.member(rng), float(rng.choice([0.5, 0.05])), rng)
    template = Template(region, f, A, K, B, g, maximise=_max(f, rng))
    return template.case(family, Scale.drawn(region, K, rng), kind="composite")


def _free(family: str, region: Region, rng) -> Case:
    f = _cost(region, rng)
    template = Template(region, f, maximise=_max(f, rng))
    return template.case(family, Scale.drawn(region, None, rng), kind="free", margin=0.0)


_MAKERS: dict[str, Callable[[str, Region, Any], Case]] = {
    "slater": _slater,
    "cone": _cone,
    "boundary": _boundary,
    "degenerate": _degenerate,
    "infeasible": _infeasible,
    "composite": _composite,
    "free": _free,
}
