"""SeDuMi's MATLAB files (.mat): minimise c'x with Ax = b, x in the cones that K names.

x is (x of K.l, at least 0; those of K.q, second-order cones; those of K.s, psd matrices, column by
column). A stands as A, or as At = A'. As the challenge of DIMACS has them, packed with gzip.
"""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import FormatError, ProblemError
from condal.io.formats.header import most_claimed
from condal.io.formats.matlab import read_matlab
from condal.io.safe_files import PathLike
from condal.problems.conic import Block, Program

_MATRICES = ("A", "At")
_NOT_TAKEN = {
    "f": "free variables; write each as the difference of two of K.l, and give it bounds",
    "r": "rotated cones; write them as second-order cones, K.q",
    "xcomplex": "complex variables",
    "scomplex": "complex matrices",
    "ycomplex": "complex constraints",
}


def read_sedumi(path: PathLike) -> Program:
    """The conic program of a file; plain, gzip or xz. Nothing but numbers is read of it."""
    name = os.fsdecode(path)
    found = read_matlab(path, (*_MATRICES, "b", "c", "K"))
    _check_contents(found, name)
    blocks = _blocks(found["K"], name)
    key = next(key for key in _MATRICES if key in found)
    length = sum(block.length for block in blocks)
    _check_claims(found[key], length, name)
    most = max(length, *found[key].shape)
    b, c = (_vector(found[part], part, most, name) for part in ("b", "c"))
    A = _matrix(found[key], key, name)
    if A.shape != (b.size, length) or key == "At":
        A = A.T
    if A.shape != (b.size, length) or c.size != length:
        raise FormatError(
            f"K takes {length} variables and b has {b.size}: wanted A of {b.size} x {length} and c "
            f"of {length}; got {key} of {found[key].shape} and c of {c.size}",
            path=name,
        )
    mirrored = _mirrored(blocks)
    symmetric = sp.csr_array(0.5 * (A + sp.csc_array(A)[:, mirrored]))
    try:
        return Program(0.5 * (c + c[mirrored]), symmetric, b, blocks, name=_stem(name))
    except ProblemError as error:
        raise FormatError(str(error), path=name) from error


def _check_contents(found: dict[str, Any], name: str) -> None:
    missing = [key for key in ("b", "c", "K") if key not in found]
    if not any(key in found for key in _MATRICES):
        missing = ["A", *missing]
    if missing:
        raise FormatError(
            f"has no {', '.join(missing)}; wanted SeDuMi's A (or At), b, c and K", path=name
        )
    for key, value in found.items():
        if isinstance(value, dict) != (key == "K"):
            wanted = "a struct, with fields such as l, q and s" if key == "K" else "a matrix"
            raise FormatError(f"{key} must be {wanted}", path=name)


def _check_claims(A: Any, length: int, name: str) -> None:
    """Refuse more variables than what is there of A can be about: those that no row has need no
    bytes, and a psd matrix has the square of its diagonal, but they are not without end."""
    held = A.indptr.size + A.nnz if sp.issparse(A) else A.size
    if max(length, *A.shape) > max(most_claimed(held), min(10**7, held**2)):
        raise FormatError(
            f"K takes {length} variables, and A has {held} numbers in all; the file is damaged",
            path=name,
        )


def _blocks(K: dict[str, Any], name: str) -> tuple[Block, ...]:
    """The cones, in the order of x."""
    sizes: dict[str, list[int]] = {}
    for field, given in K.items():
        if isinstance(given, dict):
            raise FormatError(f"K.{field} must hold whole numbers", path=name)
        if sp.issparse(given):
            # What it holds alone: of its shape the file need have no bytes. Zeros say nothing.
            given.sum_duplicates()
            given = given.data
        values = np.ravel(given)
        if field in _NOT_TAKEN and np.any(values):
            raise FormatError(
                f"K.{field} asks for {_NOT_TAKEN[field]}; K.l, K.q and K.s are taken", path=name
            )
        if field not in ("l", "q", "s"):
            continue
        whole = values.dtype.kind in "iuf" and (values == np.rint(values)).all()
        if not whole or (values < 0).any() or (values > 10**6).any():
            raise FormatError(f"K.{field} must hold whole numbers from 0 to 10^6", path=name)
        sizes[field] = [int(value) for value in values if value]
    blocks = [
        *(Block("orthant", n) for n in sizes.get("l", [])),
        *(Block("second-order", n) for n in sizes.get("q", [])),
        *(Block("psd", n) for n in sizes.get("s", [])),
    ]
    if not blocks:
        raise FormatError("K names no cone: K.l, K.q or K.s must be positive", path=name)
    return tuple(blocks)


def _mirrored(blocks: tuple[Block, ...]) -> Any:
    """For each number of x where its mirror image is: itself, but in psd matrices."""
    parts, at = [], 0
    for block in blocks:
        places = at + np.arange(block.length)
        parts.append(places.reshape(block.n, -1).T.ravel() if block.kind == "psd" else places)
        at += block.length
    return np.concatenate(parts)


def _vector(given: Any, key: str, most: int, name: str) -> Any:
    if min(given.shape) != 1 or max(given.shape) > most:
        raise FormatError(
            f"{key} must be a vector of at most {most}; got shape {given.shape}", path=name
        )
    array = (given.toarray() if sp.issparse(given) else given).ravel().astype(np.float64)
    return _finite(array, key, name)


def _matrix(given: Any, key: str, name: str) -> Any:
    A = sp.csr_array(given, dtype=np.float64)
    _finite(A.data, key, name)
    return A


def _finite(values: Any, key: str, name: str) -> Any:
    if not np.isfinite(values).all():
        raise FormatError(f"{key} holds nan or inf; every entry must be finite", path=name)
    return values


def _stem(name: str) -> str:
    """The name of the file without what it is packed with."""
    return PurePath(name).name.split(".mat", 1)[0] or "conic program"
