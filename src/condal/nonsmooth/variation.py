"""Total variation of an image, or of any array."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from condal.nonsmooth.norms import L1, GroupL1
from condal.runtime.arguments import require_whole


def total_variation(
    shape: Sequence[int], t: float = 1.0, *, isotropic: bool = True
) -> GroupL1 | L1:
    r"""Return g such that g(Bx) is t times the total variation of x.

    B = `FiniteDifferences(shape)` returns the differences along the first axis for all entries,
    then along the second axis, and so on. With :math:`d_i` the differences of entry i,

    .. math:: g(Bx) = t \sum_i \|d_i\|_2 \quad\text{(isotropic)} \qquad\text{or}\qquad
              t \sum_i \|d_i\|_1.

    Parameters
    ----------
    shape : sequence of int
        The shape of the array x.
    t : float
        The weight.
    isotropic : bool
        Whether to use Euclidean norms.

    Returns
    -------
    GroupL1 or L1
        The function g.
    """
    for side in shape:
        require_whole(side, "a side of shape")
    entries, axes = prod(shape), len(shape)
    if isotropic and axes > 1:
        return GroupL1(np.tile(np.arange(entries), axes), t)
    return L1(t, axes * entries)
