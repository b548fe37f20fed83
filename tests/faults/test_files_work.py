"""Long files with a fault at the end: it is named at the cost of reading them once.

A reader that goes back to the beginning at every line, or has two ways to match a run of digits,
takes hours for these.
"""

import contextlib
import gzip

import pytest

from condal.errors import FormatError
from condal.io.formats import arrays, numerals, text
from condal.runtime.meter import Cancelled, Deadline, Stopper
from readers import FORMATS
from readers.contents import BANNER

BY_NAME = {form.name: form for form in FORMATS}
LINES = 20_000
DIGITS = b"1" * 100_000
WORD = DIGITS + b"x"
BAD = b"1_0"


def numbered(line: bytes, count: int = LINES) -> bytes:
    """Return lines with the numbers from 1 in place of %d."""
    return b"".join(line.replace(b"%d", b"%d" % k) for k in range(1, count + 1))


# For each format: a head, lines, a faulty last line, and its number.
LONG = {
    "rudy": (b"30000 20001\n", b"%d 1 2\n", b"1 2 1_0\n", 2),
    "matrix market": (BANNER + b"30000 30000 20001\n", b"%d 1 2\n", b"2 1 1_0\n", 3),
    "metis": (b"20001 0\n", b"\n", b"1_0\n", 2),
    "edge list": (b"# a\n", b"%d 1 2\n", b"2 1 1_0\n", 2),
    "sdpa": (b"1\n1\n-30000\n1\n", b"1 1 %d %d 2\n", b"1 1 20001 20001 1_0\n", 5),
    "sdpa solution": (b"1\n", b"2 3 %d 1 2\n", b"2 3 1 1 1_0\n", 2),
    "qaplib": (b"200\n", b"%d\n", b"1_0\n", 2),
    "qaplib solution": (b"20001 5\n", b"%d\n", b"1_0\n", 2),
    "g2o": (
        b"",
        b"EDGE_SE2 0 %d 1 0 1 1 0 0 1 0 2\n",
        b"EDGE_SE2 0 1 1 0 1 1 0 0 1 0 1_0\n",
        1,
    ),
    "table": (b"x,y\n", b"%d,2\n", b"1,1_0\n", 2),
    "points": (b"", b"%d,2\n", b"1,1_0\n", 1),
    "ratings": (b"", b"%d,2,3\n", b"1,2,1_0\n", 1),
    "ratings matrix": (
        BANNER.replace(b"symmetric", b"general") + b"30000 2 20001\n",
        b"%d 1 2\n",
        b"2 1 1_0\n",
        3,
    ),
}
EXCEPT = {
    "sdpa result",  # it has no lines
    "sdplr factors",  # its blocks have no lines
}


def test_every_text_format_is_tried():
    texts = {form.name for form in FORMATS if form.text and not form.name.startswith("saved")}
    assert texts == set(LONG) | EXCEPT


@pytest.mark.parametrize("name", LONG)
def test_no_hang_on_a_fault_at_the_end(name, tmp_path):
    head, line, last, first = LONG[name]
    path = tmp_path / f"long{BY_NAME[name].suffix}"
    path.write_bytes(head + numbered(line) + last)
    with pytest.raises(FormatError) as caught:
        BY_NAME[name].read(path)
    assert caught.value.line == first + LINES


@pytest.mark.parametrize("word", [WORD, DIGITS + b"." + DIGITS + b"e" + WORD])
@pytest.mark.parametrize("name", [*LONG, *sorted(EXCEPT)])
def test_no_hang_on_a_long_word(name, word, tmp_path):
    form = BY_NAME[name]
    whole = form.files[0]
    last = whole.split()[-1]
    path = tmp_path / f"long{form.suffix}"
    for contents in (word + whole, word):  # where it may be a name, or a remark
        path.write_bytes(contents)
        with contextlib.suppress(FormatError):
            form.holds(form.read(path))
    path.write_bytes(whole.replace(last, word))
    with pytest.raises(FormatError):
        form.read(path)


class Impatient(Stopper):
    """Says stop from the fifth time on that it is asked."""

    asks = 0

    @property
    def stopped(self) -> bool:
        self.asks += 1
        return self.asks >= 5


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("name", LONG)
def test_reading_asks_whether_to_stop(name, pack, tmp_path, monkeypatch):
    monkeypatch.setattr(numerals, "BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr(text, "CHUNK_BYTES", 1 << 13 if pack is bytes else 1 << 10)
    head, line, last, _ = LONG[name]
    path = tmp_path / f"long{BY_NAME[name].suffix}"
    path.write_bytes(pack(head + numbered(line) + last))
    with Deadline(Impatient()).on(), pytest.raises(Cancelled):
        BY_NAME[name].read(path)


@pytest.mark.parametrize("name", ["arrays", "sparse array"])
def test_reading_an_archive_asks_whether_to_stop(name, tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 4)
    path = tmp_path / f"long{BY_NAME[name].suffix}"
    path.write_bytes(BY_NAME[name].files[0])
    with Deadline(Impatient()).on(), pytest.raises(Cancelled):
        BY_NAME[name].read(path)
