"""Total variation: how much an image, or any array, varies from entry to entry."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from condal.nonsmooth.norms import L1, GroupL1
from condal.runtime.arguments import require_whole


def total_variation(
    shape: Sequence[int], t: float = 1.0, *, isotropic: bool = True
) -> GroupL1 | L1:
    """g with g(Bx) = t times the total variation of x, B = `FiniteDifferences(shape)`.

    B gives the differences along the first axis for all entries, then those along the second, and
    so on. Isotropic: the Euclidean norm of the differences of each entry, summed; else the sum of
    their absolute values.
    """
    for side in shape:
        require_whole(side, "a side of shape")
    entries, axes = prod(shape), len(shape)
    if isotropic and axes > 1:
        return GroupL1(np.tile(np.arange(entries), axes), t)
    return L1(t, axes * entries)
