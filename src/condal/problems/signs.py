"""Sign vectors s in {-1, 1}^n: checked, rounded from a factor, and improved by flips."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.linalg.sparse import distinct, row_entries
from condal.problems.models import Trials
from condal.runtime.arguments import describe, plain_array
from condal.runtime.limits import UNLIMITED, TimeLimit

MAX_BATCH_SIGNS = 2**22  # per batch of columns, at 40 bytes per sign and per four neighbours
LEVEL_SHARE = 0.75  # of the largest gain in a column: larger gains flip first
GAIN_ROUNDING = 1e-12  # relative to the largest weight
ROUNDS_IN_INDEX_ORDER = 16  # per level; later rounds break ties by scattered indices
SCATTER_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd: a bijection mod 2^64

Exchange = Callable[[Array], Array]


def checked_signs(signs: Any, n: int) -> Array:
    """Return signs as n floats; raise ProblemError unless each is +1 or -1."""
    wanted = f"{n} numbers, each +1 or -1"
    values = plain_array(signs, "signs", wanted)
    numbers = values.dtype.kind in "iuf"
    wrong = np.abs(values) != 1 if numbers else np.ones(values.shape, dtype=bool)
    if values.shape != (n,) or wrong.any():
        raise ProblemError(f"signs must be {wanted}; got {describe(signs, wrong)}")
    return values.astype(np.float64)


def signs_of(columns: Array) -> Array:
    """Return +1 for entries that are not negative, else -1."""
    return np.where(columns >= 0, 1.0, -1.0)


def best_signs(
    C: Any, factor: Array, trials: Trials, first: Array | None = None
) -> tuple[float, Array]:
    """Return the largest s'C s, and s, over the signs of random combinations of factor columns.

    Each candidate is improved by flips; `first`, if given, is one of them. When the time is up, the
    best so far is returned.
    """
    n, most, best = len(factor), -np.inf, np.ones(len(factor))
    batch = max(1, MAX_BATCH_SIGNS // max(n, C.nnz // 4))
    begin = 0
    while begin < trials.count and not (begin > 0 and trials.limit.is_over()):
        # The first candidate goes alone if time is short, so that it is flipped to the end.
        alone = begin == 0 and trials.limit.max_seconds is not None
        count = min(1 if alone else batch, trials.count - begin)
        drawn = 0 if first is None or begin > 0 else 1
        s = np.empty((n, count))
        if drawn and first is not None:
            s[:, :1] = first
        s[:, drawn:] = factor @ trials.rng.standard_normal((count - drawn, factor.shape[1])).T
        s = flipped(C, signs_of(s), limit=trials.limit)
        values = np.einsum("ij,ij->j", s, C @ s)
        top = int(np.argmax(values))
        if values[top] > most:
            best, most = s[:, top].copy(), float(values[top])
        begin += count
    return most, best


def flipped(
    C: Any,
    signs: Array,
    *,
    back: Any = None,
    numbers: Indices | None = None,
    halo: Exchange | None = None,
    largest: Exchange | None = None,
    limit: TimeLimit = UNLIMITED,
) -> Array:
    """Flip single signs of each column s until no flip increases s'C s, or the time is up.

    `signs` may be overwritten.

    The diagonal of C must be 0. Flips proceed level by level: first the signs whose gain exceeds a
    fraction of the largest gain in their column. In each round, all signs flip that gain more than
    their neighbours. No two of them are neighbours, so their gains add up, and a round is a few
    passes over the candidate rows. Ties between neighbours go to the lower index; after many
    rounds, to scattered indices, which breaks up long chains of ties.

    A process that owns some of the rows of C passes these rows as C; `back`, their transpose as a
    CSR array; `numbers`, the global column indices, those of its own rows first; `halo`, which maps
    values of its rows to values of all its columns; and `largest`, the entrywise maximum of a
    vector over all processes.
    """
    signs = np.ascontiguousarray(signs)
    back = C if back is None else back
    largest = np.asarray if largest is None else largest
    trials = signs.shape[1]
    gains = -signs * (C @ (signs if halo is None else halo(signs)))
    order = (np.arange(C.shape[1]) if numbers is None else numbers).astype(np.uint64)
    s, gain = signs.reshape(-1), gains.reshape(-1)
    least = GAIN_ROUNDING * float(largest(np.array([np.abs(C.data).max(initial=0.0)]))[0])
    while (most := largest(gains.max(axis=0, initial=0.0))).max() > least:
        level = np.maximum(LEVEL_SHARE * most, least)
        lowest_level = level.min()
        tried, patience = np.flatnonzero(gains > level), ROUNDS_IN_INDEX_ORDER
        while largest(np.array([float(tried.size)]))[0]:
            if limit.is_over():
                return signs
            theirs = gain if halo is None else halo(gains).reshape(-1)
            patience -= 1
            line = order if patience > 0 else order * SCATTER_FACTOR
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
            at, counts = row_entries(back, moved // trials)
            changed = back.indices[at].astype(np.intp)
            changed *= trials
            changed += np.repeat(moved % trials, counts)
            lost = back.data[at] * np.repeat(2 * turned, counts) * s[changed]
            np.subtract.at(gain, changed, lost)
            tried = np.concatenate([tried, changed])
            tried = tried[gain[tried] > lowest_level]  # leaves few for the levels by column
            tried = distinct(tried[gain[tried] > level[tried % trials]])
    return signs


def _ahead(C: Any, tried: Indices, trials: int, gain: Array, theirs: Array, order: Any) -> Any:
    """Return which of the tried signs gain more than all their neighbours."""
    if tried.size == 0:
        return np.zeros(0, dtype=bool)
    rows = tried // trials
    at, counts = row_entries(C, rows)
    ends = np.cumsum(counts)
    near = C.indices[at].astype(np.intp)
    other = theirs[near * trials + np.repeat(tried % trials, counts)]
    own = np.repeat(gain[tried], counts)
    behind = other > own
    same = np.flatnonzero(other == own)
    owner = rows[np.searchsorted(ends, same, side="right")]
    behind[same] = order[near[same]] < order[owner]
    # A sign with a positive gain has neighbours, so no segment is empty.
    return ~np.logical_or.reduceat(behind, ends - counts)
