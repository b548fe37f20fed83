"""Pose graphs in the g2o format."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import condal
from condal.formats import read_g2o, write_g2o

UNIT = " 1 0 0 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 1 0 1"
PLANE = "EDGE_SE2 {} 1 0 0 {}\n"


def read(tmp_path, text):
    path = tmp_path / "given.g2o"
    path.write_text(text)
    return read_g2o(path)


def test_a_graph_of_the_plane(tmp_path):
    graph = read(
        tmp_path,
        "VERTEX_SE2 10 0 0 0\nVERTEX_SE2 3 5 5 1\nEDGE_SE2 10 3 1.5 -2 0.5 4 1 0 9 0 7\nFIX 10\n",
    )
    measured = graph.measurements
    assert graph.ids == (3, 10)
    assert measured.edges.tolist() == [[1, 0]]
    np.testing.assert_allclose(measured.translations, [[1.5, -2.0]])
    cos, sin = np.cos(0.5), np.sin(0.5)
    np.testing.assert_allclose(measured.rotations, [[[cos, -sin], [sin, cos]]])
    np.testing.assert_allclose(measured.kappa, 7.0)
    np.testing.assert_allclose(measured.tau, 2 / np.trace(np.linalg.inv([[4, 1], [1, 9]])))


def test_a_graph_of_space(tmp_path):
    q = Rotation.from_rotvec([0.3, -0.2, 1.0]).as_quat()
    information = np.diag([1.0, 2.0, 4.0, 10.0, 20.0, 40.0])
    numbers = " ".join(f"{number:.9f}" for number in information[np.triu_indices(6)])
    pose = " ".join(f"{number:.9f}" for number in q)
    graph = read(tmp_path, f"EDGE_SE3:QUAT 0 1 1 2 3 {pose} {numbers}\n")
    measured = graph.measurements
    np.testing.assert_allclose(measured.rotations[0], Rotation.from_quat(q).as_matrix(), atol=1e-8)
    np.testing.assert_allclose(measured.translations, [[1.0, 2.0, 3.0]])
    np.testing.assert_allclose(measured.tau, 3 / (1 + 0.5 + 0.25))
    np.testing.assert_allclose(measured.kappa, 3 / (2 * (0.1 + 0.05 + 0.025)))


def test_numbers_of_vertices_may_have_64_bits(tmp_path):
    graph = read(tmp_path, PLANE.format("18446744073709551615 0", "1 0 0 1 0 1"))
    assert graph.ids == (0, 2**64 - 1)


@pytest.mark.parametrize("d", [2, 3])
def test_written_poses_and_measurements_are_read_again(d, tmp_path):
    rng = np.random.default_rng(0)
    R = Rotation.random(5, random_state=0).as_matrix()
    if d == 2:
        angles = rng.uniform(-3, 3, 5)
        R = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]])
        R = R.transpose(2, 0, 1)
    t = rng.standard_normal((5, d))
    edge = "EDGE_SE2 {} {} 1 2 0.5 1 0 0 1 0 1" if d == 2 else "EDGE_SE3:QUAT {} {} 1 2 3 0 0 0 1"
    lines = [edge.format(3 * k, 3 * k + 3) + (UNIT if d == 3 else "") for k in range(4)]
    graph = read(tmp_path, "\n".join(lines) + "\n")
    path = tmp_path / "poses.g2o"
    write_g2o(path, graph, condal.problems.Poses(0.0, 0.0, R, t))
    again = read_g2o(path)
    assert again.ids == graph.ids
    assert again.edge_lines == graph.edge_lines
    np.testing.assert_array_equal(again.measurements.rotations, graph.measurements.rotations)
    first = next(again.lines(condal.problems.Poses(0.0, 0.0, R, t))).split()
    assert first[1] == "0"
    numbers = np.array(first[2:], dtype=float)
    np.testing.assert_array_equal(numbers[:d], t[0])
    if d == 3:
        np.testing.assert_allclose(Rotation.from_quat(numbers[3:]).as_matrix(), R[0], atol=1e-14)
    else:
        np.testing.assert_allclose(numbers[2], angles[0])


@pytest.mark.parametrize("angle", [0.0, 1.0, np.pi, 3.0])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (1, -2, 0.5)])
def test_quaternions_are_accurate_near_half_turns(angle, axis, tmp_path):
    R = Rotation.from_rotvec(angle * np.array(axis) / np.linalg.norm(axis)).as_matrix()
    graph = read(tmp_path, f"EDGE_SE3:QUAT 0 1 1 2 3 0 0 0 1{UNIT}\n")
    poses = condal.problems.Poses(0.0, 0.0, np.array([R, R]), np.zeros((2, 3)))
    q = np.array(next(graph.lines(poses)).split()[5:], dtype=float)
    assert q[3] >= 0
    np.testing.assert_allclose(Rotation.from_quat(q).as_matrix(), R, atol=1e-14)


EDGE = PLANE.format("0 1", "1 0 0 1 0 1")


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (EDGE + "EDGE_XY 0 1 1 0\n", "'EDGE_XY' is an unknown tag; wanted .* remove the line", 2),
        (EDGE + "VERTEX_SE3:QUAT 0 0 0 0 0 0 0 1\n", "a pose in space, but .* in the plane", 2),
        ("VERTEX_SE2 0 0 0\n" + EDGE, "takes 4 numbers, i x y theta; got 3", 1),
        (EDGE + PLANE.format("1 1", "1 0 0 1 0 1"), "vertex 1 relative to itself; remove", 2),
        (EDGE + PLANE.format("1 -2", "1 0 0 1 0 1"), "'-2' is not the number of a vertex", 2),
        (EDGE + PLANE.format("1 x", "1 0 0 1 0 1"), "'x' is not the number of a vertex", 2),
        (EDGE + PLANE.format("2 3", "1 0 0 1 0 1"), "no measurement relates vertex 2 to ver", 2),
        ("VERTEX_SE2 7 0 0 0\n" + EDGE, "no measurement relates vertex 7 to vertex 0", 1),
        (EDGE + PLANE.format("1 2", "1 2 0 1 0 1"), "the translation is not positive def", 2),
        (EDGE + PLANE.format("1 2", "1 0 0 1 0 0"), "the rotation is not positive definite", 2),
        (EDGE + PLANE.format("1 2", "1 0 0 1 0 1e200"), "has the weight 1e\\+200; wanted one", 2),
        (
            f"EDGE_SE3:QUAT 0 1 1 2 3 0 0 0 2{UNIT}\n",
            "the quaternion .* has the length 2; wanted 1: divide it by its length",
            1,
        ),
        (f"EDGE_SE3:QUAT 0 1 1 2 3 0 0 0 0{UNIT}\n", "has the length 0; wanted 1", 1),
        ("VERTEX_SE2 0 0 0 0\n", "has no measurements: wanted lines of EDGE_SE2", None),
        ("\n", "is empty; wanted a pose graph in the g2o format", None),
    ],
)
def test_a_faulty_line_is_named(text, message, line, refuses):
    refuses(read_g2o, text, message, line)
