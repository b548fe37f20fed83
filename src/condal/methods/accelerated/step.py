"""A step of the accelerated projected gradient, and the state between two steps.

    y = x + beta (x - before),   x+ = the projection of y - grad f(y) / L onto X

Beck and Teboulle (2009), with an L that follows the curvature along the steps, which may be far
below the Lipschitz constant: for completion it is about the density of the known entries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import TYPE_CHECKING

import numpy as np

from condal.linalg.points import Array, LowRank
from condal.linalg.symmetric import Symmetric
from condal.methods.accelerated.ritz import Projected, RitzSpace, extended, filtered, orthonormal
from condal.types import Smooth, Spectral

if TYPE_CHECKING:
    from condal.problem import Problem

DECREASE, INCREASE = 0.9, 1.5  # of L: at each step, and where L is below the curvature
FIRST_DECREASE = 0.1  # of L at each step, until L has been below the curvature
MIN_CURVATURE = 1e-10  # of the Lipschitz constant, which the zeros of a likelihood make huge
SPARE, SPARE_SHARE = 4, 0.05  # of the rank of x: Ritz vectors beyond it in the next subspace
ROUNDING = 1e-14  # of a value


@dataclass(frozen=True, eq=False)
class AcceleratedState:
    """x and the point before it with its image, and what the next step needs.

    `basis` spans the subspace of the next step and `t` is Nesterov's parameter. `L` is the last
    curvature; `bounded` says that a smaller one was refused. `threshold` is what the last
    projection took off the eigenvalues, times L. `plain` asks for a step without momentum in a
    subspace that holds x, which leads uphill only by rounding; `stuck` counts those in turn that
    did. `columns` is the number of columns that were multiplied since the last bound, and `gap` the
    last gap.
    """

    x: LowRank
    before: LowRank
    before_image: Array
    basis: Array
    L: float
    t: float = 1.0
    threshold: float = 0.0
    bounded: bool = False
    plain: bool = True
    stuck: int = 0
    columns: int = 0
    gap: float = inf

    def restarted(self, Mx: Array) -> AcceleratedState:
        """Return the state without momentum; stuck if the last step had none."""
        stuck = self.stuck + 1 if self.plain else 0
        return replace(self, before=self.x, before_image=Mx, t=1.0, plain=True, stuck=stuck)

    def with_directions(self, vectors: Array) -> AcceleratedState:
        """Return the state with more vectors in the subspace of the next step."""
        return replace(self, basis=np.hstack([self.basis, vectors]))


@dataclass(frozen=True, eq=False)
class Extrapolated:
    """y, its image, and f there."""

    y: LowRank
    My: Array
    g: Array
    value: float

    @classmethod
    def of(cls, f: Smooth, carry: AcceleratedState, Mx: Array, beta: float) -> Extrapolated:
        """Return y = x + beta (x - before)."""
        x, before = carry.x, carry.before
        y, My = x, Mx
        if beta > 0:
            weights = np.concatenate([(1 + beta) * x.weights, -beta * before.weights])
            y = LowRank(np.hstack([x.U, before.U]), weights)
            My = Mx + beta * (Mx - carry.before_image)
        return cls(y, My, f.gradient(My), f.value(My))


def step(problem: Problem, carry: AcceleratedState, Mx: Array) -> tuple[AcceleratedState, Array]:
    """Return the state after a step, and the image of its x; x is unchanged if f would rise."""
    f, X = problem.f, problem.X
    assert isinstance(X, Spectral)
    L = (DECREASE if carry.bounded else FIRST_DECREASE) * carry.L
    L = tried = max(L, MIN_CURVATURE * (f.L or 1.0))
    t = 0.5 + sqrt(0.25 + L / carry.L * carry.t**2)
    beta = max(carry.t - 1.0, 0.0) / t
    ahead = Extrapolated.of(f, carry, Mx, beta)
    V = f.M.adjoint(ahead.g)
    assert isinstance(V, Symmetric)
    if carry.plain:
        B = extended(carry.x.U, carry.basis)
    else:
        B = orthonormal(filtered(carry.basis, ahead.y, V, L, carry.threshold / L))
    space = RitzSpace.of(B, ahead.y, V)
    new, image, L = _descent(f, X, ahead, space, L)
    value = f.value(image)
    outside = carry.x.rank == 0 and not X.at_most  # x = 0 is not in X
    before = inf if outside else f.value(Mx)
    if not np.isfinite(value):
        raise FloatingPointError("a product or an image was not finite")
    columns = carry.columns + carry.basis.shape[1] + B.shape[1]
    carry = replace(carry, columns=columns, L=L, bounded=carry.bounded or tried < L)
    if value > before + ROUNDING * abs(value):
        return carry.restarted(Mx), Mx
    kept = new.vectors[:, : new.x.rank + SPARE + int(SPARE_SHARE * new.x.rank)]
    threshold = L * max(new.threshold, -float(new.values[-1]), 0.0)
    after = replace(carry, x=new.x, before=carry.x, before_image=Mx, basis=kept, t=t)
    return replace(after, threshold=threshold, plain=False, stuck=0), image


def _descent(
    f: Smooth, X: Spectral, ahead: Extrapolated, space: RitzSpace, L: float
) -> tuple[Projected, Array, float]:
    """Project with the first L from this one that is at least the curvature along the step."""
    while True:
        new = space.projected(L, X)
        image = f.M(new.x) if new.x.rank else np.zeros(f.M.size)
        change = f.value(image) - ahead.value - float(ahead.g @ (image - ahead.My))
        rounding = ROUNDING * abs(ahead.value)
        if L >= f.L or change <= 0.5 * L * new.distance2 + rounding:
            return new, image, L
        L = min(INCREASE * L, f.L)
