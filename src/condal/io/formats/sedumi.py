"""SeDuMi's MATLAB files (.mat): minimise c'x subject to Ax = b, x in the cones that K names.

x consists of the variables of K.f, which are free, those of K.l, which are at least 0, those of
K.q, second-order cones, and those of K.s, psd matrices stored by columns. The file holds A, or At =
A'. The DIMACS challenge distributes such files, packed with gzip. A program has no free variables:
those of the file become differences of two numbers, in its first block.
"""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from condal.errors import FormatError
from condal.io.formats.entries import max_claim
from condal.io.formats.matlab import read_matlab
from condal.io.safe_files import PathLike
from condal.linalg.points import Array

Cone: TypeAlias = tuple[Literal["psd", "orthant", "second-order"], int]  # and its size

_MATRICES = ("A", "At")
_UNSUPPORTED = {
    "r": "rotated cones; write them as second-order cones, K.q",
    "xcomplex": "complex variables",
    "scomplex": "complex matrices",
    "ycomplex": "complex constraints",
}


class ConicData(NamedTuple):
    """Minimise c'x subject to Ax = b; x in the product of the cones."""

    c: Array
    A: sp.csr_array
    b: Array
    cones: tuple[Cone, ...]
    name: str


def read_cones(path: PathLike) -> ConicData:
    """Read a conic program from a SeDuMi file; only numbers are read from it."""
    name = os.fsdecode(path)
    variables = read_matlab(path, (*_MATRICES, "b", "c", "K"))
    _check_contents(variables, name)
    free, cones = _cones(variables["K"], name)
    key = next(key for key in _MATRICES if key in variables)
    length, shape = free + sum(_length(*cone) for cone in cones), variables[key].shape
    _check_claims(variables[key], length, name)
    b, c = (_vector(variables[v], v, max(length, *shape), name) for v in ("b", "c"))
    A = sp.csr_array(variables[key], dtype=np.float64)
    _finite(A.data, key, name)
    if A.shape != (b.size, length) or key == "At":
        A = A.T
    if A.shape != (b.size, length) or c.size != length:
        raise FormatError(
            f"K takes {length} variables and b has {b.size}: wanted A of {b.size} x {length} and c "
            f"of {length}; got {key} of {shape} and c of {c.size}",
            path=name,
        )
    if free:
        columns = sp.csc_array(A)
        A = sp.hstack([columns[:, :free], -columns[:, :free], columns[:, free:]])
        c = np.concatenate([c[:free], -c[:free], c[free:]])
        cones = (("orthant", 2 * free), *cones)
    mirrored = _mirrored(cones)
    symmetric = sp.csr_array(0.5 * (A + sp.csc_array(A)[:, mirrored]))
    return ConicData(0.5 * (c + c[mirrored]), symmetric, b, cones, _stem(name))


def _check_contents(variables: dict[str, Any], name: str) -> None:
    missing = [key for key in ("b", "c", "K") if key not in variables]
    if not any(key in variables for key in _MATRICES):
        missing = ["A", *missing]
    if missing:
        raise FormatError(
            f"has no {', '.join(missing)}; wanted SeDuMi's A (or At), b, c and K", path=name
        )
    for key, value in variables.items():
        if isinstance(value, dict) != (key == "K"):
            wanted = "a struct, with fields such as l, q and s" if key == "K" else "a matrix"
            raise FormatError(f"{key} must be {wanted}", path=name)


def _check_claims(A: Any, length: int, name: str) -> None:
    """Refuse more variables than the entries of A can account for.

    Variables without an entry need no bytes, and a psd matrix has the square of its diagonal, so
    the limit is generous.
    """
    held = A.indptr.size + A.nnz if sp.issparse(A) else A.size
    if max(length, *A.shape) > max(max_claim(held), min(10**7, held**2)):
        raise FormatError(
            f"K takes {length} variables, and A has {held} numbers in all; the file is damaged",
            path=name,
        )


def _cones(K: dict[str, Any], name: str) -> tuple[int, tuple[Cone, ...]]:
    """Return the number of free variables, and the cones in the order of x."""
    sizes: dict[str, list[int]] = {}
    for field, entries in K.items():
        if isinstance(entries, dict):
            raise FormatError(f"K.{field} must hold whole numbers", path=name)
        if sp.issparse(entries):
            # Only its entries: its shape needs no bytes in the file, and zeros say nothing.
            entries.sum_duplicates()
        values = np.ravel(entries.data if sp.issparse(entries) else entries)
        if field in _UNSUPPORTED and np.any(values):
            raise FormatError(
                f"K.{field} asks for {_UNSUPPORTED[field]}; K.f, K.l, K.q and K.s are supported",
                path=name,
            )
        if field not in ("f", "l", "q", "s"):
            continue
        whole = values.dtype.kind in "iuf" and (values == np.rint(values)).all()
        if not whole or (values < 0).any() or (values > 10**6).any():
            raise FormatError(f"K.{field} must hold whole numbers from 0 to 10^6", path=name)
        sizes[field] = [int(value) for value in values if value]
    cones: list[Cone] = [
        *(("orthant", n) for n in sizes.get("l", [])),
        *(("second-order", n) for n in sizes.get("q", [])),
        *(("psd", n) for n in sizes.get("s", [])),
    ]
    free = sum(sizes.get("f", []))
    if not cones and not free:
        raise FormatError("K names no cone: K.f, K.l, K.q or K.s must be positive", path=name)
    return free, tuple(cones)


def _length(kind: str, n: int) -> int:
    return n * n if kind == "psd" else n


def _mirrored(cones: tuple[Cone, ...]) -> Any:
    """Return the place of the mirror image of each entry of x: its own, except in psd matrices."""
    mirrored, at = [], 0
    for kind, n in cones:
        places = at + np.arange(_length(kind, n))
        mirrored.append(places.reshape(n, n).T.ravel() if kind == "psd" else places)
        at += places.size
    return np.concatenate(mirrored)


def _vector(matrix: Any, key: str, most: int, name: str) -> Any:
    if min(matrix.shape) != 1 or max(matrix.shape) > most:
        raise FormatError(
            f"{key} must be a vector of at most {most}; got shape {matrix.shape}", path=name
        )
    array = (matrix.toarray() if sp.issparse(matrix) else matrix).ravel().astype(np.float64)
    return _finite(array, key, name)


def _finite(values: Any, key: str, name: str) -> Any:
    if not np.isfinite(values).all():
        raise FormatError(f"{key} holds nan or inf; every entry must be finite", path=name)
    return values


def _stem(name: str) -> str:
    """Return the name of the file without its suffixes."""
    return PurePath(name).name.split(".mat", 1)[0] or "conic program"
