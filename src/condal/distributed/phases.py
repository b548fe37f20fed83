"""Phase retrieval by coded diffraction, with the masks distributed over ranks."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from condal.distributed.checkpoint.shard_digest import mask_words
from condal.distributed.diffraction import (
    DistributedDiffraction,
    DistributedLeastSquares,
    ReplicatedHermitian,
)
from condal.distributed.sharded_array import ShardedArray
from condal.distributed.team import Team
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


@dataclass(frozen=True, eq=False, repr=False)
class DistributedPhaseRetrieval(PhaseRetrieval):
    """The relaxation of phase retrieval on ranks: each has its masks and their intensities.

    The problem is that of `condal.problems.PhaseRetrieval`. Every rank has all of x and of the
    signal. `signal` and `residual` sum over the masks of all ranks, so all ranks call them.
    """

    A: Any = field(repr=False)
    b: Any = field(repr=False)

    @cached_property
    def problem(self) -> Problem:
        """The least-squares problem; its images are the intensities, distributed by masks."""
        return Problem.of(
            f=DistributedLeastSquares(self.A, self.b, weight=1.0 / float(self.b @ self.b)),
            X=ReplicatedHermitian(self.n, self.trace, self.A.team),
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
        The model, for `condal.distributed.solve`.

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
