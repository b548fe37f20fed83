"""Every format that is read, with every fault of files.

What is right for a fault of a format is said in text_cells.py and binary_cells.py; faults that are
made of any right file are made here.
"""

import copy
import gzip
import io
import lzma
import os
import pickle
import re
import warnings
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from cell import FAULTS, NoSuchThing, Read, Refused
from cells import CELLS

from condal.errors import FormatError
from readers import FORMATS, holding
from readers.contents import W, claiming, csr, mat, npy, npz
from readers.oracle import judged

BY_NAME = {form.name: form for form in FORMATS}
TEXTS = [form for form in FORMATS if form.text]
PACKED = [form for form in FORMATS if form.packed]
ON_DISK = [form for form in FORMATS if not form.name.startswith("saved")]  # and not in a result
BOM = "\ufeff".encode()
BOMB = 20 << 20  # bytes, which compress to a few thousand
# Only files exactly as condal wrote them; blanks in JSON do not matter.
STRICT = {("saved history.csv", b"k,o"), ("saved history.csv", BOM), ("saved result.json", BOM)}


def put(folder: Path, form, contents: bytes, suffix: str = "") -> Path:
    path = folder / f"given{form.suffix}{suffix}"
    path.write_bytes(contents)
    return path


def refused(form, path: Path, text: str, line: int | None = None) -> FormatError:
    """Return the error, which must be a FormatError that names the file and the line."""
    assert judged(form, path) is None
    with pytest.raises(FormatError, match=text) as caught:
        form.read(path)
    assert caught.value.line == line
    if line is not None:
        assert f", line {line}: " in str(caught.value)
    return caught.value


def same(form, path: Path, other: Path) -> None:
    first, second = judged(form, path), judged(form, other)
    assert first is not None
    assert second is not None
    assert holding.alike(first, second)


# The list of faults; all formats are tried with them.


@pytest.mark.parametrize("form", FORMATS, ids=repr)
def test_every_fault_has_its_right_behaviour(form):
    assert set(CELLS[form.name]) == set(FAULTS)


LISTED = [(fault, name) for fault in FAULTS for name in CELLS]


@pytest.mark.parametrize(
    ("fault", "name"),
    [cell for cell in LISTED if not isinstance(CELLS[cell[1]][cell[0]], NoSuchThing)],
)
def test_files_with(fault, name, tmp_path):
    """Trailing garbage; bad banner; 0-based index; lower-triangle entries; off-diagonal entry in a
    diagonal block; duplicates; count mismatch; a header that claims 10^12 rows; 1e999; nan;
    D-exponents."""
    form, cell = BY_NAME[name], CELLS[name][fault]
    path = put(tmp_path, form, cell.contents)
    if isinstance(cell, Refused):
        refused(form, path, cell.text, cell.line)
        return
    assert isinstance(cell, Read)
    (tmp_path / "like").mkdir()
    same(form, path, put(tmp_path / "like", form, cell.like))


# Faults that can be made from any valid file.


@pytest.mark.parametrize("form", FORMATS, ids=repr)
def test_truncated_at_every_cut(form, tmp_path):
    whole, read = form.files[0], []
    saved = form.name.startswith("saved")  # which is longer, and takes longer
    for length in range(0, len(whole), 29 if saved else 1):
        path = put(tmp_path, form, whole[:length])
        try:
            form.holds(form.read(path))
        except FormatError:
            continue
        read.append(length)
    assert min(read, default=form.told) >= form.told


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
@pytest.mark.parametrize("form", PACKED, ids=repr)
def test_truncated_when_packed(form, pack, tmp_path):
    suffix = ".gz" if pack is gzip.compress else ".xz"
    whole = pack(form.files[0])
    same(form, put(tmp_path, form, whole, suffix), put(tmp_path, form, form.files[0]))
    for length in {*range(0, len(whole), 7), len(whole) - 1}:
        path = put(tmp_path, form, whole[:length], suffix)
        with pytest.raises(FormatError, match=r"truncated or damaged|the contents are not"):
            form.read(path)


@pytest.mark.parametrize("form", TEXTS, ids=repr)
def test_crlf_and_bom(form, tmp_path):
    whole = form.files[0]
    plain = put(tmp_path, form, whole)
    expected = form.read(plain)
    for contents in (whole.replace(b"\n", b"\r\n"), BOM + whole):
        path = put(tmp_path, form, contents)
        if (form.name, contents[:3]) in STRICT:
            refused(form, path, "is not JSON that condal wrote|wanted the columns")
        else:
            assert holding.alike(judged(form, path), expected)


@pytest.mark.parametrize("form", [form for form in FORMATS if not form.text], ids=repr)
def test_bom_before_what_is_no_text(form, tmp_path):
    path = put(tmp_path, form, BOM + form.files[0])
    refused(form, path, "is not an array|is not a .npz file|is not a MATLAB file|damaged")


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: lzma.compress(data, preset=0)])
@pytest.mark.parametrize("form", PACKED, ids=repr)
def test_gzip_and_xz_bomb(form, pack, tmp_path):
    """The data after the valid contents exceed what a file of that size may hold."""
    whole = pack(form.files[0]) + pack(b"\n" * BOMB)
    refused(form, put(tmp_path, form, whole), "the most that is read; unpack it by hand")


@pytest.mark.parametrize("name", ["arrays", "saved x.npz", "saved picture.npz", "sparse array"])
def test_bomb_of_an_archive(name, tmp_path):
    """Arrays of zeros, each small enough, that share their bytes; or a single one."""
    form = BY_NAME[name]
    text = "unpacks to .* in a file of .*, more than is read; save them with numpy.savez, uncompr"
    if name != "sparse array":
        refused(form, put(tmp_path, form, sharing(np.zeros(1 << 20, bool), 30)), text)
    bomb = csr(packed=True, indptr=np.zeros(BOMB, bool), indices=np.zeros(BOMB, bool))
    refused(form, put(tmp_path, form, bomb), text)


def test_a_sparse_array_of_many_entries_that_are_the_same(tmp_path):
    """They compress well, but not suspiciously so: the numbers are counted before unpacking."""
    form, many = BY_NAME["sparse array"], np.zeros(4 << 20, np.int8)
    path = put(tmp_path, form, csr(packed=True, indices=many, data=many))
    refused(form, path, "indices has 4194304 numbers, more than the 1000001 .*compressed=False")


def sharing(array, times):
    """Return an archive with `times` members that share the bytes of one."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a0.npy", npy(array))
        first = archive.filelist[0]
        for i in range(1, times):
            other = copy.copy(first)
            other.filename = f"a{i}.npy"
            archive.filelist.append(other)
    return stream.getvalue()


def test_bomb_of_a_matlab_file(tmp_path):
    zeros = np.zeros((2, BOMB // 16))
    path = put(tmp_path, BY_NAME["sedumi"], mat(A=zeros, packed=True))
    refused(
        BY_NAME["sedumi"], path, "a packed part is truncated, or larger than what is read; fetch it"
    )


@pytest.mark.parametrize(
    ("contents", "text"),
    [
        (claiming((0, 2**59)), "0 bytes, but 0 follow; the file is truncated"),
        (claiming((10**20,)), "is not an array as numpy.save writes it"),
        (claiming((10**17,) * 40), "says 40 dimensions; wanted at most 32"),
        (claiming((1,), "<f16", bytes(16)), "holds float128, of more digits than are computed|f16"),
        (b"\x93NUMPY\x09\x00", "is not an array as numpy.save writes it"),
        (npy(W).replace(b"}", b"("), "is not an array as numpy.save writes it"),
        (npy(W).replace(b"'shape'", b"b'shap'"), "is not an array as numpy.save writes it"),
        (npy(W).replace(b"(3, 3), }", b"(1<<40,)}"), "is not an array as numpy.save writes it"),
        (claiming((2**40,), "<U0"), "holds <U0, not numbers; objects are not read"),
        (claiming((1,), "<f3", bytes(3)), "is not an array as numpy.save writes it"),
        (npy(W).replace(b"'<f8'", b"3.00j"), "is not an array as numpy.save writes it"),
        (npy(W).replace(b"(3, 3)", b"(3L,3)"), "is not an array as numpy.save writes it"),
        (npy(W).replace(b"(3, 3)", b"(-3,3)"), "is not an array as numpy.save writes it"),
        (claiming((-3, -3), data=bytes(72)), "is not an array as numpy.save writes it"),
        (claiming((True, 9), data=bytes(72)), "is not an array as numpy.save writes it"),
        (
            npy(W).replace(b"\x01\x00v\x00", b"\x03\x00v\x00"),
            "is not an array as numpy.save writes",
        ),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + npy(W), "is not an array as numpy.save writes it"),
    ],
)
def test_headers_that_lie_about_an_array(contents, text, tmp_path):
    form = BY_NAME["array"]
    refused(form, put(tmp_path, form, contents), text)


def zipped(members, kind=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", kind) as archive:
        for name, contents in members:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of two of one name
                archive.writestr(name, contents)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("contents", "text"),
    [
        (zipped([("../b.npy", npy(W))]), "holds '../b.npy'; wanted only arrays, as numpy.savez"),
        (zipped([("/b.npy", npy(W))]), "holds '/b.npy'; wanted only arrays"),
        (zipped([("b.txt", b"1")]), "holds 'b.txt'; wanted only arrays"),
        (zipped([("b.npy", b"no array")]), "b.npy: is not an array as numpy.save writes it"),
        (zipped([(f"b{i}.npy", b"") for i in range(65)]), "holds 65 files; wanted a few arrays"),
        (zipped([("b.npy", npy(W))] * 2), "holds two arrays of one name; save each once"),
        (zipped([("b.npy", npy(W)[:-8])]), "b.npy: .* 72 bytes, but 64 follow"),
        (zipped([("b.npy", claiming((10**12,)))]), "b.npy: .* 8000000000000 bytes, but 0 follow"),
        (zipped([("b.npy", npy(W))], zipfile.ZIP_LZMA), "b.npy is packed in a way that numpy.sav"),
        (zipped([("b.npy", npy(W))], zipfile.ZIP_BZIP2), "b.npy is packed in a way that numpy"),
        (zipped([("\n" * 60 + ".npy", b"")]), r"^.{0,200}(\\n){40}: is not an array"),
    ],
)
def test_archives_with(contents, text, tmp_path):
    """`../`, duplicates, count mismatch, a claim of 10^12 rows, and other ways to pack."""
    form = BY_NAME["arrays"]
    refused(form, put(tmp_path, form, contents), text)


class Payload:
    """An object whose unpickling creates a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (Path(self.path),))


@pytest.mark.parametrize("form", FORMATS, ids=repr)
def test_pickle_payload(form, tmp_path):
    trap = tmp_path / "sprung"
    objects = np.array([Payload(trap)], dtype=object)
    for contents in (
        pickle.dumps(Payload(trap)),
        pickle.dumps(Payload(trap), protocol=0),
        npy(objects, allow_pickle=True),
        npz(a=objects, U=objects, weights=objects, b=objects),
        csr(data=objects),
        csr(format=objects),
        zlib.compress(pickle.dumps(Payload(trap))),
    ):
        path = put(tmp_path, form, contents)
        assert judged(form, path) is None
    assert not trap.exists()


@pytest.mark.parametrize("form", ON_DISK, ids=repr)
def test_symlink(form, tmp_path):
    """A link to a file is followed; a link to itself is refused."""
    path = put(tmp_path, form, form.files[0])
    link, loop = tmp_path / f"link{form.suffix}", tmp_path / f"loop{form.suffix}"
    link.symlink_to(path)
    loop.symlink_to(loop)
    same(form, link, path)
    refused(form, loop, "cannot be read: Too many levels of symbolic links; check the path")


@pytest.mark.parametrize("form", ON_DISK, ids=repr)
def test_fifo_and_folder(form, tmp_path):
    fifo = tmp_path / f"fifo{form.suffix}"
    os.mkfifo(fifo)
    refused(form, fifo, "is a pipe; wanted a regular file: give the path of one")
    refused(form, tmp_path, "is a folder; wanted a regular file")
    refused(form, Path("/dev/null"), "is a device; wanted a regular file")


@pytest.mark.parametrize("form", TEXTS, ids=repr)
def test_one_long_word_among_many_short_ones(form, tmp_path):
    """Memory is proportional to the file size, not to the longest word times their number."""
    many, long = b"1 " * 20_000, b"1" * 20_000
    for contents in (many + long, form.files[0] + many + long, many.replace(b" ", b"\n") + long):
        judged(form, put(tmp_path, form, contents))


@pytest.mark.parametrize("name", ["table", "points", "ratings", "edge list"])
@pytest.mark.parametrize("formula", [b"=1+2", b"@SUM(A1)", b"+cmd|' /C calc'!A0", b"-1+2"])
def test_a_formula_in_a_csv_cell(name, formula, tmp_path):
    """The text is not a number: it is refused with its line, and never evaluated."""
    form = BY_NAME[name]
    lines = [b"1,2,3", b"4,5," + formula, b"7,8,9"]
    path = put(tmp_path, form, b"\n".join(lines))
    text = f"wanted finite decimal numbers, but column 3 is .{re.escape(formula.decode()[:4])}"
    refused(form, path, text, 2)


def test_names_of_columns_may_be_formulas_and_stay_text(tmp_path):
    form = BY_NAME["table"]
    table = judged(form, put(tmp_path, form, b"=1+2,@x\n1,2\n"))
    assert table.names == ("=1+2", "@x")
