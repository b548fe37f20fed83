"""A solve whose ranks are killed goes on on another number of them, to where it would have come."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import numpy as np
import pytest
import ranks

from condal.formats import convert_graph

pytestmark = ranks.needed

SOLVING = Path(__file__).parent / "solving.py"
ITERATIONS = 25


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
    """What a solve that nobody disturbs comes to."""
    return solved(2, tmp_path_factory.mktemp("alone") / "run", graph)


def solved(count: int, *words: object) -> dict[str, object]:
    ended = ranks.run(count, SOLVING, *words, ITERATIONS)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.parametrize(
    ("killed", "when", "then"),
    [
        (1, "before write_part", 2),
        (2, "after write_part", 1),
        (0, "before put", 4),
    ],
)
def test_a_solve_goes_on_where_a_rank_was_killed(killed, when, then, graph, alone, tmp_path):
    folder = tmp_path / "run"
    ended = ranks.run(3, SOLVING, folder, graph, ITERATIONS, killed, when)
    assert ended.returncode != 0
    assert f"signal {int(signal.SIGKILL)}" in ended.stdout + ended.stderr
    found = solved(then, folder, graph)
    assert (found["k"], found["status"]) == (alone["k"], alone["status"])
    assert found["objective"] == pytest.approx(alone["objective"], rel=1e-6)
    assert found["bound"] == pytest.approx(alone["bound"], rel=1e-6)
