"""Convex quadratics."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.eigenvalue_bounds import semidefinite
from condal.linalg.guarded_operators import guard_operators
from condal.linalg.lanczos import Recurrence, missed_share
from condal.linalg.lifting import symmetric
from condal.linalg.points import Array
from condal.linalg.rounding import UNIT_ROUNDOFF, Errors, Proof, gamma, stable_norm
from condal.maps.combined import Scaled, Stack
from condal.maps.user import as_map
from condal.maps.vectors import Identity
from condal.runtime.arguments import finite_array, refuse_complex, require_positive
from condal.smooth.objectives import checked_cost, inner_with
from condal.types import LinearMap

MAX_DENSE_SIDE = 400  # up to which all eigenvalues of Q are computed
LANCZOS_STEPS = 60  # for a larger Q
NORM_FAILURE = 1e-6  # probability that the bound on |Q| is too small


@dataclass(frozen=True, eq=False)
class Quadratic:
    r"""The quadratic :math:`f(x) = w (\tfrac12 x^\top Q x + c^\top x)` of a vector x, Q psd.

    A Q with negative curvature is refused; one that is psd up to rounding is accepted, and bounds
    pay for what it may lack. Up to n = 400 all eigenvalues are computed. For a larger Q, Lanczos
    searches for a negative one in 60 products, and a factorisation proves that there is none if
    it is affordable. For a LinearOperator or a large dense Q it is not: bounds then hold if Q is
    psd, and say so. `FactoredQuadratic` is psd by its form.

    Parameters
    ----------
    Q : array_like, sparse array or LinearOperator
        The symmetric matrix.
    c : array_like of shape (n,), optional
        The linear term; 0 if left out.
    weight : float
        The weight :math:`w`.

    Raises
    ------
    ProblemError
        If Q has a negative eigenvalue.
    """

    Q: Any
    c: Any = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        if hasattr(self.Q, "dtype"):
            refuse_complex(self.Q.dtype, "Q")
        Q = symmetric(self.Q, "Q")
        c = np.zeros(Q.n) if self.c is None else finite_array(self.c, "c", ndim=1).copy()
        if c.size != Q.n:
            raise ProblemError(f"Quadratic: Q is {Q.n} x {Q.n}, but c has length {c.size}")
        require_positive(self.weight, "weight")
        object.__setattr__(self, "Q", Q)
        object.__setattr__(self, "c", c)
        smallest, size = self._ends
        if smallest < -8 * Q.n * UNIT_ROUNDOFF * size:
            raise ProblemError(
                f"Q must be psd for f to be convex; it has an eigenvalue of {smallest:.3g} or less"
            )
        if self._psd is not None and self._psd.value == -inf:
            raise ProblemError(f"Q must be psd for f to be convex; {self._psd.how}")

    @cached_property
    def _psd(self) -> Proof | None:
        """A proof that Q is psd, or nearly so; None if none is affordable."""
        if self.Q.operators and self.Q.n > MAX_DENSE_SIDE:
            return None
        return semidefinite(self.Q)

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """An upper bound on the smallest eigenvalue of Q, and a bound on |Q|."""
        n, Q = self.Q.n, guard_operators(self.Q, "Q", "the operator Q")
        if n <= MAX_DENSE_SIDE:
            values = np.linalg.eigvalsh(Q @ np.eye(n))
            return float(values[0]), float(max(-values[0], values[-1]))
        start = np.random.default_rng(0).standard_normal(n)
        start /= np.linalg.norm(start)
        size = float(np.abs(Q @ start).max())
        unit = 1.0 if size == 0 or 1e-100 < size < 1e100 else size  # so that squares are finite
        run = Recurrence(Q.scaled(1 / unit), start, keep=2)
        run.grow_to(LANCZOS_STEPS)
        least, most = (unit * end for end in run.ends())
        missed = 0.0 if run.ended else missed_share(n, run.steps, NORM_FAILURE)
        return least, max(-least, most) + missed * (most - min(least, 0.0)) / (1 - missed)

    @cached_property
    def M(self) -> Identity:
        return Identity(self.Q.n)

    @property
    def L(self) -> float:
        return self.weight * self._ends[1]

    def value(self, u: Array) -> float:
        return self.weight * float(u @ (0.5 * (self.Q @ u) + self.c))

    def gradient(self, u: Array) -> Array:
        return np.asarray(self.weight * (self.Q @ u + self.c))

    def errors(self, u: Array) -> Errors:
        """Fractions of |Q||u| and |c|, before Qu and c cancel; a psd Q lacks no curvature.

        The product of an operator is assumed to be as accurate as that of any matrix of its norm.
        """
        sizes = self.Q.absolute_product(np.abs(u))
        if sizes is None:
            sizes = np.full(u.size, self._ends[1] * stable_norm(u))
        part = self.weight * gamma(int(np.max(self.Q.product_roundings())) + u.size + 8)
        value = part * float(np.abs(u) @ (0.5 * sizes + np.abs(self.c)))
        steepest = part * stable_norm(sizes + np.abs(self.c))
        lacking = 0.0 if self._psd is None else self.weight * max(0.0, -float(self._psd.value))
        return Errors(value, steepest, lacking, self._trusting)

    @property
    def _trusting(self) -> str:
        if self._psd is not None:
            return "the products of the operator Q" if self.Q.operators else ""
        return "that Q is psd" + (" and the products of its operator" if self.Q.operators else "")

    def variation(self, max_norm: float) -> float:
        return (
            self.weight
            * (float(np.linalg.norm(self.c)) + 0.5 * self._ends[1] * max_norm)
            * max_norm
        )

    def scaled(self, c: float) -> Quadratic:
        twin = copy(self)  # which keeps the bounds on Q
        object.__setattr__(twin, "weight", self.weight * c)
        return twin


@dataclass(frozen=True, eq=False)
class FactoredQuadratic:
    r"""A quadratic given by factors, :math:`Q = F^\top F + \operatorname{Diag}(d)`, never formed.

    .. math:: f(x) = w (\tfrac12 \|Fx\|^2 + \tfrac12 \sum_i d_i x_i^2 + \langle c, x \rangle)

    Parameters
    ----------
    F : array_like, sparse array, LinearOperator or linear map
        The factors; k factors of n assets are a k x n matrix.
    d : array_like of shape (n,), optional
        Nonnegative numbers, for x a vector; 0 if left out.
    c : array_like, optional
        The linear term, like the C of `Linear`; 0 if left out.
    weight : float
        The weight :math:`w`.
    """

    F: Any
    d: Any = None
    c: Any = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        F = as_map(self.F, "F")
        require_positive(self.weight, "weight")
        object.__setattr__(self, "F", F)
        if self.d is not None:
            d = finite_array(self.d, "d", ndim=1).copy()
            gradient = F.adjoint(np.zeros(F.size))
            n = gradient.size if isinstance(gradient, np.ndarray) else None
            if n != d.size:
                acts = "matrices" if n is None else f"vectors of length {n}"
                raise ProblemError(
                    f"FactoredQuadratic: F acts on {acts}, but d has length {d.size}"
                )
            if np.any(d < 0):
                i = int(np.argmax(d < 0))
                raise ProblemError(
                    f"d must not be negative for f to be convex; got {d[i]:g} at index {i}"
                )
            object.__setattr__(self, "d", d)
        if self.c is not None:
            object.__setattr__(self, "c", checked_cost(self.c))

    @cached_property
    def M(self) -> LinearMap:
        """x -> (Fx, sqrt(d) x, <c, x>)."""
        parts = [self.F]
        if self.d is not None:
            parts.append(Scaled(Identity(self.d.size), np.sqrt(self.d)))
        if self.c is not None:
            parts.append(inner_with(self.c))
        return Stack(*parts)

    @cached_property
    def _norm2(self) -> float:
        """|F|^2 + max d, an upper bound on |Q|."""
        largest = 0.0 if self.d is None else float(self.d.max(initial=0.0))
        return float(self.F.norm * self.F.norm) + largest

    @property
    def L(self) -> float:
        return self.weight * self._norm2

    def _parts(self, u: Array) -> tuple[Array, float]:
        """Return the entries of u that are squared, and <c, x>."""
        return (u, 0.0) if self.c is None else (u[:-1], float(u[-1]))

    def value(self, u: Array) -> float:
        r, last = self._parts(u)
        return self.weight * (0.5 * float(r @ r) + last)

    def gradient(self, u: Array) -> Array:
        slope = self.weight * u
        if self.c is not None:
            slope[-1] = self.weight
        return np.asarray(slope)

    def errors(self, u: Array) -> Errors:
        """Fractions of the terms; the squares of the rounded roots of d are not d."""
        r, last = self._parts(u)
        value = self.weight * (0.5 * float(r @ r) + abs(last))
        largest = 0.0 if self.d is None else float(self.d.max(initial=0.0))
        return Errors(
            gamma(u.size + 8) * value,
            gamma(4) * self.weight * stable_norm(r),
            departure=gamma(4) * self.weight * largest,
        )

    def variation(self, max_norm: float) -> float:
        steepest = 0.0 if self.c is None else inner_with(self.c).norm
        return self.weight * (steepest + 0.5 * self._norm2 * max_norm) * max_norm

    def scaled(self, c: float) -> FactoredQuadratic:
        return replace(self, weight=self.weight * c)
