"""Pose graphs in the g2o format, in the plane (SE2) and in space (SE3:QUAT)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from condal.errors import FormatError
from condal.io.formats.entries import weight_fault
from condal.io.formats.numerals import parse_all, spell
from condal.io.formats.text import Text, quote, read_text
from condal.io.formats.writing import write_text
from condal.io.safe_files import PathLike
from condal.linalg.points import Array, Indices

WANTED = "a pose graph in the g2o format"
IGNORED = (b"FIX",)  # poses are determined up to one motion of all: nothing need be fixed
SPACES = {2: "the plane", 3: "space"}
MAX_ID_DIGITS = 20  # of the number of a vertex: of 64 bits without sign
MAX_WEIGHT = 1e100
UNIT_TOLERANCE = 1e-3  # how far the length of a quaternion may be from 1


class Tag(NamedTuple):
    """The dimension of the poses of a line, its vertices and numbers, and how they are spelled."""

    d: int
    ends: int
    numbers: int
    spelled: str


INFORMATION = "numbers of the upper triangle of its information"
TAGS = {
    b"VERTEX_SE2": Tag(2, 1, 3, "i x y theta"),
    b"VERTEX_SE3:QUAT": Tag(3, 1, 7, "i x y z qx qy qz qw"),
    b"EDGE_SE2": Tag(2, 2, 9, f"i j x y theta and the 6 {INFORMATION}"),
    b"EDGE_SE3:QUAT": Tag(3, 2, 28, f"i j x y z qx qy qz qw and the 21 {INFORMATION}"),
}


class Measurements(NamedTuple):
    """Relative poses, as `RelativePoses` and `pose_graph` of `condal.problems` take them."""

    edges: Indices
    rotations: Array
    translations: Array
    kappa: Array
    tau: Array


@dataclass(frozen=True, eq=False)
class G2oGraph:
    """A pose graph, as a g2o file holds it.

    Parameters
    ----------
    measurements : Measurements
        The measurements, between vertices 0, 1, ...
    ids : tuple of int
        The number of each vertex in the file.
    edge_lines : tuple of str
        The lines of the measurements.
    """

    measurements: Measurements
    ids: tuple[int, ...] = field(repr=False)
    edge_lines: tuple[str, ...] = field(repr=False)

    def lines(self, poses: Any) -> Iterator[str]:
        """Yield the lines of a file with these poses as vertices, and with the measurements."""
        for name, R, t in zip(self.ids, poses.rotations, poses.translations, strict=True):
            yield _vertex_line(name, R, t)
        yield from self.edge_lines


def read_g2o(path: PathLike) -> G2oGraph:
    r"""Read a pose graph from a g2o file, optionally compressed with gzip or xz.

    An information matrix gives the weights of the standard cost: with the blocks
    :math:`\Omega_t` of the translation and :math:`\Omega_R` of the rotation,
    :math:`\tau = d / \operatorname{tr} \Omega_t^{-1}`, and :math:`\kappa = \Omega_R` in the plane,
    :math:`\kappa = 3 / (2 \operatorname{tr} \Omega_R^{-1})` in space. The poses of VERTEX lines,
    which are starting points for local solvers, are not used.

    Parameters
    ----------
    path : str or os.PathLike
        The file.

    Returns
    -------
    G2oGraph
        The measurements and the numbers of the vertices.

    Raises
    ------
    FormatError
        If a line cannot be read, an information matrix is not positive definite, a quaternion has
        not length 1, or the graph is not connected.
    """
    text = read_text(path, wanted=WANTED)
    rows = _Rows.of(text)
    i_j = np.array([[rows.index[a], rows.index[b]] for a, b in rows.pairs], dtype=np.int64)
    _require_connected(text, rows, i_j)
    d, numbers = rows.d, rows.numbers
    poses, information = (numbers[:, :3], numbers[:, 3:]) if d == 2 else np.split(numbers, [7], 1)
    if d == 2:
        cos, sin = np.cos(poses[:, 2]), np.sin(poses[:, 2])
        rotations = np.array([[cos, -sin], [sin, cos]]).transpose(2, 0, 1)
    else:
        rotations = _rotations(text, rows, poses[:, 3:])
    kappa, tau = _weights(text, rows, information)
    measured = Measurements(i_j, rotations, poses[:, :d].copy(), kappa, tau)
    return G2oGraph(measured, tuple(rows.index), rows.edge_lines)


def write_g2o(path: PathLike, graph: G2oGraph, poses: Any) -> None:
    """Write poses as the vertices of a g2o file, with the measurements as its edges.

    Parameters
    ----------
    path : str or os.PathLike
        The file; packed if it is named .gz or .xz.
    graph : G2oGraph
        The pose graph that was read.
    poses : Poses
        Its poses, such as `PoseGraph.round` returns them.
    """
    write_text(path, (f"{line}\n" for line in graph.lines(poses)))


@dataclass(frozen=True, eq=False)
class _Rows:
    """The measurements of a file: vertices, numbers, and the line of each."""

    d: int
    pairs: list[tuple[int, int]]
    numbers: Array
    places: list[int]
    index: dict[int, int]  # the vertices by their numbers, which ascend
    first_line: dict[int, int]  # where each vertex is mentioned first
    edge_lines: tuple[str, ...]

    @classmethod
    def of(cls, text: Text) -> _Rows:
        d, pairs, words, places = 0, [], [], []
        first_line: dict[int, int] = {}
        lines = []
        for number, line in text.numbered_lines(0):
            row = line.split()
            if not row or row[0].startswith(b"#") or row[0] in IGNORED:
                continue
            tag = TAGS.get(row[0])
            if tag is None:
                raise _unknown_tag(text, row[0], number)
            if d not in (0, tag.d):
                raise text.error(
                    f"{quote(row[0])} is a pose in {SPACES[tag.d]}, but the lines before are in "
                    f"{SPACES[d]}; write the two into files of their own",
                    number,
                )
            d, wanted = tag.d, tag.ends + tag.numbers
            if len(row) != 1 + wanted:
                raise text.error(
                    f"{quote(row[0])} takes {wanted} numbers, {tag.spelled}; got {len(row) - 1}",
                    number,
                )
            names = [_vertex(text, word, number) for word in row[1 : 1 + tag.ends]]
            for name in names:
                first_line.setdefault(name, number)
            if tag.ends == 1:
                continue
            if names[0] == names[1]:
                raise text.error(
                    f"measures vertex {names[0]} relative to itself; remove the line", number
                )
            pairs.append((names[0], names[1]))
            words.append(row[3:])
            places.append(number)
            lines.append(b" ".join(row).decode())
        if not pairs:
            raise text.error("has no measurements: wanted lines of EDGE_SE2 or EDGE_SE3:QUAT")
        index = {name: place for place, name in enumerate(sorted(first_line))}
        numbers = _numbers(text, words, places)
        return cls(d, pairs, numbers, places, index, first_line, tuple(lines))


def _numbers(text: Text, words: list[list[bytes]], places: list[int]) -> Array:
    numbers = parse_all(b"\n".join(map(b" ".join, words)))
    if numbers is not None:
        return numbers.reshape(len(words), -1)
    for row, place in zip(words, places, strict=True):
        for word in row:
            if (fault := weight_fault(word, noun="number")) is not None:
                raise text.error(fault, place)
    raise AssertionError("the bulk parser refused correct lines")


def _vertex(text: Text, word: bytes, line: int) -> int:
    if not (word.isdigit() and len(word) <= MAX_ID_DIGITS):
        raise text.error(
            f"{quote(word)} is not the number of a vertex; wanted a whole number from 0", line
        )
    return int(word)


def _unknown_tag(text: Text, tag: bytes, line: int) -> FormatError:
    known = ", ".join(name.decode() for name in TAGS)
    return text.error(
        f"{quote(tag)} is an unknown tag; wanted {known}, or FIX, which is ignored: remove the "
        "line, or convert what it measures to relative poses",
        line,
    )


def _require_connected(text: Text, rows: _Rows, edges: Indices) -> None:
    n = len(rows.index)
    graph = sp.coo_array((np.ones(len(edges)), tuple(edges.T)), (n, n))
    count, labels = connected_components(graph, directed=False)
    if count == 1:
        return
    names = list(rows.index)
    apart = names[int(np.flatnonzero(labels != labels[0])[0])]
    raise text.error(
        f"the graph has {count} connected components: no measurement relates vertex {apart} to "
        f"vertex {names[0]}; write each component into a file of its own, or add a measurement",
        rows.first_line[apart],
    )


def _rotations(text: Text, rows: _Rows, quaternions: Array) -> Array:
    lengths = np.linalg.norm(quaternions, axis=1)
    wrong = np.flatnonzero(np.abs(lengths - 1.0) > UNIT_TOLERANCE)
    if wrong.size:
        raise text.error(
            f"the quaternion qx qy qz qw has the length {lengths[wrong[0]]:.6g}; wanted 1: divide "
            "it by its length, and check the order of its numbers",
            rows.places[int(wrong[0])],
        )
    x, y, z, w = (quaternions / lengths[:, None]).T
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    ).transpose(2, 0, 1)


def _weights(text: Text, rows: _Rows, triangles: Array) -> tuple[Array, Array]:
    """The weights kappa and tau of information matrices, given as upper triangles."""
    d, side = rows.d, 3 if rows.d == 2 else 6
    i, j = np.triu_indices(side)
    matrices = np.zeros((len(triangles), side, side))
    matrices[:, i, j] = matrices[:, j, i] = triangles
    blocks = {"translation": matrices[:, :d, :d], "rotation": matrices[:, d:, d:]}
    for name, block in blocks.items():
        with np.errstate(over="ignore", invalid="ignore"):
            least = np.linalg.eigvalsh(block)[:, 0]
        wrong = np.flatnonzero(~(least > 0))
        if wrong.size:
            raise text.error(
                f"the information matrix of the {name} is not positive definite: its smallest "
                f"eigenvalue is {least[wrong[0]]:.3g}; give the inverse of the covariance of the "
                "measurement",
                rows.places[int(wrong[0])],
            )
    tau = _mean_information(text, rows, blocks["translation"])
    kappa = _mean_information(text, rows, blocks["rotation"])
    return (kappa if d == 2 else 0.5 * kappa), tau


def _mean_information(text: Text, rows: _Rows, matrices: Array) -> Array:
    """The harmonic means of the eigenvalues."""
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        eigenvalues = np.linalg.eigvalsh(matrices)
        means = 1.0 / np.mean(1.0 / eigenvalues, axis=1)
    wrong = np.flatnonzero(~((means > 1 / MAX_WEIGHT) & (means < MAX_WEIGHT)))
    if wrong.size:
        raise text.error(
            f"an information matrix has the weight {means[wrong[0]]:.3g}; wanted one between "
            f"{1 / MAX_WEIGHT:g} and {MAX_WEIGHT:g}: choose other units",
            rows.places[int(wrong[0])],
        )
    return np.asarray(means)


def _vertex_line(name: int, R: Array, t: Array) -> str:
    if len(t) == 2:
        numbers = [*t.tolist(), float(np.arctan2(R[1, 0], R[0, 0]))]
        return " ".join(["VERTEX_SE2", str(name), *map(spell, numbers)])
    return " ".join(["VERTEX_SE3:QUAT", str(name), *map(spell, [*t.tolist(), *_quaternion(R)])])


def _quaternion(R: Array) -> list[float]:
    """The quaternion x, y, z, w of a rotation, with w >= 0."""
    # This matrix is 4 q q': its row with the largest diagonal entry is accurate.
    K = np.empty((4, 4))
    K[:3, :3] = R + R.T + (1 - np.trace(R)) * np.eye(3)
    K[3, :3] = K[:3, 3] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    K[3, 3] = 1 + np.trace(R)
    q = K[int(np.argmax(np.diagonal(K)))]
    q = q / np.linalg.norm(q) * (-1.0 if q[3] < 0 else 1.0)
    return [float(number) for number in q]
