"""Checks of the data that users give to an application, and short descriptions for errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.runtime.arguments import finite_array, refuse_masked
from condal.runtime.text import did_you_mean

MAX_SHOWN_CHARACTERS = 60


def describe(given: Any, wrong: Any = None) -> str:
    """Describe a given value for an error message.

    A scalar is shown itself. An array-like value is described by its type, its shape and the first
    entry that `wrong`, a mask over numpy.asarray(given), marks.
    """
    if given is None or isinstance(given, str | bytes | dict | set) or np.isscalar(given):
        return _shortened(given)
    try:
        shape = tuple(given.shape) if hasattr(given, "shape") else np.shape(given)
    except (TypeError, ValueError):
        return f"{_kind(given)} of {len(given)} parts that do not make one array"
    if shape == () and not isinstance(given, np.ndarray):
        return _shortened(given)
    text = f"{_kind(given)} of shape {shape}"
    if wrong is None or not np.any(wrong):
        return text
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    value = np.asarray(given)[place]
    value = value.item() if isinstance(value, np.generic) else value
    return f"{text}, {_shortened(value)} at index {place if len(place) > 1 else place[0]}"


def array_of(given: Any, name: str, wanted: str) -> Any:
    """Return numpy.asarray(given); raise ProblemError if it forms no array or is masked."""
    refuse_masked(given, name)
    try:
        return np.asarray(given)
    except (TypeError, ValueError):
        raise ProblemError(f"{name} must be {wanted}; got {describe(given)}") from None


def real_array(given: Any, name: str, *, ndim: int | None = None) -> Array:
    """Return a float64 array of finite numbers, or raise ProblemError."""
    require_real(given, name)
    return finite_array(given, name, ndim=ndim)


def require_real(given: Any, name: str) -> None:
    """Raise ProblemError if a matrix, an operator or an array-like value is complex."""
    dtype = getattr(given, "dtype", None)
    if dtype is None and not hasattr(given, "adjoint"):
        dtype = array_of(given, name, "an array of real numbers").dtype
    if isinstance(dtype, np.dtype) and dtype.kind == "c":
        raise ProblemError(
            f"{name} is complex ({dtype}), and must be real here: pass numpy.real({name}) if the "
            "imaginary part is 0; angular_synchronisation and phase_retrieval take complex data"
        )


def whole_numbers(
    given: Any,
    name: str,
    wanted: str,
    *,
    shape: tuple[int | None, ...] = (None,),
    below: Any = None,
) -> Indices:
    """Return whole numbers as an array of this shape, None for any length; or raise ProblemError.

    With `below`, which may be inf, they must lie in 0, ..., below - 1.
    """
    array = array_of(given, name, wanted)
    whole = array.dtype.kind in "iu" or array.size == 0
    wrong = np.full(array.shape, not whole)
    if whole and below is not None:
        wrong = (array < 0) | (array >= below)
    fits = len(shape) == array.ndim and all(
        m in (None, n) for m, n in zip(shape, array.shape, strict=True)
    )
    if wrong.any() or not (whole and fits):
        raise ProblemError(f"{name} must be {wanted}; got {describe(given, wrong)}")
    return array.astype(np.intp)


def require_flag(value: Any, name: str) -> None:
    """Raise ProblemError unless value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ProblemError(f"{name} must be True or False; got {describe(value)}")


def require_choice(value: Any, name: str, choices: Sequence[str]) -> None:
    """Raise ProblemError unless value is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        *most, last = map(repr, choices)
        hint = did_you_mean(value, choices) if isinstance(value, str) else ""
        raise ProblemError(
            f"{name} must be {', '.join(most)} or {last}; got {describe(value)}{hint}"
        )


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


def is_matrix_like(given: Any) -> bool:
    """Return whether `given` is a SciPy sparse matrix or anything that numpy.asarray converts."""
    return bool(
        sp.issparse(given) or isinstance(given, list | tuple) or hasattr(given, "__array__")
    )


def is_table(given: Any) -> bool:
    """Return whether `given` looks like a DataFrame."""
    return hasattr(given, "columns") and hasattr(given, "index")


def _kind(given: Any) -> str:
    name = type(given).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' or name == 'ndarray' else 'a'} {name}"


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MAX_SHOWN_CHARACTERS else text[:MAX_SHOWN_CHARACTERS] + "..."


def _plain(labels: Any) -> Any:
    """Return an object array of names, or of whole numbers, as a typed array."""
    if labels.dtype.kind != "O" or labels.ndim != 1:
        return labels
    entries = labels.tolist()
    for kind in (str, int):
        if all(isinstance(entry, kind) for entry in entries):
            return np.asarray(entries)
    return labels
