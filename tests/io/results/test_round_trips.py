"""What is saved is loaded to the last bit: every kind of point, every number of a history."""

import gzip
import hashlib
import json
import lzma
import math
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import condal
from condal.certificates.certificate import Certificate
from condal.certificates.history import History, Row
from condal.errors import FormatError
from condal.io.results import Saved, load, save
from condal.io.results.record import history_of, lines_of
from condal.linalg.points import LowRank, Outer
from condal.linalg.rounding import Proof
from condal.result import Result, Status
from condal.storage.sketch import Reconstruction
from forging import rewrite

REALS = st.floats(width=64)
ARRAYS = hnp.arrays(
    np.float64, hnp.array_shapes(min_dims=1, max_dims=2, max_side=4), elements=REALS
)
QUIET = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)


def matrices(rows, columns, dtype=np.float64):
    return hnp.arrays(dtype, (rows, columns))


@st.composite
def points(draw, depth=0):
    kinds = ["array", "complex array", "low rank", "complex low rank", "outer", "none"]
    kind = draw(st.sampled_from(kinds[: 5 + (depth == 0)] + ["blocks"] * (depth < 2)))
    if kind == "none":
        return None
    if kind == "blocks":
        return tuple(draw(st.lists(points(depth=depth + 1), max_size=3)))
    if kind == "array":
        return draw(ARRAYS)
    n, m, r = draw(st.integers(0, 4)), draw(st.integers(0, 4)), draw(st.integers(0, 3))
    if kind == "complex array":
        return draw(matrices(n, n, np.complex128))
    weights = draw(hnp.arrays(np.float64, r, elements=REALS))
    if kind == "outer":
        return Outer(draw(matrices(m, r)), weights, draw(matrices(n, r)))
    dtype = np.complex128 if kind.startswith("complex") else np.float64
    return LowRank(draw(matrices(n, r, dtype)), weights)


def rows():
    whole = st.integers(0, 10**12)
    kinds = {"k": whole, "oracle_calls": whole, "matvecs": whole}
    return st.builds(Row, **{name: kinds.get(name, REALS) for name in Row._fields})


def certificates():
    return st.builds(
        Certificate,
        objective=REALS,
        bound=REALS,
        infeasibility=REALS,
        how=st.text(),
        failure=st.sampled_from([0.0, 1e-6]),
        price=REALS,
        distance_to_X=REALS,
        inside=st.booleans(),
        dimacs=st.dictionaries(st.text(), REALS, max_size=3),
    )


def reconstructions():
    return st.builds(Reconstruction, st.integers(0, 99), st.integers(0, 99), REALS, REALS)


@st.composite
def results(draw):
    history = History()
    for row in draw(st.lists(rows(), max_size=3)):
        history.append(row)
    vectors = hnp.arrays(np.float64, st.integers(0, 4), elements=REALS)
    return Result(
        x=draw(points()),
        y=draw(vectors),
        status=draw(st.sampled_from(Status)),
        certificate=draw(certificates()),
        history=history,
        seconds=draw(REALS),
        oracle_calls=draw(st.integers(0, 2**40)),
        matvecs=draw(st.integers(0, 2**40)),
        problem_name=draw(st.text()),
        method=draw(st.text()),
        why=draw(st.text()),
        reason=draw(st.text()),
        infeasible=draw(st.none() | st.builds(Proof, REALS, st.text(), REALS)),
        oracle_cpu_seconds=draw(REALS),
        cpu_seconds=draw(REALS),
        tol=draw(st.none() | st.floats(1e-12, 1.0)),
        separator=draw(st.none() | vectors),
        tangent=draw(st.none() | vectors),
        reconstruction=draw(st.none() | reconstructions()),
    )


def same(a, b):
    """Whether two values are the same to the last bit, nan as well."""
    if isinstance(a, tuple) and not isinstance(a, Row):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, LowRank | Outer):
        return type(a) is type(b) and all(map(same, vars(a).values(), vars(b).values()))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, History):
        return [[*map(repr, row)] for row in a] == [[*map(repr, row)] for row in b]
    if isinstance(a, Proof | Certificate | Reconstruction):
        return type(a) is type(b) and all(map(same, vars(a).values(), vars(b).values()))
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    return type(a) is type(b) and (a == b or (isinstance(a, float) and math.isnan(a) and b != b))


@QUIET
@given(result=results())
def test_a_result_is_loaded_as_it_was_saved(tmp_path, result):
    loaded = load(save(result, tmp_path / "run", overwrite=True)).result
    for field in fields(Result):
        a, b = getattr(result, field.name), getattr(loaded, field.name)
        assert same(a, b), f"{field.name}: {a!r} became {b!r}"


@given(st.lists(rows(), max_size=5))
def test_a_history_is_exact_and_no_cell_is_a_formula(listed):
    history = History()
    for row in listed:
        history.append(row)
    text = "".join(lines_of(history))
    assert same(history_of(text.encode()), history)
    for line in text.splitlines()[1:]:
        assert all(re.fullmatch(r"-?[0-9][0-9.e+-]*|nan", cell) for cell in line.split(","))


@pytest.fixture(scope="module")
def solved():
    W = np.ones((6, 6)) - np.eye(6)
    model = condal.problems.max_cut(W)
    return model, condal.solve(model)


def test_a_folder_is_read_with_numpy_alone(solved, tmp_path, monkeypatch):
    _, result = solved
    monkeypatch.chdir(save(result, tmp_path / "run"))
    readme = Path("README.txt").read_text()
    assert len(readme.splitlines()) <= 24
    assert all(len(line) <= 80 for line in readme.splitlines())
    said = "\n".join(line[2:] for line in readme.splitlines() if line.startswith("  "))
    code = said[said.index("import json") : said.index("condal show")]
    found = {}
    exec(code, found)  # as a reader would type it
    assert found["record"]["status"] == "solved"
    np.testing.assert_array_equal(found["y"], result.y)
    U, weights = found["arrays"]["U"], found["arrays"]["weights"]
    np.testing.assert_allclose((U * weights) @ U.conj().T, np.asarray(result.x))
    np.testing.assert_array_equal(found["history"]["objective"], result.history["objective"])
    assert "(U * weights) @ U.conj().T" in readme
    files = {path.name for path in Path().iterdir()}
    assert files == {"README.txt", "history.csv", "result.json", "x.npz", "y.npy"}


def test_all_that_goes_with_it(solved, tmp_path):
    _, result = solved
    file = tmp_path / "graph.txt"
    file.write_text("2 1\n1 2\n")
    picture = {"file": np.arange(3), "kind": np.array("graph"), "gap": np.array([np.nan])}
    saved = load(
        condal.save(
            result,
            tmp_path / "run",
            application="max-cut",
            file=file,
            options={"trials": np.int64(7), "half": 0.5, "list": (1, "a", None, True)},
            settings={"tol": 1e-3, "method": "auto"},
            answer=[("cut", "9, sides of 3 and 3")],
            figures={"cut": 9.0, "share": None, "least": -math.inf},
            picture=picture,
        )
    )
    assert isinstance(saved, Saved)
    assert (saved.application, saved.file) == ("max-cut", "graph.txt")
    assert saved.digest == hashlib.sha256(b"2 1\n1 2\n").hexdigest()
    assert saved.options == {"trials": 7, "half": 0.5, "list": [1, "a", None, True]}
    assert saved.settings == {"tol": 1e-3, "method": "auto"}
    assert saved.answer == [("cut", "9, sides of 3 and 3")]
    assert saved.figures == {"cut": 9.0, "share": None, "least": -math.inf}
    assert saved.versions["condal"] == condal.__version__
    assert set(saved.versions) == {"condal", "python", "numpy", "scipy"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", saved.created)
    assert set(saved.picture) == set(picture)
    assert str(saved.picture["kind"]) == "graph"
    np.testing.assert_array_equal(saved.picture["file"], np.arange(3))


def test_a_packed_file_has_the_digest_of_its_contents(solved, tmp_path):
    text = b"2 1\n1 2\n"
    for name, data in (
        ("a.txt", text),
        ("a.txt.gz", gzip.compress(text)),
        ("a.txt.xz", lzma.compress(text)),
    ):
        (tmp_path / name).write_bytes(data)
        saved = load(save(solved[1], tmp_path / f"run {name}", file=tmp_path / name))
        assert saved.digest == hashlib.sha256(text).hexdigest()


def test_a_loaded_result_goes_on(solved, tmp_path):
    """It is a warm start, and rounds, plots and certifies as the one that was saved."""
    model, result = solved
    loaded = condal.load(condal.save(result, tmp_path / "run")).result
    assert loaded.iterations == result.iterations
    assert repr(loaded) == repr(result)
    assert model.round(loaded, seed=1).weight == model.round(result, seed=1).weight
    assert condal.certify(model, loaded.x, loaded.y) == condal.certify(model, result.x, result.y)
    assert condal.solve(model, warm_start=loaded).status is Status.SOLVED


def test_the_count_of_a_warm_start_survives(solved, tmp_path):
    model, result = solved
    warm = condal.solve(model, "cgal", tol=1e-9, max_iters=4, warm_start=result)
    assert warm.history.last.k > warm.iterations == 4
    folder = condal.save(warm, tmp_path / "run")
    assert condal.load(folder).result.iterations == 4
    rewrite(folder, lambda record: record["work"].update(first_k=10**6))
    with pytest.raises(FormatError, match="first_k = 1000000, after the last iteration"):
        condal.load(folder)


def test_the_record_is_for_people_as_well(solved, tmp_path):
    folder = save(solved[1], tmp_path / "run")
    record = json.loads((folder / "result.json").read_text(encoding="ascii"))
    assert list(record)[:4] == ["format", "version", "condal", "problem"]
    assert record["certificate"]["bound"] == solved[1].bound
    assert record["x"]["arrays"]["weights"].startswith("float64[")
