"""The command `condal bench`, from its arguments to its files."""

import json
import re

import pytest
from click.testing import CliRunner

from condal.cli.app import cli
from condal_lab.bench.peers import PEERS, installed


def invoke(*arguments: str):
    return CliRunner().invoke(cli, ["bench", *arguments])


def test_the_list_tells_of_sets_and_peers():
    result = invoke("--list")
    assert result.exit_code == 0
    for name in ("gset", "rough", "tori", "theta", "kmeans", "growth", "sdplib", "dimacs", "quick"):
        assert f"\n  {name} " in result.output
    here = installed()
    for name, peer in PEERS.items():
        line = next(one for one in result.output.splitlines() if one.startswith(f"  {name} "))
        assert here[name] in line if name in here else "not installed: " in line
        assert peer.install
    assert max(map(len, result.output.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), r"which set\? There are gset"),
        (("none",), "there is no set 'none'"),
        (("quick", "--peers", "nobody"), "there is no peer 'nobody'"),
        (("quick", "--instances", "G1"), "there is no instance 'G1'; there are cut-60"),
    ],
)
def test_errors_say_what_there_is(arguments, text):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert re.search(text, result.output)


def test_a_quick_run_from_end_to_end(tmp_path, monkeypatch):
    monkeypatch.setattr("condal_lab.bench.run.MAX_RUNS", 1)
    peers = ",".join(name for name in ("SCS", "Pymanopt") if name in installed())
    result = invoke(
        "quick", "--instances", "cut-60", "--peers", peers, "--out", str(tmp_path), "--tol", "1e-3"
    )
    assert result.exit_code == 0, result.output
    assert "cut-60: max-cut, n = 60, to 1e-3" in result.output
    assert max(map(len, result.stdout.splitlines())) <= max(80, len(str(tmp_path)) + 30)
    record = json.loads((tmp_path / "bench-quick.json").read_text())
    runs = {run["solver"]: run for run in record["runs"]}
    assert runs["condal"]["outcome"] == "solved"
    for name in peers.split(",") if peers else ():
        assert runs[name]["outcome"] == "solved"
        assert runs[name]["gap"] <= 1e-3
        assert name in record["versions"]
        assert (tmp_path / "bench-quick.svg").is_file()
    assert str(tmp_path) not in (tmp_path / "bench-quick.md").read_text()
    before = (tmp_path / "bench-quick.json").read_text()
    chosen = ("--instances", "cut-60", "--peers", peers, "--tol", "1e-3")
    again = invoke("quick", *chosen, "--out", str(tmp_path), "--resume")
    assert again.exit_code == 0
    assert (tmp_path / "bench-quick.json").read_text() == before  # not computed again


def test_a_set_without_a_wanted_instance_is_left_as_it_is(tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr("condal_lab.commands.bench._run", lambda one, plan: ran.append(one.name))
    result = invoke("quick", "theta", "--instances", "cut-60", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert ran == ["quick"]
