"""Folders that are not what they say are refused by name: never unpickled, followed, believed."""

import json

import numpy as np
import pytest

import condal
from condal.errors import FormatError
from condal.io.results import load, save
from forging import rewrite
from readers.contents import npy, npz

FILES = ["history.csv", "picture.npz", "result.json", "x.npz", "y.npy"]


@pytest.fixture(scope="module")
def result():
    return condal.solve(condal.problems.max_cut(np.ones((4, 4)) - np.eye(4)))


@pytest.fixture
def folder(result, tmp_path):
    return save(result, tmp_path / "run", picture={"a": np.ones(3)}, settings={"tol": 1e-3})


def refused(folder, text):
    with pytest.raises(FormatError, match=text):
        load(folder)


def test_the_folder_is_whole(folder):
    assert sorted(path.name for path in folder.iterdir()) == ["README.txt", *FILES]
    assert load(folder).result.status is condal.Status.SOLVED
    (folder / "README.txt").unlink()
    (folder / "page.html").write_text("of somebody's")
    load(folder)


@pytest.mark.parametrize("name", ["x.npz", "y.npy", "history.csv", "picture.npz"])
def test_a_file_that_was_changed(folder, name):
    data = bytearray((folder / name).read_bytes())
    data[-1] ^= 1
    (folder / name).write_bytes(data)
    refused(folder, f"{name}: is not what result.json says: it was changed after it was saved")
    (folder / name).write_bytes(data[:-1])
    refused(folder, f"{name}: is not what result.json says")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"status": "solved"', '"status": "stalled"'),
        ('"tol": 0.001', '"tol": 0.01'),
        ('"reason": ""', '"reason": "the very best"'),
        ('"seconds": ', '"seconds": 1'),
    ],
)
def test_a_record_that_was_changed(folder, old, new):
    path = folder / "result.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    refused(folder, "result.json: was changed after it was saved")
    path.write_text(json.dumps(json.loads(text)))  # other blanks, and nothing else
    load(folder)


def test_what_is_no_folder(folder, tmp_path):
    refused(tmp_path / "absent", "absent: there is no such file or folder$")
    refused(folder / "y.npy", "y.npy: is not a folder")
    refused(tmp_path, "result.json: cannot be read: No such file")
    refused("bad\0name", "there is no such file or folder")


def without(*path):
    def change(record):
        for name in path[:-1]:
            record = record[name]
        del record[path[-1]]

    return change


def put(value, *path):
    def change(record):
        for name in path[:-1]:
            record = record[name]
        record[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (put("other", "format"), "is not the manifest of a condal result"),
        (put(3, "version"), "in format 3; this version reads format 2: solve and save again, or"),
        (put(1, "version"), r"written by condal \S+ in format 1; .*, or use condal \S+ to read it"),
        (put(1, "more"), "has a field 'more', which no result has"),
        (without("why"), "has no why; save the result again"),
        (put("fine", "status"), 'status is "fine"; wanted one of solved, infeasible'),
        (put("x", "certificate", "bound"), r'certificate.bound is "x"; wanted a number'),
        (put(True, "certificate", "bound"), "certificate.bound is true; wanted a number"),
        (put(0, "certificate", "unit"), "certificate.unit is 0; wanted a positive number"),
        (put(10**400, "certificate", "objective"), "certificate.objective is 1000"),
        (without("certificate", "how"), "has no certificate.how"),
        (put(-1, "work", "matvecs"), "work.matvecs is -1; wanted a whole number"),
        (put(1.5, "work", "matvecs"), "work.matvecs is 1.5; wanted a whole number"),
        (put([], "certificate"), "certificate is .*; wanted an object"),
        (put([["a"]], "answer"), "answer is .*; wanted a list of pairs of texts"),
        (put("now", "created"), "created is 'now'; wanted a time in UTC"),
        (put(3, "versions", "numpy"), "versions.numpy is 3; wanted a text"),
        (put({"name": "../x", "sha256": "0" * 64}, "file"), "wanted a name without a folder"),
        (put({"name": "x", "sha256": "0"}, "file"), "64 hexadecimal digits"),
        (
            put({}, "files", "../../etc/passwd"),
            r"names the file '../../etc/passwd', which no result",
        ),
        (put({}, "files", "result.json"), "names the file 'result.json', which no result"),
        (without("files", "y.npy"), "does not name y.npy, which a result has"),
        (without("files", "x.npz"), "does not name x.npz, which a result has"),
        (put({"kind": "sparse"}, "x"), 'x.kind is "sparse"; wanted one of low rank, outer, array'),
        (
            put("float64[9, 9]", "x", "arrays", "U"),
            r"says that U of x is 'float64\[9, 9\]', but it",
        ),
        (
            put({"kind": "array", "arrays": {"x": "float64[4]"}}, "x"),
            "x of x .* but it is not there",
        ),
        (put({"kind": "blocks", "blocks": []}, "x"), "x.npz: holds 'U', which is not part of x"),
        (put({"kind": "blocks", "blocks": [1]}, "x"), "x.blocks is .*; wanted a list of objects"),
    ],
)
def test_records_that_no_save_wrote(folder, change, text):
    rewrite(folder, change, fitting=False)
    refused(folder, text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not JSON that condal wrote"),
        ("[]", "wanted an object"),
        ('{"a": 1, "a": 2}', "a field is given twice"),
        ('{"a": 1e999}', "is not JSON that condal wrote"),
        ("[" * 100_000, "is not JSON that condal wrote"),
        ('{"a":' * 40 + "1" + "}" * 40, "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "is not JSON that condal wrote"),
        ("\ufeff{}", "is not JSON that condal wrote"),
    ],
)
def test_records_that_are_no_json(folder, text, says):
    (folder / "result.json").write_text(text, encoding="utf-8")
    refused(folder, f"result.json: .*{says}")
    (folder / "result.json").write_bytes(b"\xff\xfe")
    refused(folder, "is not JSON")


def test_a_record_that_is_too_large(folder):
    with (folder / "result.json").open("wb") as file:
        file.truncate(65 << 20)  # a hole: nothing is written, and nothing is read
    refused(folder, "is larger than 67108864 bytes, the most that is read")


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("y.npy", npy(np.arange(3)), "of int64; wanted a vector of float64"),
        ("y.npy", npy(np.ones(3) * 1j), "wanted a vector of float64"),
        ("x.npz", npz(**{"../U": np.ones(1)}), "wanted only arrays"),
        ("x.npz", b"", "is not a .npz file"),
        ("picture.npz", npz(a=np.array([b"x"])), "picture.npz: a.npy: holds"),
        ("history.csv", b"", "wanted the columns k, objective"),
    ],
)
def test_files_of_no_use_whose_hashes_are_right(folder, name, data, text):
    (folder / name).write_bytes(data)
    rewrite(folder, lambda record: None)
    refused(folder, text)


@pytest.mark.parametrize(
    ("cell", "place", "text"),
    [
        (b"=1+2", 1, r"line 2: objective is b'=1\+2'; wanted a number"),
        (b"1.5", 0, "line 2: k is b'1.5'"),
        (b"-3", 0, "line 2: k is b'-3'"),
        (b"inf", 2, "line 2: bound is b'inf'"),
        (b"1,2", 3, "line 2: has 14 cells; wanted 13"),
        (b"9" * 400, 0, "line 2: k is b'999"),
    ],
)
def test_a_history_of_no_use(folder, cell, place, text):
    header, first, *more = (folder / "history.csv").read_bytes().split(b"\n")
    cells = first.split(b",")
    cells[place] = cell
    (folder / "history.csv").write_bytes(b"\n".join([header, b",".join(cells), *more]))
    rewrite(folder, lambda record: None)
    refused(folder, text)


def test_factors_that_do_not_fit(folder):
    (folder / "x.npz").write_bytes(npz(U=np.ones((4, 2)), weights=np.ones(3)))
    shapes = {"U": "float64[4, 2]", "weights": "float64[3]"}
    rewrite(folder, put({"kind": "low rank", "arrays": shapes}, "x"))
    refused(folder, "the arrays U and weights do not fit: wanted a real weight for each column")
