"""A label for each of n: names of groups, or numbers of states."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from condal.errors import ProblemError
from condal.linalg.points import Indices
from condal.problems.inputs import array_of, described


def checked_labels(labels: Any, n: int, k: int | None, each: str = "vertex") -> Any:
    """labels as whole numbers 0, 1, ..., in the order of their names; ProblemError unless there is
    one for each of n, and at most k different ones."""
    wanted = f"{n} whole numbers or names, one a {each}"
    found = _plain(array_of(labels, "labels", wanted))
    if found.dtype.kind == "f":
        wrong = ~(np.isfinite(found) & (found == np.rint(found)))
    else:
        wrong = np.full(found.shape, found.dtype.kind not in "biuSU")
    if found.shape != (n,) or wrong.any():
        raise ProblemError(f"labels must be {wanted}; got {described(labels, wrong)}")
    names, whole = np.unique(found, return_inverse=True)
    if k is not None and names.size > k:
        raise ProblemError(f"labels has {names.size} different values, but the model has k = {k}")
    return whole.ravel()


def checked_states(labels: Any, states: Indices) -> Indices:
    """labels as they are, each a state of its node; ProblemError unless it is one."""
    wanted = f"{states.size} whole numbers, the state of each node"
    found = array_of(labels, "labels", wanted)
    whole = found.dtype.kind in "iu"
    if found.shape != states.shape or not whole:
        wrong = np.full(found.shape, not whole)
        raise ProblemError(f"labels must be {wanted}; got {described(labels, wrong)}")
    wrong = (found < 0) | (found >= states)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ProblemError(f"node {i} has {states[i]} states, from 0; got {found[i]}")
    return found.astype(np.intp)


def agreement(a: Any, b: Any) -> float:
    """The share of vertices on which two labellings agree, names of groups apart."""
    wanted = "two lists of one length, a label a vertex"
    found = [array_of(given, "labels to compare", wanted) for given in (a, b)]
    shapes = [one.shape for one in found]
    if found[0].ndim != 1 or shapes[0] != shapes[1] or found[0].size == 0:
        raise ProblemError(
            f"labels to compare must be {wanted}; got shapes {shapes[0]} and {shapes[1]}"
        )
    i, j = (checked_labels(one, one.size, None) for one in found)
    table = np.zeros((int(i.max()) + 1, int(j.max()) + 1))
    np.add.at(table, (i, j), 1.0)
    return float(table[linear_sum_assignment(-table)].sum() / i.size)


def _plain(labels: Any) -> Any:
    """Objects that are all names, or all whole numbers, as an array of these: what tables hold."""
    if labels.dtype.kind != "O" or labels.ndim != 1:
        return labels
    entries = labels.tolist()
    for kind in (str, int):
        if all(isinstance(entry, kind) for entry in entries):
            return np.asarray(entries)
    return labels
