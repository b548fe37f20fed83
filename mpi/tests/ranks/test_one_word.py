"""What one rank refuses at the command line ends all of them, with one line."""

import damaged_shards
import pytest
import ranks

from condal_mpi import convert_graph

pytestmark = ranks.needed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--as", "max-cut", "--json", "no/where.json"), "cannot be written"),
        (("--as", "max-cut", "--json", "-", "--out", "-"), "only one of --json and --out"),
        (("--as", "communities"), "--distributed is for --as max-cut, theta and phase-retrieval"),
        (("--as", "theta", "--complement"), "--distributed does not take --complement"),
        (("--as", "max-cut", "--save", "kept"), "--distributed does not take --save"),
        (("--as", "max-cut", "--method", "newton"), "--distributed takes --method auto, cgal"),
        (("--as", "max-cut", "--method", "spheres"), "on ranks is for theta; got 'max-cut'"),
        (("--as", "max-cut", "--max-memory", "1MB"), "max_memory is 1 MB per rank"),
    ],
    ids=["json", "stdout", "as", "complement", "save", "method", "spheres", "memory"],
)
def test_it_is_said_once_and_all_end(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.txt").write_text("4 3\n1 2\n2 3\n3 4\n")
    convert_graph("graph.txt", "graph.shards")
    ended = ranks.run(2, "-m", "condal", "solve", "graph.shards", "--distributed", *words)
    assert ended.returncode != 0
    assert ended.stderr.count("condal: error: ") == 1
    assert said in ended.stderr


def test_a_checkpoint_that_is_there_is_not_written_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.txt").write_text("4 3\n1 2\n2 3\n3 4\n")
    convert_graph("graph.txt", "graph.shards")
    words = ("solve", "graph.shards", "--as", "max-cut", "--distributed", "--checkpoint", "kept")
    assert ranks.run(2, "-m", "condal", *words).returncode == 0
    again = ranks.run(2, "-m", "condal", *words)
    assert again.returncode != 0
    assert "exists already and is not overwritten: resume it with" in again.stderr


@pytest.mark.parametrize("name", ["missing shard", "swapped with claims", "altered byte"])
def test_damaged_shards_are_refused_once(name, tmp_path):
    damage, said = damaged_shards.DAMAGES[name]
    damage(damaged_shards.put(tmp_path / "graph"))
    words = ("solve", tmp_path / "graph", "--as", "max-cut", "--distributed")
    ended = ranks.run(2, "-m", "condal", *words)
    assert ended.returncode != 0
    assert ended.stderr.count("condal: error: ") == 1
    assert said in ended.stderr
