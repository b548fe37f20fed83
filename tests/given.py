"""Names and files that the pages of the documentation assume."""

import networkx as nx
import numpy as np

from commands import COUNTS, RING
from known import torus
from pages import all_pages

PENTAGON = "5 5\n1 2\n2 3\n3 4\n4 5\n5 1\n"
EDGE = "2\n1\n2\n1 1\n0 1 1 2 -0.5\n1 1 1 1 1\n2 1 2 2 1\n"  # max-cut of one edge, in SDPA's format
SMALL_SOLUTION = """\
7.071068920105816336e-01 3.535533351385456435e-01
1 1 1 1 7.071068920390670698e-01
1 1 1 2 -5.000000000000000000e-01
1 1 2 2 3.535533351670310798e-01
1 2 1 1 3.535533351670310798e-01
2 1 1 1 9.999999999999990008e-01
2 1 1 2 1.414213558047409780e+00
2 1 2 2 1.999999993882507487e+00
2 2 1 1 6.117492604444549934e-09
"""  # by CSDP 6.2
FILES = {
    "small.sol": SMALL_SOLUTION,
    "G1.txt": PENTAGON,
    "maxG11.dat-s": EDGE,
    "graph.txt": PENTAGON,
    "sphere2500.g2o": RING,
    "counts.json": COUNTS,
    "BIG.mtx": "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1\n",
    "points.csv": "x,y\n0,0\n0,1\n1,0\n9,9\n9,8\n8,9\n",
}


def written_files(folder):
    """Write the small files that commands read."""
    for name, text in FILES.items():
        (folder / name).write_text(text)


def for_the_readme():
    """Return a graph with data for the template, and points in two clusters."""
    W = torus(5, 8)
    return {
        "W": W,
        "n": W.shape[0],
        "C": W.toarray(),
        "np": np,
        "k": 2,
        "points": np.repeat([[0.0, 0.0], [9.0, 0.0]], 10, axis=0) + np.eye(20, 2),
    }


def for_the_gallery():
    """Return small versions of the names that the pages of the gallery assume."""
    rng = np.random.default_rng(0)
    returns, graph = rng.standard_normal((30, 6)), nx.petersen_graph()
    masks, image = rng.choice([1, 1j, -1, -1j], (6, 3, 3)), rng.standard_normal((3, 3))
    rows, cols = np.nonzero(rng.random((8, 9)) < 0.7)
    ratings = (rng.standard_normal((8, 1)) * rng.standard_normal(9))[rows, cols]
    signs, angles = np.sign(rng.standard_normal(8)), np.exp(1j * rng.random(8))
    flows = np.ones((4, 4)) - np.eye(4)
    path = nx.to_numpy_array(nx.path_graph(5))
    return {
        "graph": graph,
        "points": rng.standard_normal((9, 2)) + 9.0 * np.repeat(np.eye(3, 2), 3, axis=0),
        "returns": returns,
        "index": returns[:, :3].mean(axis=1),
        "exposures": rng.standard_normal((2, 6)),
        "low": np.full(2, -0.3),
        "high": np.full(2, 0.3),
        "Phi": np.diag([1.0, 2.0, 3.0]),
        "Psi": np.eye(3),
        "masks": masks,
        "intensities": np.abs(np.fft.fft2(masks * image, norm="ortho")) ** 2,
        "rows": rows,
        "cols": cols,
        "ratings": ratings,
        "picture": np.where(rng.random((9, 8)) < 0.7, np.outer(np.ones(9), np.arange(8.0)), np.nan),
        "flows": flows,
        "distances": np.abs(np.subtract.outer(np.arange(4), np.arange(4))),
        "comparisons": np.outer(signs, signs) - np.eye(8),
        "differences": np.outer(angles, angles.conj()) - np.eye(8),
        "features": returns,
        "responses": returns @ np.outer(np.arange(6.0), [1.0, -1.0]),
        "M": returns,
        "b": returns @ [1.0, -1.0, 0, 0, 0, 0],
        "expected": np.linspace(0.0, 0.1, 5),
        "F": 0.1 * rng.standard_normal((2, 5)),
        "d": np.full(5, 0.04),
        "unary": rng.random((3, 2)),
        "edges": [[0, 1], [1, 2]],
        "pairwise": 1.0 - np.eye(2),
        "A": path,
        "B": path[::-1, ::-1],
        "noisy": rng.random((5, 6)),
        "rotations": [np.eye(3)] * 2,
        "translations": np.ones((2, 3)),
        "kappa": np.ones(2),
        "tau": 2.0,
        "weights": np.ones(2),
    }


def for_the_template():
    """Return the names that the page of the template assumes."""
    rng = np.random.default_rng(1)
    n = 4
    a, H = rng.standard_normal((n, n)), rng.standard_normal((2, n, n))
    rows, cols = np.nonzero(rng.random((3, n)) < 0.8)
    complex_part = H[0] + 1j * H[1]
    return {
        "n": n,
        "m": 3,
        "M": rng.standard_normal((5, n)),
        "c": rng.standard_normal(5),
        "a": rng.standard_normal((2, n)),
        "low": np.full(2, -2.0),
        "high": np.full(2, 2.0),
        "b": rng.standard_normal((3, n)),
        "H": complex_part + complex_part.conj().T,
        "rows": rows,
        "cols": cols,
        "values": rng.standard_normal(rows.size),
        "C": np.ones((3, n)) / 12,
        "C1": a + a.T,
        "C2": np.eye(n) - 2.0 * np.diag(np.arange(n) < 2),
        "c2": np.array([1.0, 2.0]),
    }


# Pages whose blocks are independent, with given names; blocks of other pages run in sequence.
ALONE = {"docs/template.md": for_the_template}
ALONE |= dict.fromkeys((page for page in all_pages() if "/gallery/" in page), for_the_gallery)
# Names defined before the first block of a page; other pages must define all they use.
BEFORE = {"README.md": for_the_readme}
