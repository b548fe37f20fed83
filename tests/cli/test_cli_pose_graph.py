"""`condal solve --as pose-graph`, on small graphs and on the public ones."""

import json
from pathlib import Path

import numpy as np
import pytest

from commands import RING, refused, run, solved
from condal.formats import read_g2o
from known import needs_data
from locations import DATA


def test_the_poses_of_a_square_are_written():
    outputs = ("--json", "result.json", "--out", "poses.g2o", "--save", "saved")
    done = solved("pose-graph", "--tol", "1e-6", *outputs)
    assert "no poses cost less" in done.output
    record = json.loads(Path("result.json").read_text())
    assert record["certified"]
    assert record["poses"] == 4
    assert record["cost"] == pytest.approx(record["objective"], rel=1e-6)
    assert 0 <= record["optimality_gap"] <= 1e-6
    lines = Path("poses.g2o").read_text().splitlines()
    corners = np.array([line.split()[2:4] for line in lines[:4]], dtype=float)
    np.testing.assert_allclose(corners, [[0, 0], [1, 0], [1, 1], [0, 1]], atol=0.3)
    assert read_g2o("poses.g2o").edge_lines == read_g2o("pose-graph.txt").edge_lines
    with np.load("saved/picture.npz") as picture:
        assert str(picture["kind"]) == "trajectory"
        assert picture["places"].shape == (4, 2)


def test_a_faulty_file_is_named_with_its_line():
    Path("bad.g2o").write_text(RING + "LANDMARK 1 2 3\n")
    text = refused("solve", "bad.g2o", "--as", "pose-graph")
    assert "bad.g2o, line 5: 'LANDMARK' is an unknown tag" in text


# Costs of SE-Sync (Rosen et al. 2019, table 1), where the files have the same measurements.
PUBLISHED = {
    "sphere2500": 1687.0,
    "torus3D": 24227.0,
    "parking-garage": 1.263,
    "intel": 52.35,
    "manhattan": 6431.0,
    "CSAIL": 31.7,
    "smallGrid3D": 1025.0,
    "tinyGrid3D": 18.52,
}


@needs_data
@pytest.mark.parametrize("name", PUBLISHED)
def test_public_graphs_are_certified(name):
    path = DATA / "g2o" / f"{name}.g2o.xz"
    words = ("--as", "pose-graph", "--tol", "1e-6", "--json", "-", "--quiet")
    done = run("solve", path, *words)
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert record["certified"]
    assert record["gap"] <= 1e-6
    assert record["optimality_gap"] <= 1e-6
    assert record["cost"] == pytest.approx(PUBLISHED[name], rel=1e-3)
