"""The Rutherford-Boeing format for symmetric matrices, read as the adjacency matrix of a graph."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.io.formats.adjacency import from_edges
from condal.io.formats.header import Layout, check_claims, read_count
from condal.io.formats.numerals import DECIMAL, FORTRAN, Floats, Ints
from condal.io.formats.text import Source, Text, quote, read_text

_EDIT = re.compile(
    r"\(\s*(?:\d{1,4}P,?\s*)?(\d{0,4})([IEDFG])(\d{1,4})(?:\.\d{1,4})?(?:E\d{1,4})?\s*\)",
    re.IGNORECASE | re.ASCII,
)
_TO_E = bytes.maketrans(b"dDqQ", b"EEEE")
_TYPES = {"rsa": "real", "isa": "integer", "psa": "pattern"}


@dataclass(frozen=True)
class _Section:
    """A section of `count` numbers: `lines` lines from line `first` on, `width` characters each."""

    name: str
    count: int
    first: int
    lines: int
    width: int


def read_rutherford_boeing(path: Source) -> sparse.csr_array:
    """Read a graph from a symmetric assembled matrix, of which the file holds the lower triangle.

    Parameters
    ----------
    path : str or os.PathLike
        The file, which may be packed with gzip or xz.

    Returns
    -------
    csr_array
        The adjacency matrix :math:`W = W^T`.
    """
    text = read_text(path)
    # Not splitlines(): it also cuts at form feeds, which would give wrong line numbers.
    lines = [line.rstrip("\r") for line in text.data.decode().rstrip("\n").split("\n")]
    if len(lines) < 5:
        raise text.error("ends inside the four header lines; it is truncated", len(lines))
    counts = _header_counts(text, lines[1], 2, ("lines", "pointer lines", "index lines"))
    kind = lines[2][:3].lower()
    if kind not in _TYPES:
        raise text.error(
            f"the matrix type must be one of {', '.join(_TYPES)} (symmetric and assembled),"
            f" got {quote(kind.encode())}; other types are not read as graphs",
            3,
        )
    rows, n, m = _header_counts(text, lines[2][3:], 3, ("rows", "columns", "entries"))
    if rows != n:
        raise text.error(f"the matrix is {rows} x {n}; a graph needs a square matrix", 3)
    check_claims(text, Layout(n=n, m=m, noun="entries", columns=(1,)), 0, 3)
    widths = [int(edit[3]) for edit in _EDIT.finditer(lines[3])]
    pattern = kind == "psa"
    if len(widths) < (2 if pattern else 3) or 0 in widths:
        raise text.error(
            f"the fourth line must hold Fortran formats such as (20I4) (26I3) (5E14.6), "
            f"got {quote(lines[3].encode())}",
            4,
        )
    pointers = _Section("pointers", n + 1, 4, counts[1], widths[0])
    indices = _Section("row indices", m, pointers.first + pointers.lines, counts[2], widths[1])
    start = _whole(text, lines, pointers)
    row = _whole(text, lines, indices)
    if start[0] != 1 or start[-1] != m + 1 or np.any(np.diff(start) < 0):
        raise text.error(f"the column pointers must rise from 1 to {m + 1}; they do not", 5)
    column = np.repeat(np.arange(n), np.diff(start))
    if (misplaced := _misplaced(row - 1, column, n)).any():
        k = int(np.argmax(misplaced))
        raise text.error(
            f"got row {row[k]} in column {column[k] + 1}; wanted the lower triangle, rows "
            f"{column[k] + 1} to {n}, each once in a column",
            _line_of(text, lines, indices, k),
        )
    rest = indices.first + indices.lines
    count, width = (0, 1) if pattern else (m, widths[2])
    values = _Section("values", count, rest, max(len(lines) - rest, 0), width)
    weights = _real(text, lines, values)
    if pattern:
        weights = np.ones(m)
    return from_edges(text, n, (row - 1).astype(np.int32), column.astype(np.int32), weights)


def _misplaced(row: Ints, column: Ints, n: int) -> npt.NDArray[np.bool_]:
    """Return which entries lie above the diagonal, beyond the matrix or on another entry."""
    order = np.argsort(column * n + row, kind="stable")
    repeated = np.zeros(row.size, dtype=np.bool_)
    repeated[order[1:]] = (np.diff(column[order]) == 0) & (np.diff(row[order]) == 0)
    return repeated | (row < column) | (row >= n)


def _header_counts(text: Text, line: str, number: int, nouns: tuple[str, ...]) -> list[int]:
    tokens = line.encode().split()
    if len(tokens) < len(nouns):
        wanted = ", ".join(nouns)
        raise text.error(f"wanted the numbers of {wanted}; got {quote(line.encode())}", number)
    return [read_count(text, t, number, noun) for t, noun in zip(tokens, nouns, strict=False)]


def _fields(text: Text, lines: list[str], section: _Section) -> Iterator[tuple[str, int]]:
    """Yield the fixed-width fields of a section, with their lines."""
    seen = 0
    for number in range(section.first, min(section.first + section.lines, len(lines))):
        line = lines[number].rstrip()
        for at in range(0, len(line), section.width):
            if seen == section.count:
                raise text.error(
                    f"the header says {section.count} {section.name}, but "
                    f"{quote(line[at:].encode())} follows them; correct the header or remove the "
                    "excess",
                    number + 1,
                )
            seen += 1
            yield line[at : at + section.width].strip(), number + 1
    if seen < section.count:
        raise text.error(
            f"the header says {section.count} {section.name}, but there are {seen};"
            " the file is truncated or the header is wrong",
            min(section.first + section.lines, len(lines)),
        )


def _line_of(text: Text, lines: list[str], section: _Section, k: int) -> int:
    """Return the line of number k, from 0, of a section."""
    return next(islice(_fields(text, lines, section), k, None))[1]


def _whole(text: Text, lines: list[str], section: _Section) -> Ints:
    fields = _fields(text, lines, section)
    values = [read_count(text, token.encode(), at, section.name) for token, at in fields]
    return np.array(values, dtype=np.int64)


def _real(text: Text, lines: list[str], section: _Section) -> Floats:
    values = np.empty(section.count)
    for i, (token, line) in enumerate(_fields(text, lines, section)):
        word = token.encode()
        known = DECIMAL.fullmatch(word) or FORTRAN.fullmatch(word)
        values[i] = float(word.translate(_TO_E)) if known else math.nan
        if not math.isfinite(values[i]):
            raise text.error(
                f"a value must be a finite number, got {quote(word)}; correct the line", line
            )
    return values
