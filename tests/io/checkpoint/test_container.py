"""The file of a checkpoint: what is written is read, two generations of it, and nothing else is."""

import hashlib
import json
import os
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bits import names, same

import condal
from condal.errors import FormatError, ProblemError
from condal.io.checkpoint.file import read, read_about, write
from condal.io.container.array_file import LENGTHS, MAX_HEAD_BYTES
from condal.io.container.manifest import FORMAT_VERSION

MAGIC = b"condal checkpoint\n"


def value(k: int) -> dict[str, Any]:
    return {"k": k, "x": np.arange(4.0) + k, "U": np.asfortranarray(np.eye(2, 3)), "b": np.ones(1)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.checkpoint"


def test_what_is_written_is_read(path):
    write(path, {"k": 3, "name": "a \u2028 \ud800"}, value(3))
    found = read(path)
    assert found.about == {"k": 3, "name": "a \u2028 \ud800"}
    assert same(found.value, value(3))
    assert (found.generation, found.note) == (0, "")
    assert read_about(path) == found.about


def test_an_empty_value_is_one_too(path):
    for empty in (None, [], (), {}, np.zeros((0, 5)), np.zeros((3, 0), order="F"), np.array(2.0)):
        write(path, {}, empty)
        assert same(read(path).value, empty)


def test_the_layout_is_what_the_page_says(path):
    """docs/checkpoints.md, byte by byte."""
    write(path, {"k": 1}, [np.array([1.0, 2.0]), np.array([True])])
    data = path.read_bytes()
    assert data.startswith(b"condal checkpoint\n")
    number, length = LENGTHS.unpack(data[18:30])
    text, digest = data[30 : 30 + length], data[30 + length : 62 + length]
    arrays = data[62 + length :]
    assert number == FORMAT_VERSION == 2
    assert hashlib.sha256(data[: 30 + length]).digest() == digest
    assert arrays == np.array([1.0, 2.0], "<f8").tobytes() + b"\1"
    assert json.loads(text) == {
        "format": "condal checkpoint",
        "version": 2,
        "condal": condal.__version__,
        "about": {"k": 1},
        "skeleton": [{"array": 0}, {"array": 1}],
        "arrays": [
            {
                "dtype": "<f8",
                "shape": [2],
                "strides": [8],
                "sha256": hashlib.sha256(arrays[:16]).hexdigest(),
            },
            {
                "dtype": "|b1",
                "shape": [1],
                "strides": [1],
                "sha256": hashlib.sha256(b"\1").hexdigest(),
            },
        ],
    }


def test_two_generations_are_kept_and_no_more(path):
    for k in range(4):
        write(path, {"k": k}, value(k))
    assert names(path.parent) == ["run.checkpoint", "run.checkpoint.previous"]
    assert read(path).value["k"] == 3
    assert read(path.with_name("run.checkpoint.previous")).value["k"] == 2


@pytest.mark.parametrize("links", [True, False])
def test_the_old_one_is_kept_where_the_disk_has_no_links_too(path, links, monkeypatch):
    def refuse(*given):
        raise OSError(95, "Operation not supported")

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    for k in range(3):
        write(path, {"k": k}, value(k))
    assert names(path.parent) == ["run.checkpoint", "run.checkpoint.previous"]
    path.unlink()
    assert same(read(path).value, value(1))


def test_the_previous_one_is_read_where_the_last_is_absent_or_damaged(path):
    for k in range(2):
        write(path, {"k": k}, value(k))
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    found = read(path)
    assert (found.generation, found.value["k"], found.about["k"]) == (1, 0, 0)
    assert found.note == (
        f"{path} is damaged: {path}.previous, the checkpoint before it, was read instead"
    )
    assert read_about(path) == {"k": 0}
    path.unlink()
    assert read(path).note == (
        f"{path} is not there: {path}.previous, the checkpoint before it, was read instead"
    )


def test_a_damaged_one_never_takes_the_place_of_a_good_one_before_there_is_a_new_one(
    path, monkeypatch
):
    for k in range(2):
        write(path, {"k": k}, value(k))
    path.write_bytes(b"\0" * 100)
    steps = []
    real = Path.replace

    def watched(self, target):
        made = real(self, target)
        steps.append(read(path).value["k"])
        return made

    monkeypatch.setattr(Path, "replace", watched)
    write(path, {"k": 2}, value(2))
    assert steps == [2, 2]


def test_where_there_is_none_the_path_is_named(path):
    with pytest.raises(FormatError, match=r"run.checkpoint: there is no such file; check the path"):
        read(path)


def test_where_both_are_damaged_both_are_named(path):
    for k in range(2):
        write(path, {"k": k}, value(k))
    for name in (path, path.with_name("run.checkpoint.previous")):
        name.write_bytes(b"condal checkpoint\n")
    with pytest.raises(FormatError) as caught:
        read(path)
    assert str(caught.value) == (
        f"{path}: is damaged or not a condal checkpoint (it ends too early); give another, or "
        f"solve again; and the one before it: {path}.previous: is damaged or not a condal "
        "checkpoint (it ends too early); give another, or solve again"
    )


def remade(path: Path, **changes: Any) -> None:
    """The file with another header, its digest made to fit."""
    data = path.read_bytes()
    begin = len(MAGIC) + LENGTHS.size
    number, length = LENGTHS.unpack(data[len(MAGIC) : begin])
    header = json.loads(data[begin : begin + length]) | changes
    text = json.dumps({k: v for k, v in header.items() if v is not ...}).encode()
    head = MAGIC + LENGTHS.pack(number, len(text)) + text
    path.write_bytes(head + hashlib.sha256(head).digest() + data[begin + length + 32 :])


def entry(**changes: Any) -> list[Any]:
    digest = hashlib.sha256(np.ones(2).tobytes()).hexdigest()
    return [{"dtype": "<f8", "shape": [2], "strides": [8], "sha256": digest} | changes]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"arrays": entry(shape=[10**12])}, "longer than the file"),
        ({"arrays": entry(shape=[10**12, 0], strides=[8, 8])}, "strides of an array do not match"),
        ({"arrays": entry(shape=[10**12, 0], strides=[0, 8])}, "16 bytes that belong to nothing"),
        ({"arrays": entry(shape=[2**60])}, "an invalid shape"),
        ({"arrays": entry(shape=[-2])}, "an invalid shape"),
        ({"arrays": entry(shape=[2.0])}, "an invalid shape"),
        ({"arrays": entry(shape=[True, 2])}, "an invalid shape"),
        ({"arrays": entry(shape=2)}, "an invalid shape"),
        ({"arrays": entry(shape=[1] * 33 + [2], strides=[8] * 34)}, "an invalid shape"),
        ({"arrays": entry(shape=[1])}, "8 bytes that belong to nothing"),
        ({"arrays": entry(dtype="|O")}, "a dtype that no checkpoint has"),
        ({"arrays": entry(dtype="<f8,<f8")}, "a dtype that no checkpoint has"),
        ({"arrays": entry(dtype=["<f8"])}, "a dtype that no checkpoint has"),
        ({"arrays": entry(strides=[16])}, "strides of an array do not match its shape"),
        ({"arrays": entry(strides=[-8])}, "strides of an array do not match its shape"),
        ({"arrays": entry(strides=[0])}, "strides of an array do not match its shape"),
        ({"arrays": entry(strides=[8, 8])}, "strides of an array do not match its shape"),
        ({"arrays": entry(strides=8)}, "strides of an array do not match its shape"),
        ({"arrays": entry(sha256="0" * 64)}, "an array does not match its SHA-256"),
        ({"arrays": entry(sha256=None)}, "an array does not match its SHA-256"),
        ({"arrays": entry(more=1)}, "has other fields"),
        ({"arrays": entry() * 2}, "longer than the file"),
        ({"arrays": []}, "16 bytes that belong to nothing"),
        ({"arrays": {}}, "no table of arrays"),
        ({"arrays": [1]}, "has other fields"),
        ({"arrays": ...}, "its header has other keys"),
        ({"more": 1}, "its header has other keys"),
        ({"about": []}, "does not say what it is about"),
        ({"skeleton": None}, "an array belongs to nothing"),
        ({"skeleton": {"instance": ["os.system", {}]}}, "condal has no class 'os.system'"),
        ({"skeleton": [{"array": 1}]}, "no such array"),
    ],
)
def test_a_header_that_fits_its_digest_but_not_its_file_is_refused(path, changes, why):
    write(path, {}, [np.ones(2)])
    remade(path, **changes)
    with pytest.raises(FormatError, match=re.escape(why)):
        read(path)


EMPTY = (
    b'{"format":"condal checkpoint","version":2,"condal":"0.1.0",'
    b'"about":{},"skeleton":null,"arrays":[]}'
)


def headed(text: bytes, *, number: int = FORMAT_VERSION, length: int | None = None) -> bytes:
    head = MAGIC + LENGTHS.pack(number, len(text) if length is None else length) + text
    return head + hashlib.sha256(head).digest()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it does not begin as one"),
        (MAGIC, "it ends too early"),
        (pickle.dumps({"x": np.ones(3)}), "it does not begin as one"),
        (b"\x93NUMPY\x01\x00", "it does not begin as one"),
        (MAGIC + pickle.dumps(print), "its header would have"),
        (headed(pickle.dumps(print)), "ordinal not in range"),
        (headed(b"{}"), "its header has other keys"),
        (headed(b"[]"), "wanted an object"),
        (headed(b""), "Expecting value"),
        (headed(b"{}", length=10**12), "would have 1000000000000 bytes, of a file of 64"),
        (headed(b"{}", length=2**64 - 1), "its header would have"),
        (headed(EMPTY) + b"\0", "belong to nothing"),
        (headed(EMPTY.replace(b"checkpoint", b"result")), "its header has other keys"),
    ],
)
def test_what_is_no_checkpoint_is_refused_before_anything_is_made_of_it(path, data, why):
    path.write_bytes(data)
    with pytest.raises(FormatError, match=re.escape(why)) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: is ")
    assert "or solve again" in str(caught.value)
    with pytest.raises(FormatError):
        read_about(path)


@pytest.mark.parametrize(
    ("number", "text", "writer"),
    [
        (1, b'{"condal":"0.1.0","skeleton":null,"arrays":[]}', "0.1.0"),
        (3, b'{"format":"condal checkpoint","version":3,"condal":"9.1","more":[]}', "9.1"),
        (1, b'{"condal":"\\u001b[1m"}', r"'\x1b[1m'"),
    ],
)
def test_a_checkpoint_of_another_format_is_refused_by_its_writer(path, number, text, writer):
    head = b"condal checkpoint\n" + number.to_bytes(4, "little") + len(text).to_bytes(8, "little")
    path.write_bytes(head + text + hashlib.sha256(head + text).digest())
    for reader in (read, read_about):
        with pytest.raises(FormatError) as caught:
            reader(path)
        assert str(caught.value) == (
            f"{path}: was written by condal {writer} in format {number}; this version reads format "
            f"2: solve again, or use condal {writer} to resume"
        )


def test_a_checkpoint_of_another_format_is_not_passed_over_for_the_one_before(path):
    for k in range(2):
        write(path, {"k": k}, value(k))
    path.write_bytes(headed(b"{}", number=1))
    with pytest.raises(FormatError, match="written by condal of an unknown version in format 1"):
        read(path)


def test_a_truth_value_is_0_or_1(path):
    write(path, {}, np.ones(2, bool))
    data = bytearray(path.read_bytes())
    data[-1] = 2
    path.write_bytes(bytes(data))
    first = json.loads(data[30:-34])["arrays"][0]
    remade(path, arrays=[first | {"sha256": hashlib.sha256(b"\1\2").hexdigest()}])
    with pytest.raises(FormatError, match="a truth value is neither 0 nor 1"):
        read(path)


@pytest.mark.parametrize("verb", [read, read_about, lambda path: write(path, {}, None)])
@pytest.mark.parametrize("kind", ["link", "dangling link", "folder", "pipe"])
def test_what_is_no_regular_file_is_refused(path, kind, verb):
    other = path.with_name("other")
    if kind == "link":
        write(other, {}, None)
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(other)
    wanted = f"run.checkpoint: is a {kind.split()[-1]}; wanted a regular file: give the path of one"
    with pytest.raises(FormatError, match=wanted):
        verb(path)
    assert not list(path.parent.glob("*.previous"))


def test_a_previous_one_that_is_no_regular_file_is_refused(path):
    os.mkfifo(path.with_name("run.checkpoint.previous"))
    with pytest.raises(FormatError, match=r"run.checkpoint.previous: is a pipe; wanted a regular"):
        read(path)


def test_a_path_through_other_folders_is_one_checkpoint(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a", target_is_directory=True)
    monkeypatch.chdir(tmp_path / "a")
    for k, name in enumerate(("run", "../a/run", str(tmp_path / "link" / "run"), b"./run")):
        write(name, {"k": k}, None)
    assert names(tmp_path / "a") == ["run", "run.previous"]
    assert names(tmp_path) == ["a", "link"]
    assert read("run").about == {"k": 3}


@pytest.mark.parametrize("name", ["", ".", "..", "a/..", "/"])
def test_a_path_without_a_name_is_refused(name):
    with pytest.raises(FormatError, match="is not a file name; give one, such as"):
        write(name, {}, None)


def test_a_path_with_a_null_in_it_is_refused():
    with pytest.raises(FormatError, match=r"is not a path of a file: .*null"):
        write("a\0b", {}, None)


def test_about_must_be_plain(path):
    for about in ({"a": np.ones(1)}, {"a": float("nan")}, {"a": {1, 2}}):
        with pytest.raises(ProblemError, match="what it is about is not plain JSON"):
            write(path, about, None)
    assert names(path.parent) == []


def test_a_value_that_cannot_be_kept_leaves_what_is_there(path):
    write(path, {"k": 0}, value(0))
    with pytest.raises(ProblemError, match="no checkpoint can be made of"):
        write(path, {"k": 1}, object())
    assert read(path).about == {"k": 0}
    assert names(path.parent) == ["run.checkpoint"]


def test_a_header_of_too_many_parts_is_refused(path, monkeypatch):
    monkeypatch.setattr("condal.io.container.array_file.MAX_HEAD_BYTES", 100)
    with pytest.raises(ProblemError, match=r"its header would have .* bytes, and the limit is 100"):
        write(path, {}, [0.5] * 100)
    assert MAX_HEAD_BYTES > 1 << 20
