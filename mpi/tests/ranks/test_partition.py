"""A graph is partitioned, solved and resumed by commands, each on its own number of ranks."""

import json

import numpy as np
import ranks

from condal.formats import read_graph
from condal.problems import max_cut
from condal_mpi import convert_graph
from condal_mpi.shards.folder import ShardFolder

pytestmark = ranks.needed


def put_ladder(path) -> None:
    """A ladder of 60 steps, numbered at random."""
    vertex = 1 + np.random.default_rng(0).permutation(120).reshape(60, 2)
    pairs = [*vertex.tolist(), *zip(vertex[:-1].ravel(), vertex[1:].ravel(), strict=True)]
    path.write_text(f"120 {len(pairs)}\n" + "".join(f"{i} {j}\n" for i, j in pairs))


def test_a_partitioned_graph_is_solved_and_resumed_on_other_numbers_of_ranks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put_ladder(tmp_path / "graph.txt")
    convert_graph("graph.txt", "graph.shards")
    words = ("-m", "condal", "convert", "graph.shards", "parts", "--order", "partition")
    ended = ranks.run(2, *words)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("mpirun -n 4 condal solve parts --as max-cut --distributed") == 1
    again = ranks.run(2, *words)
    assert again.returncode == 2
    assert again.stderr.count("condal: error: ") == 1
    assert "holds an earlier conversion" in again.stderr
    assert ShardFolder.open("parts").manifest.renumbered
    stopped = ("--max-iters", "1", "--tol", "1e-9", "--checkpoint", "run")
    solve = ("solve", "parts", "--as", "max-cut", "--distributed", *stopped)
    assert ranks.run(4, "-m", "condal", *solve).returncode == 1  # stopped by --max-iters
    words = ("resume", "run", "parts", "--tol", "1e-3", "--out", "signs", "--json", "result.json")
    ended = ranks.run(3, "-m", "condal", *words)
    assert ended.returncode == 0, ended.stderr
    model = max_cut(read_graph("graph.txt"))
    found = json.loads((tmp_path / "result.json").read_text())
    assert model.weight(np.loadtxt("signs")) == 178  # all edges: a ladder is bipartite
    assert found["status"] == "solved"
    # The same graph in another order is other data.
    ended = ranks.run(2, "-m", "condal", "resume", "run", "graph.shards")
    assert ended.returncode != 0
    assert ended.stderr.count("condal: error: ") == 1


def test_a_conversion_that_one_process_does_is_not_done_by_many(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put_ladder(tmp_path / "graph.txt")
    ended = ranks.run(2, "-m", "condal", "convert", "graph.txt", "graph.shards")
    assert ended.returncode == 2
    assert ended.stderr.count("only --order partition takes several ranks") == 1
    convert_graph("graph.txt", "graph.shards")
    words = ("convert", "graph.shards", "parts", "--order", "partition", "--shards", "3")
    ended = ranks.run(2, "-m", "condal", *words)
    assert ended.returncode == 2
    assert ended.stderr.count("does not take --shards") == 1
    ended = ranks.run(2, "-m", "condal", "convert", "graph.txt", "parts", "--order", "partition")
    assert ended.returncode == 2
    assert "make it once with condal convert graph.txt graph.txt.shards" in ended.stderr
