"""Phase retrieval by coded diffraction, with the masks distributed over ranks."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from condal.errors import FormatError, ProblemError
from condal.io.formats.arrays import names_of_arrays, read_array_part, stored_arrays
from condal.io.formats.signatures import digest_of
from condal.io.safe_files import PathLike
from condal.maps.diffraction import CodedDiffraction
from condal.maps.quadratics import Quadratics
from condal.problem import Problem
from condal.problems.phases import (
    PhaseRetrieval,
    flat_intensities,
    pixel_scale,
    require_intensities,
    trace_bound,
)
from condal.runtime.arguments import require_positive
from condal_mpi.checkpoint.shard_digest import mask_words
from condal_mpi.diffraction import (
    DistributedDiffraction,
    DistributedLeastSquares,
    ReplicatedHermitian,
)
from condal_mpi.sharded_array import ShardedArray
from condal_mpi.team import Team


@dataclass(frozen=True, eq=False, repr=False)
class DistributedPhaseRetrieval(PhaseRetrieval):
    """The relaxation of phase retrieval on ranks: each has its masks and their intensities.

    The problem is that of `condal.problems.PhaseRetrieval`. Every rank has all of x and of the
    signal. `signal` and `residual` sum over the masks of all ranks, so all ranks call them.
    """

    A: Any = field(repr=False)
    b: Any = field(repr=False)

    @property
    def team(self) -> Team:
        """The ranks."""
        team: Team = self.A.team
        return team

    @cached_property
    def problem(self) -> Problem:
        """The least-squares problem; its images are the intensities, distributed by masks."""
        return Problem.of(
            f=DistributedLeastSquares(self.A, self.b, weight=1.0 / float(self.b @ self.b)),
            X=ReplicatedHermitian(self.n, self.trace, self.team),
            name=self.name,
            rank=1,
        )


@np.errstate(under="ignore")  # whatever numpy.seterr says: an underflow is a rounding
def phase_retrieval(
    intensities: Any,
    masks: Any,
    team: Team | None = None,
    *,
    trace: float | None = None,
    name: str = "phase retrieval",
) -> DistributedPhaseRetrieval:
    r"""Build the model of an image from the intensities of the masks that this rank has.

    Parameters
    ----------
    intensities : array_like, (l, h, w)
        The intensities of the unitary 2-D Fourier transforms of masks * image.
    masks : array_like, (l, h, w)
        Some of the masks, at least one per rank: for example those from begin to end - 1 of L
        masks, where ``begin, end = Team().range(L)``.
    team : Team, optional
        The ranks; by default all.
    trace : float, optional
        A bound on :math:`\|u\|^2`, as in `condal.problems.phase_retrieval`.
    name : str, optional
        The name in results and reports.

    Returns
    -------
    DistributedPhaseRetrieval
        The model, for `condal_mpi.solve`.

    Raises
    ------
    ProblemError
        On all ranks, if the data of one of them are wrong or the ranks' images differ in shape.
    """
    team = Team() if team is None else team
    with team.together():
        masked = CodedDiffraction(masks)
        numbers = flat_intensities(intensities, masked.shape[0], np.shape(masks))
        if trace is not None:
            require_positive(trace, "trace")
    b: Any = ShardedArray(numbers, team)
    shape: tuple[int, int] = masked.masks.shape[1:]
    team.require_same((shape, trace), "the shape of the image and its trace")
    require_intensities(b)
    words = mask_words(masked.masks, trace, team)
    frame, scale = team.sums(masked.frame), None
    if trace is None:
        scale = pixel_scale(frame)
        if scale is not None:
            masked = CodedDiffraction(masked.masks / scale.reshape(shape))
            frame = team.sums(masked.frame)
        trace = trace_bound(float(b.sum()), float(frame.min()), sqrt(0.5) * float(frame.mean()))
    A = DistributedDiffraction(Quadratics(masked), frame, team, words)
    return DistributedPhaseRetrieval(A, b, float(trace), name, shape, scale)


def read_phase_retrieval(
    file: PathLike,
    team: Team | None = None,
    *,
    trace: float | None = None,
    name: str = "phase retrieval",
) -> DistributedPhaseRetrieval:
    """Read this rank's masks and intensities from a .npz file and build the model.

    Parameters
    ----------
    file : str or os.PathLike
        A file that numpy.savez wrote, with masks of shape (L, h, w) and intensities b. All ranks
        read through it, and each stores its share of the L masks.
    team : Team, optional
        The ranks; by default all.
    trace, name : float, str, optional
        As in `phase_retrieval`.

    Returns
    -------
    DistributedPhaseRetrieval
        The model.
    """
    team = Team() if team is None else team
    with team.together():
        shape, digest = _shape_of_masks(file), digest_of(file)
    team.require_same(digest, f"the contents of {team.agreed(os.fsdecode(file))} (SHA-256)")
    if shape[0] < team.size:
        raise ProblemError(
            f"{shape[0]} masks cannot be shared by {team.size} ranks; start at most {shape[0]}"
        )
    begin, end = team.range(shape[0])
    with team.together():
        b, masks = (read_array_part(file, each, begin, end, shape[0]) for each in ("b", "masks"))
    return phase_retrieval(b, masks.reshape(-1, *shape[1:]), team, trace=trace, name=name)


def _shape_of_masks(file: PathLike) -> tuple[int, ...]:
    path, names = os.fsdecode(file), names_of_arrays(file)
    if "b" not in names or "masks" not in names:
        raise FormatError(
            f"holds {', '.join(names)[:60] or 'nothing'}; ranks share masks: wanted the "
            "intensities b and the masks, numpy.savez(path, b=b, masks=masks)",
            path=path,
        )
    shape = stored_arrays(file, ["masks"])["masks"].shape
    if len(shape) != 3 or 0 in shape:
        raise FormatError(f"masks.npy: masks have shape {shape}; wanted (L, h, w)", path=path)
    return shape
