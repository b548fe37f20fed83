"""The QAPLIB formats: n and two n x n matrices (.dat); n, a cost and a permutation (.sln)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NoReturn

import numpy as np

from condal.io.formats.entries import read_count, weight_fault
from condal.io.formats.numerals import parse_all
from condal.io.formats.text import Text, quote, read_text
from condal.io.safe_files import PathLike
from condal.linalg.points import Array

_WORD = re.compile(rb"[^ \t\r\n,]+")


@dataclass(frozen=True, eq=False)
class QaplibProblem:
    r"""Find the permutation p with the least :math:`\sum_{ij} A_{ij} B_{p_i p_j}`."""

    A: Array = field(repr=False)
    B: Array = field(repr=False)

    @property
    def n(self) -> int:
        """The side of A and B."""
        return len(self.A)


@dataclass(frozen=True, eq=False)
class QaplibSolution:
    """A cost, and a permutation of 0, ..., n - 1.

    Some files of the library hold the inverse of p: the cost shows which it is.
    """

    cost: float
    permutation: Any


def read_qaplib(path: PathLike) -> QaplibProblem:
    """Read A and B from a .dat file: n, then 2 n^2 numbers, with any line breaks.

    The line of n may hold a second number, as in esc8b to esc8f, which is ignored.

    Parameters
    ----------
    path : str or os.PathLike
        The file.

    Returns
    -------
    QaplibProblem
        The matrices A and B.
    """
    text = read_text(path, wanted="n and two matrices")
    words, begin = _header(text, (1, 2))
    n = _size(text, words[0], begin)
    numbers = _numbers(text, begin, 2 * n * n, f"n = {n} asks for two {n} x {n} matrices")
    return QaplibProblem(numbers[: n * n].reshape(n, n), numbers[n * n :].reshape(n, n))


def read_qaplib_solution(path: PathLike) -> QaplibSolution:
    """Read a .sln file: a line 'n cost', then the permutation.

    The permutation counts from 0 if it holds a 0, else from 1. Commas may separate its numbers.

    Parameters
    ----------
    path : str or os.PathLike
        The file.

    Returns
    -------
    QaplibSolution
        The cost and the permutation.
    """
    text = read_text(path)
    words, begin = _header(text, (2,))
    n = _size(text, words[0], begin)
    line = text.line_at(begin - 1)
    cost = _number(text, words[1], line)
    numbers = _numbers(text, begin, n, f"n = {n} asks for a permutation of 1 to {n}")
    first = 0 if numbers.min() == 0 else 1
    if not np.array_equal(np.sort(numbers), np.arange(first, n + first)):
        raise text.error(
            f"the permutation must hold each of {first} to {n + first - 1} once; correct the file",
            line + 1,
        )
    return QaplibSolution(cost, numbers.astype(np.intp) - first)


def _header(text: Text, columns: tuple[int, ...]) -> tuple[list[bytes], int]:
    """Return the words of the first nonblank line, and the offset after it."""
    for content, after in text.lines():
        words = _WORD.findall(content)
        if not words:
            continue
        if len(words) not in columns:
            wanted = "'n'" if 1 in columns else "'n cost'"
            raise text.error(
                f"the first line must be {wanted}, got {quote(content)}; if this is another "
                "format, convert it to that of QAPLIB",
                text.line_at(after - 1),
            )
        return words, after
    raise text.error("holds no number; wanted n on the first line, and numbers after it")


def _size(text: Text, word: bytes, begin: int) -> int:
    error = partial(text.error, line=text.line_at(begin - 1))
    n = read_count(error, word, "facilities")
    if n == 0:
        raise error("the header says 0 facilities; wanted at least 1")
    return n


def _numbers(text: Text, begin: int, count: int, why: str) -> Array:
    """Return the numbers from offset `begin` on, of which there must be `count`."""
    numbers = parse_all(text.data[begin:].replace(b",", b" "))
    if numbers is None or numbers.size != count:
        _refuse(text, begin, count, why)
    return numbers


def _refuse(text: Text, begin: int, count: int, why: str) -> NoReturn:
    """Raise the error of the first faulty word."""
    seen, last, at = 0, text.line_at(begin - 1), begin - 1
    for seen, match in enumerate(_WORD.finditer(text.data, begin), 1):
        # Counted from the word before: from the first byte the cost would be quadratic.
        last, at = last + text.data.count(b"\n", at, match.start()), match.start()
        if seen > count:
            raise text.error(
                f"{why}, {count} numbers, but {quote(match[0])} follows them; remove it or correct "
                "the header",
                last,
            )
        _number(text, match[0], last)
    raise text.error(
        f"{why}, {count} numbers, but the file ends after {seen}; it is truncated or the header is "
        "wrong",
        last,
    )


def _number(text: Text, word: bytes, line: int) -> float:
    if (fault := weight_fault(word, noun="value")) is not None:
        raise text.error(fault, line)
    return float(word)
