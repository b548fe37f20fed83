"""Quantum state tomography: a density matrix from the counts of measurements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, sqrt
from typing import Any, Literal, get_args

import numpy as np

from condal.domains.lifted import Hermitian
from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.maps.pauli import PauliProbabilities
from condal.nonsmooth.norms import GroupL1
from condal.problem import Problem
from condal.problems.answers import Answer, Figures, Picture, Rows, complex_lines
from condal.problems.measured_counts import coherences, measured, nearest_image, target_state
from condal.problems.models import Model, factor_of, point_of
from condal.result import Result
from condal.runtime.arguments import require_choice, require_positive
from condal.smooth.losses import LeastSquares, Poisson
from condal.types import LinearMap

MEASURED = 1e-9  # a smaller square of a coefficient of a target is rounding
ROUNDING = 1e-12  # of a fidelity

Loss = Literal["squares", "likelihood"]


@dataclass(frozen=True, eq=False)
class State(Answer):
    r"""A density matrix.

    Attributes
    ----------
    rho : ndarray
        The matrix, Hermitian, psd, of trace 1.
    objective : float
        The loss at `rho`.
    bound : float, optional
        A proved lower bound on the loss of every state.
    """

    rho: Any
    objective: float
    model: Any = None
    bound: float = -np.inf

    def picture(self) -> Picture:
        from condal.report import pictures

        panels = [("real part of rho", self.rho.real), ("imaginary part of rho", self.rho.imag)]
        return pictures.images(panels, "The density matrix.")

    def rows(self) -> Rows:
        d, values = len(self.rho), np.linalg.eigvalsh(self.rho)[::-1]
        leading = ", ".join(f"{value:.3f}" for value in values[:4])
        return [
            ("state", f"{d:,} x {d:,} density matrix"),
            ("purity", f"{self.purity:.4f}"),
            ("eigenvalues", leading + (", ..." if values.size > 4 else "")),
        ]

    none_text = "no state has a smaller loss"

    def figures(self) -> Figures:
        return {"purity": self.purity}

    def lines(self) -> Iterable[str]:
        return complex_lines(self.rho)

    @property
    def purity(self) -> float:
        r""":math:`\operatorname{tr} \rho^2`: 1 for a pure state, 1 / d for the mixed one."""
        return float(np.vdot(self.rho, self.rho).real)

    def fidelity(self, target: Any) -> float:
        r"""Return :math:`(\operatorname{tr} |\sqrt\rho \sqrt\sigma|)^2` for a target state.

        Parameters
        ----------
        target : array_like
            A vector, of any length, of a pure state, or a density matrix :math:`\sigma`.

        Returns
        -------
        float
            The fidelity, from 0 to 1; :math:`\langle t | \rho | t \rangle` for a pure state.
        """
        t = target_state(target, len(self.rho))
        if t.ndim == 1:
            return float(np.vdot(t, self.rho @ t).real)
        between = factor_of(self.rho).conj().T @ factor_of(t)
        return float(np.linalg.svd(between, compute_uv=False).sum() ** 2)

    def __repr__(self) -> str:
        return f"State(dimension={len(self.rho)}, purity={self.purity:.4g})"


@dataclass(frozen=True, eq=False, repr=False)
class StateTomography(Model):
    r"""The fit of a density matrix to counts [1]_.

    With :math:`p = \mathcal{A} x` the probabilities of the outcomes, :math:`N` the shots of their
    setting and :math:`k` the counts, it minimises over :math:`x \succeq 0`,
    :math:`\operatorname{tr} x = 1` either

    .. math::

        \frac{\|p - \hat p\|^2}{2 \sigma^2}
        \qquad \text{or} \qquad
        \sum_i \lambda_i - k_i + k_i \log(k_i / \lambda_i), \quad \lambda = N (p + \delta / d).

    The squares are half a chi-square: :math:`\hat p` is the image of some matrix, not necessarily
    psd, that is nearest to the frequencies :math:`k / N`, and :math:`\sigma^2` is the mean
    variance of a frequency. The likelihood is half the deviance. So a state that explains the
    counts has an objective of about half the number of degrees of freedom, an excess of 1/2 is a
    standard deviation, and a tol relative to the objective is one relative to the shot noise. The
    background :math:`\delta` is the share of counts that come from no state, spread evenly; it
    keeps the likelihood finite where an outcome with counts has no probability. `state_tomography`
    builds the model.

    Parameters
    ----------
    A : LinearMap
        The map of the probabilities.
    counts : ndarray
        The counts of the outcomes.
    shots : ndarray
        The number of shots of the setting of each outcome.
    outcomes : int
        The number of outcomes of a setting.
    dimension : int
        The side d of x.
    loss : {"squares", "likelihood"}
        The loss.
    background : float
        :math:`\delta`, for the likelihood.
    l1, trace_penalty : float
        Weights of the priors, as for `state_tomography`.

    References
    ----------
    .. [1] M. Guta, J. Kahn, R. Kueng and J. A. Tropp, "Fast state tomography with optimal error
       bounds", *Journal of Physics A* 53, 2020.
    """

    A: LinearMap = field(repr=False)
    counts: Array = field(repr=False)
    shots: Array = field(repr=False)
    outcomes: int
    dimension: int
    loss: Loss = "squares"
    background: float = 1e-3
    name: str = "state tomography"
    l1: float = 0.0
    trace_penalty: float = 0.0

    @cached_property
    def problem(self) -> Problem:
        """The fit over the density matrices."""
        d = self.dimension
        if self.loss == "squares":
            f: Any = LeastSquares(*self._attainable(), weight=1.0 / self.variance)
        else:
            f = Poisson(self.A.scaled(self.shots), self.counts, self.background / d * self.shots)
        prior: dict[str, Any] = {}
        if self.l1 and d > 1:
            prior = {"B": coherences(d), "g": GroupL1(np.arange(d * (d - 1)) // 2, self.l1)}
        X = Hermitian(d, at_most=self.trace_penalty > 0)
        return Problem.of(f=f, X=X, name=self.name, **prior)

    @property
    def least_squares(self) -> StateTomography:
        """The model with the loss "squares", whose solution is a good start for the likelihood."""
        return replace(self, loss="squares")

    @property
    def variance(self) -> float:
        """The mean variance of the frequency of an outcome, from the counts.

        Half a count is added to each outcome, and to one that never occurs: none has no variance.
        """
        share = (self.counts + 0.5) / (self.shots + 0.5 * (self.outcomes + 1))
        return float(np.mean(share * (1.0 - share) / self.shots))

    def _attainable(self) -> tuple[LinearMap, Array]:
        """Return a map and the point of its range from which |p - k/N| is measured.

        What no matrix attains adds a constant to the squares, beside which the rest would be small.
        """
        frequencies = self.counts / self.shots
        if self.trace_penalty:  # the outcomes add up to the trace, so this completes the square
            settings = self.counts.size / self.outcomes
            frequencies = frequencies - self.trace_penalty * self.variance / settings
        if isinstance(self.A, PauliProbabilities):
            return self.A.compressed, self.A.compress(frequencies)
        return self.A, nearest_image(self.A, frequencies)

    def state(self, result: Result) -> State:
        """Return the density matrix of a result, scaled to trace 1."""
        R = factor_of(point_of(result, self.dimension, self.dimension))
        rho = R @ R.conj().T
        trace = float(np.trace(rho).real)
        if not trace > 0:
            raise ProblemError("the best matrix is 0: make trace_penalty smaller")
        return State(rho / trace, float(result.objective), self, float(result.bound))

    def fidelity_bounds(self, result: Result, target: Any) -> tuple[float, float]:
        r"""Return proved bounds on the fidelity of the minimiser to a pure state.

        They say what a smaller `tol` could change, not what other counts could. The objective of
        the result exceeds the optimum by at least the square of the distance between the
        probabilities of x and of a minimiser, over :math:`2 \sigma^2`. So they are for the loss
        "squares" without `trace_penalty` and Pauli bases that determine the fidelity, and otherwise
        0 and 1. An excess of 1/2 moves the fidelity by the standard deviation of its estimate from
        the means of the products of Pauli matrices.

        Parameters
        ----------
        result : Result
            A result of `condal.solve` for this model.
        target : array_like
            A vector of the pure state.

        Returns
        -------
        low, high : float
            The bounds.
        """
        t = target_state(target, self.dimension)
        if t.ndim != 1:
            raise ProblemError("fidelity_bounds takes a pure state: a vector, not a matrix")
        gap = float(result.objective - result.bound)
        plain = self.loss == "squares" and not self.trace_penalty
        if not isinstance(self.A, PauliProbabilities) or not (plain and gap < inf):
            return 0.0, 1.0
        squares, bases = self.A.coefficients(np.outer(t, t.conj())) ** 2, self.A.measured
        if (squares[bases == 0] > MEASURED).any():
            return 0.0, 1.0
        seen = bases > 0
        length = sqrt(float((squares[seen] / bases[seen]).sum()) / self.dimension)
        reach = length * sqrt(2.0 * max(gap, 0.0) * self.variance) + ROUNDING
        fidelity = self.state(result).fidelity(t)
        return max(0.0, fidelity - reach), min(1.0, fidelity + reach)


@np.errstate(under="ignore")  # whatever numpy.seterr says: an underflow is a rounding
def state_tomography(
    counts: Any,
    measurements: Any = None,
    *,
    loss: Loss = "squares",
    background: float = 1e-3,
    name: str = "state tomography",
    l1: float = 0.0,
    trace_penalty: float = 0.0,
) -> StateTomography:
    r"""Return the model of a quantum state from the counts of its measurements.

    Parameters
    ----------
    counts : array_like or mapping
        With Pauli bases: the counts of the :math:`2^q` outcomes, a row per basis; or, without
        `measurements`, a mapping such as ``{"XZ": {"00": 510, "11": 490}}`` from each basis to the
        counts of its outcomes, the first qubit first. With effects: a number for each.
    measurements : sequence of str, or array_like of shape (p, d, d) or (s, p, d, d), optional
        Pauli bases, one letter X, Y or Z per qubit, or the effects of one POVM or of s of them:
        Hermitian psd matrices whose sum is the identity.
    loss : {"squares", "likelihood"}
        What is minimised. The squares are faster; the likelihood weighs rare outcomes rightly.
    background : float
        The share of counts that come from no state, for the likelihood.
    l1 : float
        The weight of a prior for few coherences: the objective gets l1 times the sum of the moduli
        of the entries of x off its diagonal.
    trace_penalty : float
        The weight of a prior for a low rank, for the squares: the objective gets trace_penalty
        times tr x, up to a constant, with tr x at most 1 instead of equal to it [1]_. `state`
        scales x to trace 1.

    Raises
    ------
    ProblemError
        If a count is negative, counts and measurements do not fit, a basis is no word of X, Y and
        Z, effects are no POVM, or a prior does not fit the loss.

    References
    ----------
    .. [1] S. T. Flammia, D. Gross, Y.-K. Liu and J. Eisert, "Quantum tomography via compressed
       sensing: error bounds, sample complexity and efficient estimators", *New Journal of Physics*
       14, 2012.

    Examples
    --------
    >>> import condal
    >>> counts = {"X": {"0": 51, "1": 49}, "Y": {"0": 48, "1": 52}, "Z": {"0": 97, "1": 3}}
    >>> model = condal.problems.state_tomography(counts)
    >>> state = model.state(condal.solve(model, tol=1e-6))
    >>> print(f"{state.fidelity([1, 0]):.2f}")
    0.97
    """
    require_choice(loss, "loss", get_args(Loss))
    require_positive(background, "background")
    for weight, prior in ((l1, "l1"), (trace_penalty, "trace_penalty")):
        if weight != 0:
            require_positive(weight, prior)
    if trace_penalty and loss != "squares":
        raise ProblemError("trace_penalty is for the loss 'squares': leave one of them out")
    A, table, dimension = measured(counts, measurements)
    shots, p = table.sum(axis=1), table.shape[1]
    each, priors = np.repeat(shots, p), (float(l1), float(trace_penalty))
    given = (loss, float(background), name, *priors)
    return StateTomography(A, table.ravel(), each, p, dimension, *given)
