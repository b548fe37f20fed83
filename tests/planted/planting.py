"""The generator: problems of each status, with cones, units and rows at random.

All numbers are small whole numbers times powers of two, so every sum and product here is exact;
`Planted.fault` checks the result in fractions.
"""

from dataclasses import dataclass

import numpy as np

from planted.cones import Block, complementary, inside
from planted.problem import Cap, Planted, Weak

STATUSES = ("optimal", "infeasible", "unbounded")
MILLIONTH = 1099512 / 2**40  # 1e-6 with few digits: its multiples by small numbers are exact
MARGINS = (
    1.0,
    1.0,
    3.0,
    2.0**-10,
    2.0**-20,
    2.0**-34,
    2.0**-44,
)  # by which a problem is infeasible
NEAR = (2.0**-3, 2.0**-12, 2.0**-26, 2.0**-40)  # distance of nearly parallel rows


@dataclass(frozen=True)
class Profile:
    """What a door takes: free variables, and blocks of which all, some or none have a bounded
    trace. If all have, no problem is unbounded."""

    free: float = 0.4  # probability
    caps: float = 0.2  # probability that a block has a bounded trace
    largest: int = 4  # variables in an orthant

    @property
    def statuses(self) -> tuple[str, ...]:
        return STATUSES[:2] if self.caps >= 1 else STATUSES


DEFAULT = Profile()


def plant(seed: int, profile: Profile = DEFAULT) -> Planted:
    """Return a problem of each status in turn, whose truth is checked in fractions."""
    key = [17, seed, int(100 * profile.caps), int(100 * profile.free)]
    status = profile.statuses[seed % len(profile.statuses)]
    for attempt in range(100):
        draft = _Draft(np.random.default_rng([*key, attempt]), profile, status)
        draft.make()
        draft.add_dependent_rows()
        draft.make_rows_nearly_parallel()
        draft.change_units()
        planted = draft.planted()
        if not planted.fault():  # small differences in small units may have been rounded
            return planted
    raise AssertionError(f"no exact problem for seed {seed}: {planted.fault()}")


class _Draft:
    """A problem in the making."""

    def __init__(self, rng: np.random.Generator, profile: Profile, status: str) -> None:
        self.rng, self.status, self.story = rng, status, [status]
        self.blocks = _blocks(rng, profile)
        self.sizes = [block.length for block in self.blocks]
        self.ends = np.cumsum([0, *self.sizes])
        capped = [
            k
            for k, block in enumerate(self.blocks)
            if block.kind != "free" and rng.random() < profile.caps
        ]
        if status == "unbounded" and len(capped) == len(self.blocks):
            capped = capped[1:]
        self.caps = tuple(Cap(k, row) for row, k in enumerate(capped))
        fewest = 1 if status == "infeasible" else 0
        rows = fewest if rng.random() < 0.1 else int(rng.integers(1, 5))
        m, n = len(capped) + rows, int(self.ends[-1])
        self.A = rng.integers(-3, 4, (m, n)) * (rng.random((m, n)) < rng.choice([0.4, 1.0])) * 1.0
        self.loose = rng.random(m) < rng.choice([0.0, 0.3, 0.8])
        for cap in self.caps:
            self.A[cap.row] = 0.0
            self.A[cap.row, self.place(cap.block)] = self.blocks[cap.block].trace
            block = self.blocks[cap.block]
            self.loose[cap.row] = block.kind == "second-order" or rng.random() < 0.6
        self.b, self.c = np.zeros(m), np.zeros(n)
        self.scale = np.ones(m)
        self.v: np.ndarray | None = None
        self.y: np.ndarray | None = None
        self.ray: np.ndarray | None = None
        usable = status != "unbounded" and profile.caps < 1
        self.weak: Weak | bool = usable and bool(rng.random() < 0.06)

    def place(self, k: int) -> slice:
        return slice(int(self.ends[k]), int(self.ends[k + 1]))

    @property
    def m(self) -> int:
        return len(self.b)

    # ---- statuses --------------------------------------------------------------------------------

    def make(self) -> None:
        if not self.weak:
            getattr(self, f"make_{self.status}")()
            return
        self.make_optimal()
        self.append_weak_block()

    def append_weak_block(self) -> None:
        """Append a block with X_12 = 1 at the cost of X_11, or with X_11 = 0 if infeasible."""
        assert self.v is not None
        assert self.y is not None
        self.story.append("weak")
        m, n = self.A.shape
        rows = 2 if self.status == "infeasible" else 1
        self.weak = Weak(len(self.blocks), tuple(range(m, m + rows)))
        self.blocks = (*self.blocks, Block("psd", 2))
        self.ends = np.append(self.ends, n + 3)
        self.A = np.block([[self.A, np.zeros((m, 3))], [np.zeros((rows, n)), np.eye(2, 3)[:rows]]])
        self.A[m:, n : n + 2] = [[0.0, 1.0], [1.0, 0.0]][:rows]
        self.b, self.c = np.append(self.b, [1.0, 0.0][:rows]), np.append(self.c, [1.0, 0.0, 0.0])
        self.loose = np.append(self.loose, np.zeros(rows, dtype=bool))
        self.scale = np.append(self.scale, np.ones(rows))
        self.v, self.y = np.append(self.v, [0.0, 1.0, 0.0]), np.append(self.y, np.zeros(rows))
        if rows == 2:
            self.y = None

    def make_optimal(self) -> None:
        """c = A'y + z with y <= 0 on inequalities, complementary to v and its slacks."""
        rng = self.rng
        pairs = [complementary(block, rng) for block in self.blocks]
        v, z = (np.concatenate(part) for part in zip(*pairs, strict=True))
        y = rng.integers(-3, 4, self.m) * 1.0
        kind = rng.choice(["any", "any", "any", "any", "constant", "none"])
        if kind != "any":  # the objective is constant where the rows hold, or everywhere
            self.story.append(f"{kind} objective")
            z = 0.0 * z
            y = 0.0 * y if kind == "none" else y
        y[self.loose] = -np.abs(y[self.loose])
        for cap in self.caps:  # a trace is positive
            if self.loose[cap.row] or v[self.place(cap.block)].any():
                continue
            self.loose[cap.row], y[cap.row] = True, 0.0
        slack = np.where(self.loose & (y == 0), rng.integers(0, 4, self.m), 0)
        for cap in self.caps:
            if not v[self.place(cap.block)].any():
                y[cap.row] = 0.0
                slack[cap.row] = 1 + rng.integers(0, 3)
        self.v, self.y, self.c = v, y, self.A.T @ y + z
        self.b = self.A @ v + slack

    def make_infeasible(self) -> None:
        """-A'y = z in the dual cones and <b, y> > 0, by the choice of the last row."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.35:  # inside the dual cone, except where the variables are free
            points = [inside(block, rng) * block.counts for block in self.blocks]
        elif kind < 0.5:  # the equations contradict each other
            points = [np.zeros(block.length) for block in self.blocks]
        else:
            points = [complementary(block, rng)[1] for block in self.blocks]
        free = [0.0 if block.kind == "free" else 1.0 for block in self.blocks]
        z = np.concatenate([f * point for f, point in zip(free, points, strict=True)])
        y = rng.integers(-2, 3, self.m) * (rng.random(self.m) < 0.7) * 1.0
        y[self.loose] = -np.abs(y[self.loose])
        y[-1] = -1.0
        self.A[-1] = z + self.A[:-1].T @ y[:-1]
        self.b = rng.integers(-4, 5, self.m) * 1.0
        for cap in self.caps:
            self.b[cap.row] = rng.integers(1, 6)
        margin = float(rng.choice(MARGINS))
        self.story.append(f"margin {margin:.2g}")
        self.b[-1] = self.b[:-1] @ y[:-1] - margin
        self.c = rng.integers(-3, 4, self.c.size) * float(rng.random() < 0.8)
        self.y = y

    def make_unbounded(self) -> None:
        """A ray = 0 with <c, ray> < 0, by the choice of one column and its cost."""
        rng, capped = self.rng, {cap.block for cap in self.caps}
        some = rng.random() < 0.5
        parts = [
            complementary(block, rng)[0] if some else inside(block, rng) for block in self.blocks
        ]
        for k in capped:
            parts[k] = 0.0 * parts[k]
        loose_blocks = [k for k in range(len(self.blocks)) if k not in capped]
        ray = np.concatenate(parts)
        places = np.concatenate([np.arange(*self.ends[k : k + 2]) for k in loose_blocks])
        units = [j for j in places if abs(ray[j]) in (1.0, 2.0, 4.0)]
        if units:
            j = int(rng.choice(units))
        else:  # along an axis of its cone
            j = int(self.ends[loose_blocks[0]])
            ray = np.zeros(ray.size)
            ray[j] = 1.0
        self.A[:, j] -= self.A @ ray / ray[j]
        self.c = rng.integers(-3, 4, ray.size) * 1.0
        self.c[j] -= (self.c @ ray + float(rng.choice([1.0, 2.0, 2.0**-10, 2.0**-24]))) / ray[j]
        pick = _on_boundary if rng.random() < 0.4 else inside
        v = np.concatenate([pick(block, rng) for block in self.blocks])
        slack = np.where(self.loose, rng.integers(0, 4, self.m), 0)
        for cap in self.caps:
            if not v[self.place(cap.block)].any():
                self.loose[cap.row], slack[cap.row] = True, 1
        self.v, self.ray, self.b = v, ray, self.A @ v + slack

    # ---- what changes no truth -------------------------------------------------------------------

    def add_dependent_rows(self) -> None:
        """Append empty rows, copies and sums of equations."""
        rng = self.rng
        if rng.random() < 0.7:
            return
        for _ in range(int(rng.integers(1, 3))):
            equations = np.flatnonzero(~self.loose)
            kind, loose = str(rng.choice(["empty", "copy", "sum"])), False
            row, right = np.zeros(self.c.size), 0.0
            if kind == "empty":
                loose = bool(rng.random() < 0.5)
                right = float(rng.integers(0, 3)) if loose else 0.0
            elif equations.size:
                i, j = rng.choice(equations, 2)
                factor = float(rng.choice([1.0, -2.0, 0.5]))
                row, right = factor * self.A[i], factor * self.b[i]
                if kind == "sum":
                    row, right = row + self.A[j], right + self.b[j]
            self.story.append(f"{kind} row")
            self.A, self.b = np.vstack([self.A, row]), np.append(self.b, right)
            self.loose, self.scale = np.append(self.loose, loose), np.append(self.scale, 1.0)
            if self.y is not None:
                self.y = np.append(self.y, 0.0)

    def make_rows_nearly_parallel(self) -> None:
        """Replace an equation j by i + d j, d small: the same points satisfy both."""
        first = len(self.caps)
        equations = first + np.flatnonzero(~self.loose[first:])
        if equations.size < 2 or self.rng.random() < 0.8:
            return
        i, j = self.rng.choice(equations, 2, replace=False)
        d = float(self.rng.choice(NEAR))
        self.story.append(f"rows at a distance of {d:.2g}")
        row, right = self.A[i] + d * self.A[j], self.b[i] + d * self.b[j]
        if np.any(row - self.A[i] != d * self.A[j]) or right - self.b[i] != d * self.b[j]:
            return  # rounded: two small differences
        self.A[j], self.b[j] = row, right
        if self.y is not None:
            self.y[[i, j]] = self.y[i] - self.y[j] / d, self.y[j] / d

    def change_units(self) -> None:
        """Scale rows, variables and the objective."""
        rng, first, m = self.rng, len(self.caps), self.m
        units = str(rng.choice(["none", "none", "powers of two", "millionths", "millions"]))
        if units == "powers of two":
            self.scale[first:] = 2.0 ** rng.integers(-20, 21, m - first)
        elif units != "none":
            factor = MILLIONTH if units == "millionths" else 1e6
            self.scale[first:] = np.where(rng.random(m - first) < 0.6, factor, 1.0)
        self.A, self.b = self.scale[:, None] * self.A, self.scale * self.b
        if rng.random() < 0.25:
            self.story.append("variables in other units")
            self._scale_variables()
        size = float(rng.choice([1.0, 1.0, 1.0, 2.0**20, 2.0**-20, 1e4, 1e10]))
        self.c = size * self.c
        if self.status == "optimal" and self.y is not None:
            self.y = size * self.y
        self.story += [f"rows in {units}", f"objective times {size:g}"]

    def _scale_variables(self) -> None:
        """v_j = w_j / s_j, for whole blocks where they are matrices or second-order cones."""
        capped = {cap.block for cap in self.caps}
        s = np.ones(self.c.size)
        for k, block in enumerate(self.blocks):
            if k in capped:
                continue
            count = block.n if block.kind in ("free", "orthant") else 1
            s[self.place(k)] = 2.0 ** self.rng.integers(-15, 16, count)
        self.A, self.c = self.A * s, self.c * s
        self.v = None if self.v is None else self.v / s
        self.ray = None if self.ray is None else self.ray / s

    def planted(self) -> Planted:
        rng = self.rng
        return Planted(
            self.status,
            self.blocks,
            self.A,
            self.b,
            self.c,
            self.loose,
            self.scale,
            self.caps,
            offset=float(rng.choice([0.0, 0.0, 7.0, 2.0**20])),
            maximise=bool(rng.random() < 0.3),
            v=self.v,
            y=self.y,
            ray=self.ray,
            weak=self.weak or None,
            story=tuple(self.story),
        )


def _blocks(rng: np.random.Generator, profile: Profile) -> tuple[Block, ...]:
    blocks = []
    if rng.random() < 0.7:
        blocks.append(Block("orthant", int(rng.integers(1, profile.largest + 1))))
    if rng.random() < profile.free:
        blocks.append(Block("free", int(rng.integers(1, 3))))
    if rng.random() < 0.3:
        blocks.append(Block("second-order", 3))
    if rng.random() < 0.4 or not blocks:
        blocks.append(Block("psd", int(rng.integers(2, 4))))
    return tuple(blocks)


def _on_boundary(block: Block, rng: np.random.Generator) -> np.ndarray:
    return complementary(block, rng)[0]
