import gzip
import lzma
import os
import stat
from collections.abc import Iterator

import pytest

from condal.errors import FormatError
from condal.io import safe_files as regular
from condal.io.formats import text
from condal.io.formats.text import quote, read_text
from condal.io.formats.writing import write_text

PLAIN = b"2 1\n1 2\n"
BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("g", PLAIN),
        ("g.txt", BOM + PLAIN),
        ("g.gz", gzip.compress(PLAIN)),
        ("g.GZ", gzip.compress(BOM + PLAIN)),
        ("g", gzip.compress(PLAIN)),
        ("two-members.gz", gzip.compress(PLAIN[:4]) + gzip.compress(PLAIN[4:])),
        ("g.xz", lzma.compress(PLAIN)),
        ("g.txt", lzma.compress(PLAIN)),
        ("two-streams.xz", lzma.compress(PLAIN[:4]) + bytes(8) + lzma.compress(PLAIN[4:])),
        ("padded.xz", lzma.compress(PLAIN) + bytes(4)),
    ],
)
def test_reads_plain_and_packed(put, name, contents):
    path = put(contents, name)
    found = read_text(path)
    assert found.data == PLAIN
    assert found.path == str(path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_reads_many_chunks(put, monkeypatch, pack):
    monkeypatch.setattr(text, "CHUNK_BYTES", 7)
    contents = b"".join(b"%d %d\n" % (k, k * k) for k in range(300))
    assert read_text(put(pack(contents))).data == contents


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"", "is empty; wanted a graph"),
        (b" \r\n\n", "is empty; wanted a graph"),
        (BOM, "is empty"),
        (gzip.compress(b""), "is empty"),
        (b"2 1\n1 2\0\n", "line 2: holds a NUL byte"),
        (b"2 1\n\n1 \xe9\n", "line 3: byte 0xe9 is not UTF-8.*iconv"),
        ("2 1\n1 2\n".encode("utf-16"), "UTF-16 text; convert it with: iconv"),
        ("2 1\n1 2\n".encode("utf-16-be"), "NUL byte"),
        (b"\xfe\xff" + "2 1\n".encode("utf-16-be"), "UTF-16"),
        (b"BZh91AY&SY", "bunzip2; wanted plain, gzip or xz text"),
        (b"PK\x03\x04....", "zip archive; unpack it"),
        (b"\x28\xb5\x2f\xfd...", "zstd-compressed"),
        (gzip.compress(PLAIN)[:-8] + bytes(8), "truncated or damaged"),
        (gzip.compress(PLAIN)[:12] + b"\xff" * 20, "truncated or damaged"),
        (gzip.compress(PLAIN) + b"garbage", "truncated or damaged"),
        (lzma.compress(PLAIN) + b"garbage", "truncated or damaged"),
    ],
)
def test_refuses_contents(put, contents, message):
    path = put(contents)
    with pytest.raises(FormatError, match=message) as caught:
        read_text(path)
    assert caught.value.path == str(path)


@pytest.mark.parametrize(
    ("name", "contents"), [("g.gz", PLAIN), ("g.xz", gzip.compress(PLAIN)), ("g.gz", b"")]
)
def test_refuses_a_name_that_lies(put, name, contents):
    with pytest.raises(FormatError, match=r"the name says (gzip|xz), but the contents are not"):
        read_text(put(contents, name))


def test_small_files_may_pack_well(put):
    contents = b"9 0\n" + b"\n" * (8 << 20)
    assert read_text(put(lzma.compress(contents, preset=0), "g.xz")).data == contents


def test_refuses_plain_text_past_the_limit(put, monkeypatch):
    monkeypatch.setattr(regular, "MAX_BYTES", 7)
    with pytest.raises(FormatError, match="more than 7 bytes of text in a file of 8 bytes"):
        read_text(put(PLAIN))


def test_refuses_an_xz_header_that_asks_for_much_memory(put, monkeypatch):
    monkeypatch.setattr(text, "MAX_XZ_MEMORY", 1 << 20)
    with pytest.raises(FormatError, match="Memory usage limit"):
        read_text(put(lzma.compress(PLAIN)))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent", "cannot be read: No such file or directory; check the path"),
        ("a\0b", "cannot be read: .*embedded null"),
        ("x" * 300, "cannot be read: File name too long"),
    ],
)
def test_refuses_what_cannot_be_opened(tmp_path, name, message):
    with pytest.raises(FormatError, match=message):
        read_text(f"{tmp_path}/{name}")


def test_quotes_are_short_and_printable():
    assert quote(b" 1 2\r\n") == "'1 2'"
    assert quote(b"\x1b[31m\xff") == "'\\x1b[31m\\\\xff'"
    assert len(quote(b"9" * 10**6)) == 42


# What is written.


def broken(error: BaseException) -> Iterator[str]:
    yield "half"
    raise error


@pytest.mark.parametrize("name", ["g", "g.gz", "g.xz"])
def test_same_text_makes_same_bytes(tmp_path, name):
    path = tmp_path / name
    write_text(path, ["a\n", "b\n"])
    first = path.read_bytes()
    path.unlink()
    write_text(str(path), iter(["a\n", "b\n"]))
    assert path.read_bytes() == first
    assert read_text(path).data == b"a\nb\n"


@pytest.mark.parametrize("name", ["g", "g.gz", "g.xz"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError()])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, name, error):
    path = tmp_path / name
    path.write_text("old")
    with pytest.raises(type(error)):
        write_text(path, broken(error))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_reported_and_leaves_nothing(tmp_path):
    error = OSError(28, "No space left on device")
    with pytest.raises(FormatError, match="cannot be written: No space left on device; check"):
        write_text(tmp_path / "g", broken(error))
    assert not list(tmp_path.iterdir())


def test_permissions_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "g", ["x"])
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "g").stat().st_mode) == 0o640


def test_writes_through_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_text(tmp_path / "link", ["new"])
    assert (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "link").is_symlink()


def test_refuses_folders_pipes_and_missing_folders(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo"):
        with pytest.raises(FormatError, match="is not a regular file, so it is not overwritten"):
            write_text(path, ["x"])
    with pytest.raises(FormatError, match="cannot be written: No such file or directory"):
        write_text(tmp_path / "absent" / "g", ["x"])
    with pytest.raises(FormatError, match="cannot be written"):
        write_text("a\0b", ["x"])


def test_refuses_a_loop_of_links(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(FormatError, match="cannot be written"):
        write_text(loop, ["x"])
