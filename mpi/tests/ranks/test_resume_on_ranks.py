"""A solve whose ranks are killed goes on on another number of them, to where it would have come."""

import json
import signal
from pathlib import Path

import numpy as np
import pytest
import ranks

from condal_mpi import convert_graph

pytestmark = ranks.needed

SOLVING = Path(__file__).parent / "solving.py"
ITERATIONS, FEWER = 25, {"phase": 12}  # then rounding, which grows, is still small
# Where the oracle is only as exact as the gap asks for, rounding moves the bound.
BOUND_ERROR = {"spheres": 1e-4, "rows": 1e-4}


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    rng = np.random.default_rng(0)
    edges = {(min(i, j), max(i, j)) for i, j in rng.integers(1, 81, (240, 2)).tolist() if i != j}
    path = tmp_path_factory.mktemp("graph") / "graph.txt"
    path.write_text(f"80 {len(edges)}\n" + "".join(f"{i} {j}\n" for i, j in sorted(edges)))
    convert_graph(path, path.with_name("graph.shards"), shards=3)
    return path.with_name("graph.shards")


@pytest.fixture(scope="module")
def alone(graph, tmp_path_factory):
    """What solves that nobody disturbs come to."""
    folder = tmp_path_factory.mktemp("alone")
    kinds = ("cgal", "lowrank", "theta", "spheres", "phase", "rows")
    return {what: solved(2, what, folder / what, graph) for what in kinds}


def solved(count: int, what: str, *words: object) -> dict[str, object]:
    ended = ranks.run(count, SOLVING, what, *words, FEWER.get(what, ITERATIONS))
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.parametrize(
    ("what", "killed", "when", "then"),
    [
        ("cgal", 1, "before write_part", 2),
        ("cgal", 2, "after write_part", 1),
        ("cgal", 0, "before put", 4),
        ("lowrank", 0, "before put", 1),
        ("theta", 1, "after write_part", 2),
        ("spheres", 1, "after write_part", 4),
        ("phase", 2, "before write_part", 2),
        ("rows", 0, "before put", 4),
    ],
)
def test_a_solve_goes_on_where_a_rank_was_killed(what, killed, when, then, graph, alone, tmp_path):
    folder = tmp_path / "run"
    ended = ranks.run(3, SOLVING, what, folder, graph, ITERATIONS, killed, when)
    assert ended.returncode != 0
    assert f"signal {int(signal.SIGKILL)}" in ended.stdout + ended.stderr
    resumed, whole = solved(then, what, folder, graph), alone[what]
    assert (resumed["k"], resumed["status"]) == (whole["k"], whole["status"])
    assert resumed["objective"] == pytest.approx(whole["objective"], rel=1e-6)
    assert resumed["bound"] == pytest.approx(whole["bound"], rel=BOUND_ERROR.get(what, 1e-6))
