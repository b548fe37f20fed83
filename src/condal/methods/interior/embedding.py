r"""The homogeneous self-dual embedding of a conic program, which needs no bound and no first point.

.. math::

    A u + F w = b \tau, \quad A^\top y + z = c \tau, \quad F^\top y = d \tau, \quad
    \langle b, y \rangle - \langle c, u \rangle - \langle d, w \rangle = \kappa

with u and z in the cone and its dual, and tau and kappa nonnegative. A solution with tau > 0 gives
an optimal pair; one with kappa > 0 gives a ray: a proof that the program or its dual is infeasible.
The path from u = z = e, tau = kappa = 1 has all residuals fall at the rate of mu. Nothing that
comes out is a proof: the ends are proposals.

References
----------
X. Xu, P.-F. Hung, Y. Ye. A simplified homogeneous and self-dual linear programming algorithm and
its implementation. Annals of Operations Research 62, 1996.

E. D. Andersen, C. Roos, T. Terlaky. On implementing a primal-dual interior-point method for conic
quadratic optimization. Mathematical Programming 95, 2003.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import inf
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array
from condal.linalg.rounding import stable_norm
from condal.methods.interior.newton_system import Direction, Newton
from condal.methods.interior.psd import Psd
from condal.methods.interior.standard import Cone, ConePoint, is_small
from condal.methods.interior.vector_cones import Orthant, SecondOrder
from condal.runtime.limits import current_limit

MIN_FRACTION, MORE_FRACTION = 0.9, 0.09  # of the way to the boundary
SHORTENING = 0.8  # of a step that rounding takes beyond the boundary
MAX_SHORTENINGS = 10
MIN_SIGMA = 1e-6
MIN_STEP = 1e-7
CENTRING, MAX_CENTRING_STEPS = 3.0, 8  # factor on mu, and steps towards it

Numbers: TypeAlias = tuple[Array, Array, Array, Array, float, float]  # u, z, w, y, tau, kappa


@dataclass(frozen=True, eq=False)
class EmbeddedProgram:
    """minimise <c, u> + <d, w>, A u + F w = b, u in the cones, with b, c and d of at most 1.

    `cones` hold c and A; `free` is F, or None. Gaps are relative to the objective and `unit`. The
    last `diagonal_rows` share no entry of u in an orthant with each other.
    """

    cones: tuple[Cone, ...]
    b: Array
    free: Any
    d: Array
    unit: float = 1.0
    diagonal_rows: int = 0

    @cached_property
    def c(self) -> Array:
        """The costs of all cones."""
        return np.concatenate([np.zeros(0), *(cone.c for cone in self.cones)])

    @cached_property
    def A(self) -> Any:
        """The columns of all cones, in CSR, or dense where products are then faster."""
        m = self.b.size
        A = sp.csr_array(sp.hstack([sp.csr_array((m, 0)), *(cone.A for cone in self.cones)]))
        return A.toarray() if is_small(A) else A

    @cached_property
    def adjoint(self) -> Any:
        """A', in CSR or dense."""
        return self.A.T if isinstance(self.A, np.ndarray) else sp.csr_array(self.A.T)

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """The place of each cone in u."""
        ends = np.cumsum([0, *(cone.c.size for cone in self.cones)]).tolist()
        return tuple(slice(a, b) for a, b in pairwise(ends))

    def image(self, u: Array, w: Array) -> Array:
        """A u + F w."""
        return np.asarray(self.A @ u if self.free is None else self.A @ u + self.free @ w)

    def free_adjoint(self, y: Array) -> Array:
        """F'y."""
        return np.zeros(0) if self.free is None else np.asarray(self.free.T @ y)


@dataclass(frozen=True, eq=False)
class Embedded:
    """A point of the embedding."""

    program: EmbeddedProgram
    pairs: tuple[ConePoint, ...] = field(repr=False)
    w: Array
    y: Array
    tau: float
    kappa: float

    @classmethod
    def first(cls, program: EmbeddedProgram) -> Embedded:
        """Return the first point: u = z = e, tau = kappa = 1."""
        e = np.concatenate([np.zeros(0), *(cone.first for cone in program.cones)])
        zeros = np.zeros(program.d.size), np.zeros(program.b.size)
        return cls.of(program, (e, e.copy(), *zeros, 1.0, 1.0))

    @classmethod
    def of(cls, program: EmbeddedProgram, numbers: Numbers) -> Embedded:
        """Return the point of u and z inside the cones, w, y, tau and kappa."""
        u, z, w, y, tau, kappa = numbers
        pairs = []
        for cone, place in zip(program.cones, program.places, strict=True):
            pair = _KINDS[cone.kind](cone, u[place], z[place])
            assert pair is not None
            pairs.append(pair)
        return cls(program, tuple(pairs), w, y, tau, kappa)

    @property
    def numbers(self) -> Numbers:
        """What `of` makes the point of."""
        return self.u, self.z, self.w, self.y, self.tau, self.kappa

    @cached_property
    def u(self) -> Array:
        """The points of all cones."""
        return np.concatenate([np.zeros(0), *(pair.flat for pair in self.pairs)])

    @cached_property
    def z(self) -> Array:
        """The points of all dual cones."""
        return np.concatenate([np.zeros(0), *(pair.dual for pair in self.pairs)])

    @cached_property
    def mu(self) -> float:
        """The gap over the degree of the cones."""
        gap = sum(pair.gap for pair in self.pairs) + self.tau * self.kappa
        return gap / (sum(pair.degree for pair in self.pairs) + 1.0)

    @cached_property
    def _image(self) -> Array:
        return self.program.image(self.u, self.w)

    @cached_property
    def _pulled(self) -> Array:
        """A'y."""
        return np.asarray(self.program.adjoint @ self.y)

    @cached_property
    def _costs(self) -> tuple[float, float]:
        """<c, u> + <d, w> and <b, y>."""
        program = self.program
        primal = float(program.c @ self.u + program.d @ self.w)
        return primal, float(program.b @ self.y)

    @cached_property
    def _residuals(self) -> tuple[Array, Array, Array, float]:
        """What is missing in the four equations."""
        program, (primal, dual) = self.program, self._costs
        return (
            self.tau * program.b - self._image,
            self.tau * program.c - self.z - self._pulled,
            self.tau * program.d - program.free_adjoint(self.y),
            self.kappa + primal - dual,
        )

    @property
    def gap(self) -> float:
        """The difference of the objectives, relative to 1 and them."""
        primal, dual = (cost / self.tau for cost in self._costs)
        return abs(primal - dual) / (self.program.unit + abs(primal) + abs(dual))

    @cached_property
    def error(self) -> float:
        """The largest of the relative residuals and the gap of the pair u / tau, y / tau."""
        program, (rows, duals, free, _) = self.program, self._residuals
        primal = stable_norm(rows) / (1.0 + stable_norm(program.b))
        dual = max(stable_norm(duals), stable_norm(free)) / (1.0 + stable_norm(program.c))
        return max(primal / self.tau, dual / self.tau, self.gap)

    @cached_property
    def ray_errors(self) -> tuple[float, float]:
        """|A'y + z| / <b, y> and |A u + F w| / -<c, u>, inf where a sign is wrong."""
        primal, dual = self._costs
        program = self.program
        separator = direction = inf
        if dual > 0:
            off = stable_norm(self._pulled + self.z) + stable_norm(program.free_adjoint(self.y))
            separator = off / dual
        if primal < 0:
            direction = stable_norm(self._image) / -primal
        return separator, direction

    @np.errstate(over="ignore", invalid="ignore")  # of a step that is then refused
    def advanced(self) -> Embedded | None:
        """Return the point after a predictor and a corrector; None where rounding prevents it."""
        newton = Newton.of(self)
        if newton is None:
            return None
        predicted = newton.direction(1.0, 0.0, None)
        reach = min(1.0, self._longest(predicted))
        sigma = max(MIN_SIGMA, (1.0 - reach) ** 3)
        corrected = newton.direction(1.0 - sigma, sigma * self.mu, predicted)
        length = min(1.0, (MIN_FRACTION + MORE_FRACTION * reach) * self._longest(corrected))
        for _ in range(MAX_SHORTENINGS):
            moved = self._moved(corrected, length, length)
            if moved is not None:
                return moved if length > MIN_STEP else None
            length *= SHORTENING
        return None

    @np.errstate(over="ignore", invalid="ignore")  # of a step that is then refused
    def centred(self) -> Embedded | None:
        """Return a point whose y / tau has its slack inside the dual cone; None if none is near.

        Newton steps to a larger mu, with tau fixed, move u and z by lengths of their own. The
        residual of the dual vanishes with the first full step of z.
        """
        at, mu = self, CENTRING * self.mu
        for _ in range(MAX_CENTRING_STEPS):
            newton = None if current_limit().is_over() else Newton.of(at)
            if newton is None:
                return None
            direction = newton.direction(1.0, mu, None, fixed=True)
            primal, dual = (min(1.0, MIN_FRACTION * t) for t in at._lengths(direction))
            moved = at._moved(direction, primal, dual)
            if moved is None or dual == 1.0:
                return moved
            at = moved
        return None

    def _lengths(self, d: Direction) -> tuple[float, float]:
        """The largest steps of u and of z that stay inside."""
        pairs = zip(self.pairs, d.steps, strict=True)
        lengths = [pair.longest(step) for pair, step in pairs]
        return min((u for u, _ in lengths), default=inf), min((z for _, z in lengths), default=inf)

    def _longest(self, d: Direction) -> float:
        """The largest step that stays inside."""
        least = min(self._lengths(d))
        for value, change in ((self.tau, d.tau), (self.kappa, d.kappa)):
            if change < 0:
                least = min(least, -value / change)
        return least

    def _moved(self, d: Direction, primal: float, dual: float) -> Embedded | None:
        if not all(np.isfinite(part).all() for part in (d.w, d.y, d.tau, d.kappa)):
            return None
        pairs = []
        for pair, step in zip(self.pairs, d.steps, strict=True):
            moved = pair.moved(step, primal, dual)
            if moved is None:
                return None
            pairs.append(moved)
        return replace(
            self,
            pairs=tuple(pairs),
            w=self.w + primal * d.w,
            y=self.y + dual * d.y,
            tau=self.tau + dual * d.tau,
            kappa=self.kappa + dual * d.kappa,
        )


_KINDS: dict[str, Callable[[Cone, Array, Array], ConePoint | None]] = {
    "psd": Psd.of,
    "orthant": Orthant.of,
    "second-order": SecondOrder.of,
}
