"""The QAPLIB formats: n and two n x n matrices (.dat); n, a cost and a permutation (.sln)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from condal.io.formats.header import read_count
from condal.io.formats.numerals import DECIMAL
from condal.io.formats.text import Text, quote, read_text
from condal.io.safe_files import PathLike
from condal.linalg.points import Array

_WORD = re.compile(rb"[^ \t\r\n,]+")


@dataclass(frozen=True, eq=False)
class QaplibProblem:
    """A and B: find the permutation p with the least sum_ij A_ij B_{p_i p_j}."""

    A: Array = field(repr=False)
    B: Array = field(repr=False)

    @property
    def n(self) -> int:
        """The side of A and B."""
        return len(self.A)


@dataclass(frozen=True, eq=False)
class QaplibSolution:
    """A cost, and a permutation of 0, ..., n - 1.

    Some files of the library hold the inverse of p: the cost tells which it is.
    """

    cost: float
    permutation: Any


def read_qaplib(path: PathLike) -> QaplibProblem:
    """A and B of a .dat file: n, then 2 n^2 numbers, however they are broken into lines.

    The line of n may hold another number after it, as in esc8b to esc8f, which is not read.
    """
    text = read_text(path, wanted="n and two matrices")
    words, begin = _header(text, (1, 2))
    n = _size(text, words[0], begin)
    numbers = _numbers(text, begin, 2 * n * n, f"n = {n} asks for two {n} x {n} matrices")
    return QaplibProblem(numbers[: n * n].reshape(n, n), numbers[n * n :].reshape(n, n))


def read_qaplib_solution(path: PathLike) -> QaplibSolution:
    """The cost and the permutation of a .sln file: a line 'n cost', then the permutation.

    It counts from 1, or from 0: what it holds tells. Commas may stand between its numbers.
    """
    text = read_text(path)
    words, begin = _header(text, (2,))
    n = _size(text, words[0], begin)
    line = text.line_at(begin - 1)
    cost = _number(text, words[1], line)
    found = _numbers(text, begin, n, f"n = {n} asks for a permutation of 1 to {n}")
    first = 0 if found.min() == 0 else 1
    if not np.array_equal(np.sort(found), np.arange(first, n + first)):
        raise text.error(
            f"the permutation must hold each of {first} to {n + first - 1} once; correct the file",
            line + 1,
        )
    return QaplibSolution(cost, found.astype(np.intp) - first)


def _header(text: Text, columns: tuple[int, ...]) -> tuple[list[bytes], int]:
    """The words of the first line that is not blank, and the offset of what follows it."""
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
    line = text.line_at(begin - 1)
    n = read_count(text, word, line, "facilities")
    if n == 0:
        raise text.error("the header says 0 facilities; wanted at least 1", line)
    return n


def _numbers(text: Text, begin: int, count: int, why: str) -> Array:
    """The numbers from offset `begin` on, which must be so many."""
    words = _WORD.findall(text.data, begin)
    # Looked at one by one only where something is wrong.
    if len(words) != count or not all(map(DECIMAL.fullmatch, words)):
        _refuse(text, begin, count, why)
    found = np.array([float(word) for word in words])
    if not np.isfinite(found).all():
        _refuse(text, begin, count, why)
    return found


def _refuse(text: Text, begin: int, count: int, why: str) -> NoReturn:
    """Raise the error of the first word at fault."""
    seen, last, at = 0, text.line_at(begin - 1), begin - 1
    for seen, match in enumerate(_WORD.finditer(text.data, begin), 1):
        # From the word before on: from the first byte it would take the square of the size.
        last, at = last + text.data.count(b"\n", at, match.start()), match.start()
        if seen > count:
            raise text.error(
                f"{why}, {count} numbers, but after them stands {quote(match[0])}; remove it or "
                "correct the header",
                last,
            )
        _number(text, match[0], last)
    raise text.error(
        f"{why}, {count} numbers, but the file ends after {seen}; it is truncated or the header is "
        "wrong",
        last,
    )


def _number(text: Text, word: bytes, line: int) -> float:
    if not DECIMAL.fullmatch(word):
        raise text.error(f"wanted a decimal number, got {quote(word)}; correct the line", line)
    value = float(word)
    if not math.isfinite(value):
        raise text.error(f"the number {quote(word)} overflows; scale all below 1e308", line)
    return value
