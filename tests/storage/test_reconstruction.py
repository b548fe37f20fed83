"""How accurate an x is that was made of a sketch: measured, told, and kept with the result."""

import json
from dataclasses import replace
from math import inf

import numpy as np
import pytest
from click.testing import CliRunner

import condal
from condal.cli.app import cli
from condal.io.container.manifest import seal_of
from condal.linalg.points import LowRank, dense
from condal.problems import max_cut
from condal.report.words import proof
from condal.storage import Blocks, Dense, Sketch
from condal.storage.sketch import Reconstruction, reconstruction
from known import random_graph
from spaces import random_lowrank


def moved(storage, n, count, rng):
    """The storage after some steps, and the x that it should hold."""
    x = np.zeros((n, n))
    for k in range(1, count + 1):
        s, eta = random_lowrank(n, 1, rng), 2 / (k + 1)
        storage.move(s, eta)
        x = (1 - eta) * x + eta * dense(s)
    return x


@pytest.mark.parametrize("R", [1, 5, 12])
def test_the_missing_trace_is_the_error_in_the_schatten_1_norm(R):
    rng = np.random.default_rng(R)
    storage = Sketch(30, R)
    x = moved(storage, 30, 8, rng)
    point, found = storage.reconstructed()
    spread = LowRank(point.U, point.weights - found.missing / R)
    error = np.abs(np.linalg.eigvalsh(x - dense(spread))).sum()
    assert found.missing == pytest.approx(error, abs=1e-9 * np.trace(x))
    assert found.trace == pytest.approx(np.trace(x))
    assert found.rank == min(R, 8)
    after = np.abs(np.linalg.eigvalsh(x - dense(point))).sum()
    assert after <= 2 * found.missing + 1e-9 * np.trace(x)


def test_the_error_of_the_images_is_that_of_the_maps():
    rng = np.random.default_rng(0)
    problem = max_cut(random_graph(30, 4.0)).problem
    storage = Sketch(30, 4)
    x = moved(storage, 30, 9, rng)
    Mx, Ax = problem.f.M(x), problem.A(x)
    found = reconstruction(storage, problem, Mx, Ax)
    away = x - dense(storage.point())
    images = np.concatenate([problem.f.M(away), problem.A(away)])
    expected = np.linalg.norm(images) / np.linalg.norm(np.concatenate([Mx, Ax]))
    assert found.image_error == pytest.approx(expected)
    assert (found.R, found.rank) == (4, 4)


def test_what_was_kept_whole_has_no_reconstruction():
    problem = max_cut(random_graph(30, 4.0)).problem
    assert reconstruction(Dense(), problem, np.ones(1), np.ones(30)) is None
    assert condal.solve(problem, tol=1e-2).reconstruction is None


def test_of_blocks_those_count_that_are_sketched():
    rng = np.random.default_rng(1)
    sketch, dense_one = Sketch(12, 3), Dense()
    blocks = Blocks(sketch, dense_one)
    s = random_lowrank(12, 1, rng), random_lowrank(5, 1, rng)
    blocks.move(s, 1.0)
    point, found = blocks.reconstructed()
    assert len(point) == 2
    assert (found.R, found.rank, found.trace) == (3, 1, pytest.approx(s[0].trace))
    whole = Blocks(Dense())
    whole.move((s[1],), 1.0)
    assert whole.reconstructed()[1] is None


def test_an_empty_sketch():
    assert Sketch(5, 2).reconstructed()[1].rank == 0


def test_what_is_expected_of_a_sketch():
    made = Reconstruction(10, 10, 0.1, 0.01)
    assert made.within(0) == 1.0
    assert made.within(4) == 1.8
    assert made.within(9) == made.within(12) == inf


@pytest.fixture(scope="module")
def solved():
    model = max_cut(random_graph(60, 4.0))
    return condal.solve(model, method=condal.CGAL(), storage=Sketch(60, 3), max_iters=40)


def test_a_result_tells_it_and_is_loaded_with_it(solved, tmp_path):
    made = solved.reconstruction
    assert made.R == made.rank == 3
    assert 1e-3 < made.missing_trace < 1
    assert made.image_error > 1e-3
    assert f"x {made}" in " ".join(repr(solved).split())
    assert str(made) in solved._repr_html_()
    assert f"reconstructed from a sketch: {made}." in proof(solved)[-1]
    folder = condal.save(solved, tmp_path / "run")
    assert condal.load(folder).result.reconstruction == made


def test_results_saved_before_and_those_of_whole_points_have_no_such_field(solved, tmp_path):
    whole = condal.save(replace(solved, reconstruction=None), tmp_path / "run")
    assert "reconstruction" not in json.loads((whole / "result.json").read_text())
    assert condal.load(whole).result.reconstruction is None


def test_a_field_of_another_kind_is_refused(solved, tmp_path):
    folder = condal.save(solved, tmp_path / "run")
    record = json.loads((folder / "result.json").read_text())
    record["reconstruction"]["R"] = -1
    record["seal"] = seal_of(record)
    (folder / "result.json").write_text(json.dumps(record))
    with pytest.raises(condal.FormatError, match=r"reconstruction\.R is -1; wanted a whole number"):
        condal.load(folder)


def test_the_command_line_tells_it(tmp_path):
    file = tmp_path / "graph.txt"
    condal.formats.write_rudy(file, random_graph(60, 4.0))
    words = ["solve", str(file), "--as", "max-cut", "--method", "cgal", "--storage", "sketch:5"]
    out = tmp_path / "out.json"
    done = CliRunner().invoke(cli, [*words, "--max-iters", "20", "--json", str(out)])
    assert "of a sketch of R =" in done.output
    record = json.loads(out.read_text())["reconstruction"]
    assert set(record) == {"R", "rank", "missing_trace", "image_error"}
