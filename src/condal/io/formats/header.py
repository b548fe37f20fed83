"""The counts that a header claims, checked against the file before anything is allocated."""

from __future__ import annotations

from dataclasses import dataclass

from condal.io.formats.numerals import is_count
from condal.io.formats.text import Text, quote

MAX_VERTICES = 10**9
ALWAYS_ALLOWED = 10**6  # vertices, or rows, that a file of any size may claim


@dataclass(frozen=True)
class Layout:
    """The claim of a header: m lines of `columns` numbers, with indices in 1..n.

    `hint` ends the message of an error about a false claim.
    """

    n: int
    m: int
    noun: str
    columns: tuple[int, ...]
    integer: bool = False
    hint: str = ""

    @property
    def wanted(self) -> str:
        """The shape of a line, for error messages."""
        return " or ".join(f"'{' '.join('ijw'[:width])}'" for width in self.columns)


def read_count(text: Text, token: bytes, line: int, noun: str, *, hint: str = "") -> int:
    """Return a count from a header, which must consist of digits; `hint` ends the error."""
    if not is_count(token):
        raise text.error(
            f"the number of {noun} must be a whole number without sign, of at most 18"
            f" digits, got {quote(token)}; correct the header{hint}",
            line,
        )
    return int(token)


def max_claim(size: int) -> int:
    """Return how many vertices, or rows, a header may claim before `size` bytes or numbers.

    Isolated vertices need no bytes, so a small file may have many, within limits.
    """
    return max(ALWAYS_ALLOWED, 16 * size)


def check_claims(
    text: Text, layout: Layout, start: int, line: int, *, size: int | None = None
) -> None:
    """Refuse an n or m that the file is too small for, before anything is allocated.

    `size` is the number of bytes of the whole file if `text` is only a part of it.
    """
    size = len(text.data) if size is None else size
    if layout.n == 0:
        raise text.error(f"the header says 0 vertices; wanted at least 1{layout.hint}", line)
    if layout.n > MAX_VERTICES:
        raise text.error(
            f"the header says {layout.n} vertices, more than the {MAX_VERTICES} that can be read;"
            " check the header",
            line,
        )
    if layout.n > max_claim(size):
        raise text.error(
            f"the header says {layout.n} vertices, but the text has only {size} bytes;"
            " check the header, or number the vertices without gaps",
            line,
        )
    # A line is at least '1 1' and its end; the last may lack the end.
    most = (size - start + 1) // (2 * min(layout.columns))
    if layout.m > most:
        raise text.error(
            f"the header says {layout.m} {layout.noun}, but the {size - start} bytes"
            f" after it can hold at most {most}; the file is truncated or the header is wrong"
            f"{layout.hint}",
            line,
        )
