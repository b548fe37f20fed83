"""Labels of n items: names of groups, or numbers of states."""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Indices
from condal.problems.inputs import array_of, describe


def checked_labels(labels: Any, n: int, k: int | None, each: str = "vertex") -> Any:
    """Return labels as whole numbers 0, 1, ... in the sorted order of their names.

    Raise ProblemError unless there is one label per item and at most k different labels.
    """
    wanted = f"{n} whole numbers or names, one per {each}"
    values = _plain(array_of(labels, "labels", wanted))
    if values.dtype.kind == "f":
        wrong = ~(np.isfinite(values) & (values == np.rint(values)))
    else:
        wrong = np.full(values.shape, values.dtype.kind not in "biuSU")
    if values.shape != (n,) or wrong.any():
        raise ProblemError(f"labels must be {wanted}; got {describe(labels, wrong)}")
    names, whole = np.unique(values, return_inverse=True)
    if k is not None and names.size > k:
        raise ProblemError(f"labels has {names.size} different values, but the model has k = {k}")
    return whole.ravel()


def checked_states(labels: Any, states: Indices) -> Indices:
    """Return labels unchanged, or raise ProblemError if one is not a state of its node."""
    wanted = f"{states.size} whole numbers, the state of each node"
    states_of_nodes = array_of(labels, "labels", wanted)
    whole = states_of_nodes.dtype.kind in "iu"
    if states_of_nodes.shape != states.shape or not whole:
        wrong = np.full(states_of_nodes.shape, not whole)
        raise ProblemError(f"labels must be {wanted}; got {describe(labels, wrong)}")
    wrong = (states_of_nodes < 0) | (states_of_nodes >= states)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ProblemError(f"node {i} has {states[i]} states, from 0; got {states_of_nodes[i]}")
    return states_of_nodes.astype(np.intp)


def agreement(a: Any, b: Any) -> float:
    """Return the fraction of vertices on which two labellings agree, up to renaming groups."""
    wanted = "two lists of one length, one label per vertex"
    labellings = [array_of(given, "labels to compare", wanted) for given in (a, b)]
    shapes = [labelling.shape for labelling in labellings]
    if labellings[0].ndim != 1 or shapes[0] != shapes[1] or labellings[0].size == 0:
        raise ProblemError(
            f"labels to compare must be {wanted}; got shapes {shapes[0]} and {shapes[1]}"
        )
    i, j = (checked_labels(labelling, labelling.size, None) for labelling in labellings)
    from scipy.optimize import linear_sum_assignment

    table = np.zeros((int(i.max()) + 1, int(j.max()) + 1))
    np.add.at(table, (i, j), 1.0)
    return float(table[linear_sum_assignment(-table)].sum() / i.size)


def _plain(labels: Any) -> Any:
    """Return an object array of names, or of whole numbers, as a typed array."""
    if labels.dtype.kind != "O" or labels.ndim != 1:
        return labels
    entries = labels.tolist()
    for kind in (str, int):
        if all(isinstance(entry, kind) for entry in entries):
            return np.asarray(entries)
    return labels
