"""What an application was given: checked, and told in few words where it is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.runtime.arguments import finite_array

LONGEST = 60  # characters of a value that is shown


def described(given: Any, wrong: Any = None) -> str:
    """A single value itself; of many the type, the shape, and the first entry that is `wrong`.

    `wrong` marks entries of numpy.asarray(given).
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
    """numpy.asarray(given); ProblemError if its parts make no array."""
    try:
        return np.asarray(given)
    except (TypeError, ValueError):
        raise ProblemError(f"{name} must be {wanted}; got {described(given)}") from None


def real_array(given: Any, name: str, *, ndim: int | None = None) -> Array:
    """A float64 array of finite numbers."""
    require_real(given, name)
    return finite_array(given, name, ndim=ndim)


def require_real(given: Any, name: str) -> None:
    """Raise ProblemError for complex data, of a matrix, an operator or anything like an array."""
    dtype = getattr(given, "dtype", None)
    if dtype is None and not hasattr(given, "adjoint"):
        dtype = array_of(given, name, "an array of real numbers").dtype
    if isinstance(dtype, np.dtype) and dtype.kind == "c":
        raise ProblemError(
            f"{name} is complex ({dtype}), and must be real here: pass numpy.real({name}) if the "
            "imaginary part is 0; angular_synchronisation and phase_retrieval take complex data"
        )


def require_flag(value: Any, name: str) -> None:
    """Raise ProblemError unless value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ProblemError(f"{name} must be True or False; got {described(value)}")


def require_choice(value: Any, name: str, choices: Sequence[str]) -> None:
    """Raise ProblemError unless value is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        *most, last = map(repr, choices)
        raise ProblemError(f"{name} must be {', '.join(most)} or {last}; got {described(value)}")


def stored(given: Any) -> bool:
    """Whether it is a SciPy sparse matrix, or what numpy.asarray makes a matrix of: an array, a
    list, a table."""
    return bool(
        sp.issparse(given) or isinstance(given, list | tuple) or hasattr(given, "__array__")
    )


def _kind(given: Any) -> str:
    name = type(given).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' or name == 'ndarray' else 'a'} {name}"


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."
