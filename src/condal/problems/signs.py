"""s in {-1, 1}^n: signs as users give them, of rows of numbers, and improved one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.points import Array
from condal.problems.given import array_of, described


def checked_signs(signs: Any, n: int) -> Array:
    """signs as n numbers, each +1 or -1; ProblemError if they are not."""
    wanted = f"{n} numbers, each +1 or -1"
    found = array_of(signs, "signs", wanted)
    numbers = found.dtype.kind in "iuf"
    wrong = np.abs(found) != 1 if numbers else np.ones(found.shape, dtype=bool)
    if found.shape != (n,) or wrong.any():
        raise ProblemError(f"signs must be {wanted}; got {described(signs, wrong)}")
    return found.astype(np.float64)


def signs_of(columns: Array) -> Array:
    """+1 for what is not negative, else -1."""
    return np.where(columns >= 0, 1.0, -1.0)


def flipped(C: Any, signs: Array) -> Array:
    """Each column s after flips of single signs, the one that gains s'C s most first, until none
    gains; the diagonal of C is 0."""
    gains = -signs * (C @ signs)
    rounding = 1e-12 * float(np.abs(C.data).max(initial=0.0))
    for s, gain in zip(signs.T, gains.T.copy(), strict=True):
        while gain[i := int(np.argmax(gain))] > rounding:
            s[i], gain[i] = -s[i], -gain[i]
            near = slice(C.indptr[i], C.indptr[i + 1])
            gain[C.indices[near]] -= 2 * C.data[near] * s[C.indices[near]] * s[i]
    return signs
