"""Files that went wrong: right ones damaged, two spliced, text of right words, and any bytes."""

import re

from hypothesis import strategies as st

from readers.archives import changed
from readers.format import Format

# What readers trip over.
TRAPS: dict[str, list[bytes]] = {
    "signs": [b"0", b"-0", b"00", b"-1", b"+1"],
    "parts of numbers": [b"1.5", b".5", b"5.", b".", b"-", b"1e", b"e5"],
    "beyond doubles": [b"1e999", b"-1e999", b"1e-999", b"1e308", b"nan", b"-inf", b"Infinity"],
    "as others write them": [b"1D3", b"1d0", b"1q2", b"0x10", b"1_0", b"1,5"],
    "limits of 32 bits": [b"2147483647", b"2147483648", b"4294967296"],
    "limits of 64 bits": [b"%d" % (2**63 - 1), b"%d" % 2**63, b"%d" % 2**64],
    "large claims": [b"1000000", b"1000000000000"],
    "many digits": [b"9" * 40, b"9" * 400, b"1" * 5000, b"0." + b"1" * 999],
    "digits of other scripts": ["\u0663".encode(), "\u00bd".encode()],
    "nothing in quotes": [b"''", b'""'],
    "for another program": [b"=1+2", b"@SUM(A1)", b"<script>", b"../x", b"%n"],
    "marks": [b"#", b"%", b"*", b'"', b"{", b"}", b"::", b";", b","],
    "blanks": [b"\t", b"\r", b"\r\n", b"\n\n", b"\x0b", b"\x0c", b"\x1c"],
    "no text": [b"\x00", b"\xff"],
    "blanks of other scripts": ["\u2028".encode(), "\u0085".encode(), "\ufeff".encode()],
    "lengths": [b"\x80" * 4, b"\xff\xff\xff\x7f", b"\xff" * 8],
    "JSON": [b"true", b"null", b"[[", b"{}", b"\\ud800"],
    "headers of NumPy": [b"|O", b"|V8", b"<U9", b"(1<<40,)"],
}
NASTY = [word for words in TRAPS.values() for word in words]
_NUMBER = re.compile(rb"[-+.\w]*\d[-+.\w]*")


@st.composite
def damaged(draw: st.DrawFn, form: Format) -> bytes:
    """A right file after a few accidents."""
    contents = bytearray(draw(st.sampled_from(form.files)))
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3, 4]))):
        # Only an archive has members.
        known = [name for name in _ACCIDENTS if name != "member" or contents.startswith(b"PK")]
        contents = bytearray(_ACCIDENTS[draw(st.sampled_from(known))](draw, contents))
    return bytes(contents)


@st.composite
def spliced(draw: st.DrawFn, form: Format, others: list[bytes]) -> bytes:
    """The beginning of one file, and the end of another, of any format."""
    first, second = draw(st.sampled_from(form.files)), draw(st.sampled_from(others))
    return first[: draw(st.integers(0, len(first)))] + second[draw(st.integers(0, len(second))) :]


def worded(form: Format) -> st.SearchStrategy[bytes]:
    """Text of the words that stand in right files, and of others."""
    words = sorted({word for file in form.files for word in re.findall(rb"\S+", file)})[:60]
    pieces = st.sampled_from([*words, b" ", b" ", b"\n", b"\n", b"1", b"2"]) | st.sampled_from(
        NASTY
    )
    return st.lists(pieces, max_size=40).map(b"".join)


def any_file(form: Format, others: list[bytes]) -> st.SearchStrategy[bytes]:
    """All of these."""
    return st.one_of(
        damaged(form),
        damaged(form),
        spliced(form, others),
        worded(form),
        st.binary(max_size=200),
    )


def _place(draw: st.DrawFn, contents: bytearray) -> int:
    return draw(st.integers(0, max(len(contents) - 1, 0)))


def _flip(draw: st.DrawFn, contents: bytearray) -> bytes:
    if contents:
        contents[_place(draw, contents)] = draw(st.integers(0, 255))
    return bytes(contents)


def _cut(draw: st.DrawFn, contents: bytearray) -> bytes:
    return bytes(contents[: _place(draw, contents)])


def _insert(draw: st.DrawFn, contents: bytearray) -> bytes:
    at = _place(draw, contents)
    return bytes(contents[:at] + draw(st.sampled_from(NASTY)) + contents[at:])


def _other_number(draw: st.DrawFn, contents: bytearray) -> bytes:
    found = [match.span() for match in _NUMBER.finditer(contents)]
    if not found:
        return bytes(contents)
    begin, end = draw(st.sampled_from(found))
    return bytes(contents[:begin] + draw(st.sampled_from(NASTY)) + contents[end:])


def _lines(draw: st.DrawFn, contents: bytearray) -> bytes:
    """A line is lost, or stands twice, or two change places."""
    lines = bytes(contents).split(b"\n")
    i, j = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    kind = draw(st.integers(0, 2))
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(j, lines[i])
    else:
        lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def _member(draw: st.DrawFn, contents: bytearray) -> bytes:
    """One of the others in a member of an archive."""
    kind = draw(st.sampled_from([_flip, _cut, _insert, _other_number]))
    which = draw(st.integers(0, 7))
    made = changed(bytes(contents), which, lambda data: kind(draw, bytearray(data)))
    return bytes(contents) if made is None else made


_ACCIDENTS = {
    "member": _member,
    "flip": _flip,
    "cut": _cut,
    "insert": _insert,
    "number": _other_number,
    "lines": _lines,
}
