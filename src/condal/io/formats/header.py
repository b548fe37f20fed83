"""What a header promises, checked against the file before anything is allocated."""

from __future__ import annotations

from dataclasses import dataclass

from condal.io.formats.text import Text, quote

MAX_VERTICES = 10**9
LEAST_CLAIM = 10**6


@dataclass(frozen=True)
class Layout:
    """What the header promises: m lines of `columns` numbers, indices in 1..n.

    `hint` ends the errors of a promise that is not kept.
    """

    n: int
    m: int
    noun: str
    columns: tuple[int, ...]
    integer: bool = False
    hint: str = ""

    @property
    def wanted(self) -> str:
        """The shape of a line, as an error shows it."""
        return " or ".join(f"'{' '.join('ijw'[:width])}'" for width in self.columns)


def read_count(text: Text, token: bytes, line: int, noun: str) -> int:
    """A count in a header: decimal digits alone."""
    if not token.isdigit() or len(token) > 18:
        raise text.error(
            f"the number of {noun} must be a whole number without sign, of at most 18"
            f" digits, got {quote(token)}; correct the header",
            line,
        )
    return int(token)


def most_claimed(size: int) -> int:
    """How many vertices, or rows, a header may claim with `size` bytes or numbers after it: those
    that are isolated need none, so a small file may have many, but not without end."""
    return max(LEAST_CLAIM, 16 * size)


def check_claims(
    text: Text, layout: Layout, start: int, line: int, *, size: int | None = None
) -> None:
    """Refuse, before anything is allocated, an n or m that the file is too small for: one of `size`
    bytes, those of the text unless that is a part of it."""
    size = len(text.data) if size is None else size
    if layout.n == 0:
        raise text.error(f"the header says 0 vertices; wanted at least 1{layout.hint}", line)
    if layout.n > MAX_VERTICES:
        raise text.error(
            f"the header says {layout.n} vertices, more than the {MAX_VERTICES} that can be read;"
            " check the header",
            line,
        )
    if layout.n > most_claimed(size):
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
