"""Check the arguments of public functions, and describe them for error messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from os import urandom
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from condal.errors import ProblemError
from condal.runtime.text import did_you_mean

SEED_BYTES = 6
MAX_SHOWN_CHARACTERS = 60

Seed: TypeAlias = int | np.random.Generator | None


def finite_array(
    values: Any,
    name: str,
    *,
    ndim: int | None = None,
    test: Callable[[NDArray[np.float64]], Any] = np.isfinite,
    squared: bool = False,
) -> NDArray[np.float64]:
    """Return a float64 array that can be `squared`; an array of another type is copied."""
    refuse_masked(values, name)
    try:
        raw = np.asarray(values)
        refuse_complex(raw.dtype, name)
        if raw.dtype.kind not in "biufO":
            raise TypeError(f"dtype {raw.dtype}")
        array = np.asarray(raw, dtype=np.float64)
    except ProblemError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise ProblemError(
            f"{name} must be an array of real numbers; got {type(values).__name__} ({error})"
        ) from None
    if ndim is not None and array.ndim != ndim:
        raise ProblemError(
            f"{name} must have {ndim} dimension{'s' * (ndim != 1)}; got shape {array.shape}"
        )
    if not np.all(test(array)):
        where = tuple(int(i) for i in np.argwhere(~np.asarray(test(array)))[0])
        place = f" at index {where if len(where) > 1 else where[0]}" if where else ""
        raise ProblemError(
            f"{name} has the value {array[where]}{place};"
            " every entry must be a finite number: clean the data first"
        )
    with np.errstate(over="ignore", under="ignore"):
        total = np.vdot(array, array) if squared else 1.0
    if not np.isfinite(total) or (total == 0.0 and array.any()):
        raise ProblemError(
            f"{name}: the squares are beyond what double precision holds; scale the data, for "
            "example by the largest entry"
        )
    return array


def refuse_masked(values: Any, name: str) -> None:
    """Raise ProblemError for masked entries: the numbers under a mask are not data."""
    if not is_masked(values):
        return
    wrong = np.argwhere(np.ma.getmaskarray(values))
    if len(wrong):
        first = tuple(int(i) for i in wrong[0])
        place = f", the first at index {first if len(first) > 1 else first[0]}" if first else ""
        raise ProblemError(
            f"{name} has {len(wrong)} masked entries{place}: fill them, for example with "
            f"{name}.filled(0), or leave them out of the data"
        )


def is_masked(values: Any) -> bool:
    """Return whether values is a masked array."""
    # By attribute first: the import of numpy.ma takes a while.
    return hasattr(values, "mask") and isinstance(values, np.ma.MaskedArray)


def refuse_complex(dtype: Any, name: str) -> None:
    """Raise ProblemError for complex data."""
    if dtype is not None and np.issubdtype(dtype, np.complexfloating):
        raise ProblemError(
            f"{name} is complex ({dtype}), and must be real: pass the real part; complex data go "
            "with the domain condal.Hermitian(n), by Linear, Inner and Quadratics"
        )


def require_whole(value: Any, name: str, *, least: int = 1) -> None:
    """Raise ProblemError unless value is an integer, at least `least`."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:
        raise ProblemError(f"{name} must be a whole number, at least {least}; got {value!r}")


def unpredictable_seed() -> int:
    """Return a seed from the system's entropy, which nobody can guess."""
    return int.from_bytes(urandom(SEED_BYTES), "big")


def seed_of(seed: Any) -> int:
    """Return a seed, drawn from a `numpy.random.Generator` or, for None, from the system.

    Anything else raises ProblemError.
    """
    if seed is None:
        return unpredictable_seed()
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    require_whole(seed, "seed", least=0)
    return int(seed)


def require_fraction(value: Any, name: str) -> None:
    """Raise ProblemError unless value lies in (0, 1]."""
    require_positive(value, name)
    if value > 1:
        raise ProblemError(f"{name} must lie in (0, 1]; got {value!r}")


def require_positive(value: Any, name: str) -> None:
    """Raise ProblemError unless value is a positive real number."""
    real = isinstance(value, int | float | np.integer | np.floating)
    if not real or not (np.isfinite(value) and value > 0):
        raise ProblemError(f"{name} must be a positive number; got {value!r}")


def require_seconds(value: Any, name: str = "max_seconds") -> None:
    """Raise ProblemError unless value is a positive number, which may be infinite, or None."""
    real = isinstance(value, int | float | np.integer | np.floating) and value is not True
    if value is not None and not (real and value > 0):
        raise ProblemError(f"{name} must be positive, or None; got {value!r}")


def has_member(piece: Any, name: str) -> bool:
    """Return whether an object has a member; a property is not read, as it may be slow or fail."""
    if hasattr(type(piece), name) or name in getattr(piece, "__dict__", ()):
        return True
    try:
        return hasattr(piece, name)
    except Exception:  # a property of the user's raised: the solve will meet it and name it
        return True


def copy_members(adapter: Any, piece: Any, names: Iterable[str]) -> None:
    """Let the members that a user's object has take the place of the defaults of its adapter."""
    for name in names:
        if has_member(piece, name):
            setattr(adapter, name, getattr(piece, name))


def require_members(piece: Any, what: str, purposes: dict[str, str]) -> None:
    """Raise a ProblemError that lists each missing member of a user's object and its purpose."""
    wanted = ((call.partition("(")[0], f"{call}: {why}") for call, why in purposes.items())
    missing = [text for name, text in wanted if not has_member(piece, name)]
    if missing:
        raise ProblemError(
            f"{what}, a {type(piece).__name__}, lacks what a solve needs; add {'; '.join(missing)}"
        )


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


def plain_array(given: Any, name: str, wanted: str) -> Any:
    """Return numpy.asarray(given); raise ProblemError if it forms no array or is masked."""
    refuse_masked(given, name)
    try:
        return np.asarray(given)
    except (TypeError, ValueError):
        raise ProblemError(f"{name} must be {wanted}; got {describe(given)}") from None


def real_array(given: Any, name: str, **options: Any) -> NDArray[np.float64]:
    """Return a `finite_array` of real numbers, or raise ProblemError."""
    require_real(given, name)
    return finite_array(given, name, **options)


def require_real(given: Any, name: str) -> None:
    """Raise ProblemError if a matrix, an operator or an array-like value is complex."""
    dtype = getattr(given, "dtype", None)
    if dtype is None and not hasattr(given, "adjoint"):
        dtype = plain_array(given, name, "an array of real numbers").dtype
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
) -> NDArray[np.intp]:
    """Return whole numbers as an array of this shape, None for any length; or raise ProblemError.

    With `below`, which may be inf, they must lie in 0, ..., below - 1.
    """
    array = plain_array(given, name, wanted)
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
    values = _plain(plain_array(labels, "labels", wanted))
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
    import scipy.sparse as sp

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
