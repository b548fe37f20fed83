"""Density matrices: purity, and fidelity to a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.errors import ProblemError


@dataclass(frozen=True, eq=False)
class State:
    r"""A density matrix.

    Attributes
    ----------
    rho : ndarray
        The matrix, Hermitian, psd, of trace 1.
    objective : float
        The loss at `rho`.
    """

    rho: Any
    objective: float

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
