"""s in {-1, 1}^n: signs as users give them, of rows of numbers, and improved by flips."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.problems.inputs import array_of, described

TOGETHER = 2**22  # signs, of several columns, and a quarter of their neighbours: 40 bytes each
SHARE = 0.75  # of the largest gain of a column: the flips above it go first
NOTHING = 1e-12  # of the largest weight: a gain that is rounding
PATIENCE = 16  # rounds of a level in which the first of equals goes first
SCATTER = np.uint64(0x9E3779B97F4A7C15)  # odd: i -> i SCATTER mod 2^64 is one to one

Exchange = Callable[[Array], Array]


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


def best_signs(
    C: Any, factor: Array, *, trials: int, rng: np.random.Generator, first: Array | None = None
) -> tuple[float, Array]:
    """The largest s'C s, and the s, of the signs of `trials` random combinations of the columns
    of `factor`, each improved by flips; `first` is one of these, if it is given."""
    n, most, best = len(factor), -np.inf, np.ones(len(factor))
    together = max(1, TOGETHER // max(n, C.nnz // 4))
    for begin in range(0, trials, together):
        count = min(together, trials - begin)
        drawn = 0 if first is None or begin > 0 else 1
        s = np.empty((n, count))
        if drawn and first is not None:
            s[:, :1] = first
        s[:, drawn:] = factor @ rng.standard_normal((count - drawn, factor.shape[1])).T
        s = flipped(C, signs_of(s))
        values = np.einsum("ij,ij->j", s, C @ s)
        top = int(np.argmax(values))
        if values[top] > most:
            best, most = s[:, top].copy(), float(values[top])
    return most, best


def flipped(
    C: Any,
    signs: Array,
    *,
    back: Any = None,
    numbers: Indices | None = None,
    halo: Exchange | None = None,
    largest: Exchange | None = None,
) -> Array:
    """Each column s after flips that gain s'C s, until no flip of a single sign gains; the diagonal
    of C is 0, and s may be written on.

    Level by level: first the signs that gain more than a share of the most in their column. In a
    round all of them flip that gain more than their neighbours: no two are neighbours, so that what
    they gain adds up, and a round is a few passes over the rows that may flip. Of neighbours that
    gain the same the first goes first; where long chains of them would wait in line, by numbers
    that are scattered.

    A process that owns some rows of C among many gives these rows as C; `back`, their transpose as
    a CSR array; the `numbers` of the columns in the whole of C, those of its own rows first;
    `halo`, which makes of values of its rows those of all its columns; and `largest`, the entrywise
    maximum of a vector over all processes.
    """
    signs = np.ascontiguousarray(signs)
    back = C if back is None else back
    largest = np.asarray if largest is None else largest
    trials = signs.shape[1]
    gains = -signs * (C @ (signs if halo is None else halo(signs)))
    order = (np.arange(C.shape[1]) if numbers is None else numbers).astype(np.uint64)
    s, gain = signs.reshape(-1), gains.reshape(-1)
    least = NOTHING * float(largest(np.array([np.abs(C.data).max(initial=0.0)]))[0])
    while (most := largest(gains.max(axis=0, initial=0.0))).max() > least:
        level = np.maximum(SHARE * most, least)
        tried, patience = np.flatnonzero(gains > level), PATIENCE
        while largest(np.array([float(tried.size)]))[0]:
            theirs = gain if halo is None else halo(gains).reshape(-1)
            patience -= 1
            line = order if patience > 0 else order * SCATTER
            go = tried[_ahead(C, tried, trials, gain, theirs, line)]
            s[go], gain[go] = -s[go], -gain[go]
            if halo is None:
                moved, turned = go, s[go]
            else:
                steps = np.zeros_like(gains)
                steps.reshape(-1)[go] = s[go]
                steps = halo(steps).reshape(-1)
                moved = np.flatnonzero(steps)
                turned = steps[moved]
            at, counts = _rows(back, moved // trials)
            changed = back.indices[at].astype(np.intp) * trials + np.repeat(moved % trials, counts)
            lost = 2 * back.data[at] * np.repeat(turned, counts) * s[changed]
            np.subtract.at(gain, changed, lost)
            tried = np.concatenate([tried, changed])
            tried = np.unique(tried[gain[tried] > level[tried % trials]])
    return signs


def _ahead(C: Any, tried: Indices, trials: int, gain: Array, theirs: Array, order: Any) -> Any:
    """Which of the signs that are tried gain more than all their neighbours."""
    if tried.size == 0:
        return np.zeros(0, dtype=bool)
    rows = tried // trials
    at, counts = _rows(C, rows)
    near = C.indices[at].astype(np.intp)
    other = theirs[near * trials + np.repeat(tried % trials, counts)]
    own = np.repeat(gain[tried], counts)
    behind = other > own
    same = np.flatnonzero(other == own)
    behind[same] = order[near[same]] < np.repeat(order[rows], counts)[same]
    # A sign that gains has neighbours: no run of these is empty.
    return ~np.logical_or.reduceat(behind, np.cumsum(counts) - counts)


def _rows(C: Any, rows: Indices) -> tuple[Indices, Indices]:
    """Where the entries of these rows are, row after row, and how many each has."""
    begin = C.indptr[rows].astype(np.intp)
    counts = C.indptr[rows + 1] - begin
    first = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) + np.repeat(begin - first, counts), counts
