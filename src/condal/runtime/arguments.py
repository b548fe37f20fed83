"""Check the arguments of public functions: arrays, whole numbers, fractions, positive numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import urandom
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from condal.errors import ProblemError

SEED_BYTES = 6

Seed: TypeAlias = int | np.random.Generator | None


def finite_array(
    values: Any,
    name: str,
    *,
    ndim: int | None = None,
    test: Callable[[NDArray[np.float64]], Any] = np.isfinite,
) -> NDArray[np.float64]:
    """Return the values as a float64 array; an array of another type is copied."""
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
    return array


def plain_array(values: Any, name: str, wanted: str) -> NDArray[Any]:
    """Return numpy.asarray(values); raise ProblemError if that fails or entries are masked."""
    refuse_masked(values, name)
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        raise ProblemError(
            f"{name} must be {wanted}; got {type(values).__name__} ({error})"
        ) from None


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
    missing = [f"{call}: {why}" for call, why in purposes.items() if not _has(piece, call)]
    if missing:
        raise ProblemError(
            f"{what}, a {type(piece).__name__}, lacks what a solve needs; add {'; '.join(missing)}"
        )


def _has(piece: Any, call: str) -> bool:
    return has_member(piece, call.partition("(")[0])
