"""A step of the accelerated projected gradient, and the state between two steps.

    y = x + beta (x - before),   x+ = the projection of y - grad f(y) / L onto X

Beck and Teboulle (2009), with an L that follows the curvature along the steps, which may be far
below the Lipschitz constant: for completion it is about the density of the known entries.

x and y have a low rank and V = grad f(y) is a Symmetric, so y - V / L is known only by its
products. The leading part of it, which the projection keeps, lies near the subspace of the step
before: the projection is computed there, by the Rayleigh-Ritz procedure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import TYPE_CHECKING

import numpy as np

from condal.linalg.points import Array, LowRank
from condal.linalg.symmetric import Symmetric
from condal.types import Smooth, Spectral

if TYPE_CHECKING:
    from condal.problem import Problem

SPAN_ROUNDING = 1e-12  # of |y|^2
NEW_PART = 1e-6  # of a column, outside a span: less is rounding
DEPENDENT = 1e-8  # of the largest eigenvalue of a Gram matrix of unit columns: smaller is rounding
DECREASE, INCREASE = 0.9, 1.5  # of L: at each step, and where L is below the curvature
FIRST_DECREASE = 0.1  # of L at each step, until L has been below the curvature
MIN_CURVATURE = 1e-10  # of the Lipschitz constant, which the zeros of a likelihood make huge
SPARE, SPARE_SHARE = 4, 0.05  # of the rank of x: Ritz vectors beyond it in the next subspace
ROUNDING = 1e-14  # of a value


@dataclass(frozen=True, eq=False)
class Projected:
    """A point of X, and what the projection onto X says of the next subspace.

    `values` are the Ritz values in descending order, `vectors` their vectors. The weights of the
    point are the first values minus `threshold`. `distance2` is |x - y|^2 in the Frobenius norm.
    """

    x: LowRank
    values: Array
    vectors: Array
    threshold: float
    distance2: float


@dataclass(frozen=True, eq=False)
class RitzSpace:
    """The span of orthonormal columns B, with B'yB and B'VB: projections for any L are cheap.

    `outside2` is the square of the part of y outside the span.
    """

    B: Array
    y_part: Array
    V_part: Array
    outside2: float

    @classmethod
    def of(cls, B: Array, y: LowRank, V: Symmetric) -> RitzSpace:
        """Return the span of orthonormal columns; one product with V."""
        mixed, own = y.U.T @ B, y.U.T @ y.U
        y_part = (mixed.T * y.weights) @ mixed
        square = float(np.vdot(y.weights[:, None] * own, own * y.weights))
        outside2 = square - float(np.vdot(y_part, y_part))
        # Where the difference is rounding, y lies in the span.
        outside2 = outside2 if outside2 > SPAN_ROUNDING * square else 0.0
        return cls(B, y_part, B.T @ (V @ B), outside2)

    def projected(self, L: float, X: Spectral) -> Projected:
        """Return the projection of y - V / L, restricted to the span, onto X."""
        restricted = self.y_part - self.V_part / L
        values, turned = np.linalg.eigh(0.5 * (restricted + restricted.T))
        values, turned = values[::-1], turned[:, ::-1]
        vectors = self.B @ turned
        weights, threshold = clipped(values, X.trace, at_most=X.at_most)
        rank = weights.size
        moved = (turned[:, :rank] * weights) @ turned[:, :rank].T - self.y_part
        distance2 = float(np.vdot(moved, moved)) + self.outside2
        return Projected(LowRank(vectors[:, :rank], weights), values, vectors, threshold, distance2)


def filtered(basis: Array, y: LowRank, V: Symmetric, L: float, shift: float) -> Array:
    """Return (y - V / L + shift) basis: a step of subspace iteration.

    The shift makes the largest eigenvalues the largest in absolute value, too: in the lifted form
    of rectangular matrices every eigenvalue of V has its negative. Return the basis itself where
    the shift cancels all of y - V / L.
    """
    image = V @ basis
    image *= -1.0 / L
    image += y.U @ (y.weights[:, None] * (y.U.T @ basis))
    image += shift * basis
    return image if image.any() else basis


def orthonormal(basis: Array) -> Array:
    """Return orthonormal columns with the span of a basis, up to columns that are rounding."""
    norms = np.sqrt(np.einsum("ij,ij->j", basis, basis))
    unit = basis[:, norms > 0] / norms[norms > 0]
    values, vectors = np.linalg.eigh(unit.T @ unit)
    large = values > DEPENDENT * values[-1]
    B = unit @ (vectors[:, large] / np.sqrt(values[large]))
    # Gram matrices square the condition: a Newton step restores orthogonality to rounding.
    return np.asarray(B @ (1.5 * np.eye(B.shape[1]) - 0.5 * (B.T @ B)))


def extended(U: Array, basis: Array) -> Array:
    """Return orthonormal columns whose span holds that of the orthonormal U, and of a basis."""
    norms = np.sqrt(np.einsum("ij,ij->j", basis, basis))
    rest = basis - U @ (U.T @ basis)
    new = np.sqrt(np.einsum("ij,ij->j", rest, rest)) > NEW_PART * norms
    if not new.any():
        return U
    rest = orthonormal(rest[:, new])
    return np.hstack([U, orthonormal(rest - U @ (U.T @ rest))])


def clipped(values: Array, trace: float, *, at_most: bool) -> tuple[Array, float]:
    """Return the positive max(values - t, 0) with the sum `trace`, and t.

    The values descend. With `at_most`, t is 0 if the positive values sum to less than the trace.
    """
    thresholds = (np.cumsum(values) - trace) / np.arange(1, values.size + 1)
    rank = max(1, int(np.count_nonzero(values > thresholds)))
    threshold = float(thresholds[rank - 1])
    if at_most and threshold < 0:
        return values[values > 0], 0.0
    return np.maximum(values[:rank] - threshold, 0.0), threshold


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
