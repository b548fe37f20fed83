"""Density matrices: purity, and fidelity to a target."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.problems.answers import Answer, Figures, Rows
from condal.runtime.numbers import number


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

    def picture(self) -> Any:
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

    def proved(self) -> Rows:
        return [("bound", f"{number(self.bound, down=True)}, no state has a smaller loss")]

    def figures(self) -> Figures:
        return {"purity": self.purity}

    def lines(self) -> Iterable[str]:
        return (f"{value.real:.17g},{value.imag:.17g}" for value in self.rho.ravel())

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
        return float(np.linalg.svd(_root(self.rho) @ _root(t), compute_uv=False).sum() ** 2)

    def __repr__(self) -> str:
        return f"State(dimension={len(self.rho)}, purity={self.purity:.4g})"


def target_state(target: Any, d: int) -> Any:
    """Return a unit vector, or a density matrix, of dimension d."""
    t = np.asarray(target)
    if t.shape not in ((d,), (d, d)) or t.dtype.kind not in "biufc" or not np.isfinite(t).all():
        raise ProblemError(
            f"a target state is a vector of {d} finite numbers or a {d} x {d} density matrix; got "
            f"shape {t.shape}"
        )
    size = float(np.linalg.norm(t)) if t.ndim == 1 else float(np.trace(t).real)
    if not size > 0:
        raise ProblemError("a target state must not be 0")
    return t.astype(np.complex128) / size


def _root(rho: Any) -> Any:
    values, vectors = np.linalg.eigh(rho)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.conj().T
