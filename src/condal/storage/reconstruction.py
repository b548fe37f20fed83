"""The accuracy of a point that was reconstructed from a sketch."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, inf
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from condal.linalg.points import Array, Point
from condal.linalg.rounding import stable_norm
from condal.types import Storage

if TYPE_CHECKING:
    from condal.problem import Problem

RANK_THRESHOLD = 1e-8  # of the largest eigenvalue: smaller ones do not count


@dataclass(frozen=True)
class Spectrum:
    """The spectrum that a sketch of R columns recovers from x.

    `rank` is the number of significant eigenvalues, `trace` is tr x, and `missing` the part of the
    trace that was not recovered, None where it is unknown.
    """

    R: int
    rank: int
    trace: float
    missing: float | None


@runtime_checkable
class Sketched(Protocol):
    """A storage that may hold less than x."""

    def reconstructed(self) -> tuple[Point, Spectrum | None]:
        """Return the point, and its spectrum; None if the point is exactly x."""


@dataclass(frozen=True)
class Reconstruction:
    r"""The accuracy of the x of a result that was stored as a sketch of R columns.

    x is the point that the method reached, before any repair, x' its best reconstruction, and x''
    the point after the missing trace is spread over the eigenvalues of x'.

    Parameters
    ----------
    R : int
        The columns of the sketch; the largest of several blocks.
    rank : int
        The number of eigenvalues of x' above 1e-8 of the largest; the largest of several blocks.
    missing_trace : float or None
        :math:`(\operatorname{tr} x - \operatorname{tr} x') / \operatorname{tr} x`. Since
        :math:`x' \preceq x` for a psd x, this is the error :math:`|x - x'|` in the Schatten-1 norm
        relative to tr x; spreading at most doubles it. None for rectangular x, where it is unknown.
    image_error : float
        :math:`|(M, A)(x - x'')| / |(M, A) x|` in the units of the normalised problem, where
        objective and constraints have the same size.
    """

    R: int
    rank: int
    missing_trace: float | None
    image_error: float

    def within(self, r: int) -> float:
        r"""Return :math:`1 + r/(R - r - 1)`, the expected factor above the best rank-r error.

        The error :math:`|x - x'|` in the Schatten-1 norm is expected to be at most this factor
        times that of the best approximation of rank r (Tropp, Yurtsever, Udell and Cevher 2017).

        Parameters
        ----------
        r : int
            The rank to compare with.

        Returns
        -------
        float
            The factor; inf for r >= R - 1.
        """
        return 1.0 + r / (self.R - r - 1) if 0 <= r < self.R - 1 else inf

    def __str__(self) -> str:
        missing = (
            "" if self.missing_trace is None else f"{self.missing_trace:.2g} of the trace missing, "
        )
        return (
            f"rank {self.rank} of a sketch of R = {self.R}: {missing}images within "
            f"{self.image_error:.2g}"
        )


def together(parts: list[Spectrum]) -> Spectrum | None:
    """Combine the spectra of the sketched blocks; None without any."""
    if not parts:
        return None
    missing = [part.missing for part in parts]
    known = [trace for trace in missing if trace is not None]
    return Spectrum(
        max(part.R for part in parts),
        max(part.rank for part in parts),
        sum(part.trace for part in parts),
        sum(known) if len(known) == len(missing) else None,
    )


def reconstructed(x: Storage) -> tuple[Point, Spectrum | None]:
    """Return the point of a storage, and its spectrum if the storage is a sketch."""
    if isinstance(x, Sketched):
        return x.reconstructed()
    return x.point(), None


def reconstruction(x: Storage, problem: Problem, Mx: Array, Ax: Array) -> Reconstruction | None:
    """Return the accuracy of the point of a storage, given the images of x; None if exact."""
    if not isinstance(x, Sketched):
        return None
    point, spectrum = x.reconstructed()
    if spectrum is None:
        return None
    sizes = stable_norm(Mx), stable_norm(Ax)
    errors = stable_norm(problem.f.M(point) - Mx), stable_norm(problem.A(point) - Ax)
    missing = None if spectrum.missing is None else spectrum.missing / (spectrum.trace or 1.0)
    return Reconstruction(
        spectrum.R, spectrum.rank, missing, hypot(*errors) / (hypot(*sizes) or 1.0)
    )
