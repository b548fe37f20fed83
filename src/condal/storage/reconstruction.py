"""x' of x: how accurate a point is that was made of a sketch."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, inf
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from condal.linalg.norms import stable_norm
from condal.linalg.points import Array, Point
from condal.types import Storage

if TYPE_CHECKING:
    from condal.problem import Problem

RANK = 1e-8  # of the largest eigenvalue: those below it do not count


@dataclass(frozen=True)
class Spectrum:
    """What a sketch of R columns found of x: `rank` eigenvalues that count, of tr x = `trace` all
    but `missing`, which is None where the sketch does not tell."""

    R: int
    rank: int
    trace: float
    missing: float | None


@runtime_checkable
class Sketched(Protocol):
    """A storage that may keep less than x."""

    def reconstructed(self) -> tuple[Point, Spectrum | None]:
        """The point, and what is known of it; None if it is all of x."""


@dataclass(frozen=True)
class Reconstruction:
    """How accurate the x of a result is that was kept as a sketch of `R` columns.

    x here is what the method has reached, before any repair, and x' its best reconstruction.
    `rank` is the number of eigenvalues of x' above 1e-8 of the largest; of several blocks R and
    rank are the largest. `missing_trace` is (tr x - tr x') / tr x, before that is spread over the
    eigenvalues: as x' <= x for a psd x, it is the very error |x - x'| in the Schatten-1 norm, as a
    part of tr x; spreading at most doubles it. None for rectangular x, of which it is not known.
    `image_error` is |(M, A)(x - x'')| / |(M, A)x|, with x'' the point after spreading, in the units
    of the normalised problem, in which objective and constraints are of one size.
    """

    R: int
    rank: int
    missing_trace: float | None
    image_error: float

    def within(self, r: int) -> float:
        """1 + r/(R - r - 1): |x - x'| in the Schatten-1 norm is expected to be at most so many
        times that of the best approximation of rank r (Tropp, Yurtsever, Udell and Cevher 2017).
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
    """Of several blocks, those that are sketched; None if none is."""
    if not parts:
        return None
    missing = [part.missing for part in parts]
    known = [one for one in missing if one is not None]
    return Spectrum(
        max(part.R for part in parts),
        max(part.rank for part in parts),
        sum(part.trace for part in parts),
        sum(known) if len(known) == len(missing) else None,
    )


def reconstructed(x: Storage) -> tuple[Point, Spectrum | None]:
    """The point of a storage, and what is known of it if it is that of a sketch."""
    if isinstance(x, Sketched):
        return x.reconstructed()
    return x.point(), None


def reconstruction(x: Storage, problem: Problem, Mx: Array, Ax: Array) -> Reconstruction | None:
    """How accurate the point of a storage is, with the images of the x that it keeps; None if that
    is whole."""
    if not isinstance(x, Sketched):
        return None
    point, found = x.reconstructed()
    if found is None:
        return None
    sizes = stable_norm(Mx), stable_norm(Ax)
    off = stable_norm(problem.f.M(point) - Mx), stable_norm(problem.A(point) - Ax)
    missing = None if found.missing is None else found.missing / (found.trace or 1.0)
    return Reconstruction(found.R, found.rank, missing, hypot(*off) / (hypot(*sizes) or 1.0))
