"""Existing results are kept: what a run replaces, repeats and refuses."""

from dataclasses import replace
from unittest.mock import Mock

import pytest

from condal.errors import CondalError
from condal_lab.bench import run as module
from condal_lab.bench.results import BenchRun, Results, load, machine, save, versions
from condal_lab.bench.run import MAX_RUNS, BenchPlan, run_set
from condal_lab.bench.sets import SETS
from condal_lab.bench.table import page

QUICK = SETS["quick"]


@pytest.fixture
def asked(monkeypatch):
    """Fake the runs and record the requests; `stop` interrupts the run of that number."""

    class Asked(list):
        stop, cpu = None, 10.0

        def run_once(self, job):
            if self.stop is not None and len(self) >= self.stop:
                raise KeyboardInterrupt
            self.append((job.case, job.solver))
            facts = {"cpu": self.cpu, "wall": self.cpu, "gap": 0.0, "infeasibility": 0.0}
            return BenchRun(**job.facts(), outcome="solved", repeats=[self.cpu], **facts)

    made = Asked()
    monkeypatch.setattr(module, "run_once", made.run_once)
    return made


def go(folder, peers=("SCS",), *, name="quick", **changes) -> Results:
    plan = BenchPlan(dict.fromkeys(peers, "3"), folder, **changes)
    return run_set(SETS[name], plan, say=lambda line: None, done=lambda run: None)


def keys(folder, name="quick"):
    return [run.key for run in load(folder, name).runs]


def test_an_interrupted_resume_keeps_all_that_was_there(tmp_path, asked):
    go(tmp_path)
    before = keys(tmp_path)
    assert len(before) == 6
    asked.stop = len(asked) + 1
    with pytest.raises(KeyboardInterrupt):
        go(tmp_path, ("Clarabel", "SCS"), resume=True)
    assert asked[6:] == [("cut-60", "Clarabel")]
    assert sorted(keys(tmp_path)) == sorted([*before, ("cut-60", "Clarabel", 1e-4)])
    asked.stop = None
    go(tmp_path, ("Clarabel", "SCS"), resume=True)
    assert len(asked) == len(keys(tmp_path)) == 9


@pytest.mark.parametrize("resume", [False, True])
def test_one_instance_or_peer_leaves_the_others(tmp_path, asked, resume):
    go(tmp_path)
    before = keys(tmp_path)
    go(tmp_path, instances=("theta-20",), resume=resume)
    assert keys(tmp_path) == before
    assert asked[6:] == ([] if resume else [("theta-20", "condal"), ("theta-20", "SCS")])
    go(tmp_path, (), resume=resume)
    assert keys(tmp_path) == before


def test_the_order_is_that_of_the_set_and_of_the_peers(tmp_path, asked):
    go(tmp_path, instances=("kmeans-18",))
    go(tmp_path, ("Clarabel",), instances=("cut-60",))
    go(tmp_path, ("SCS",), instances=("cut-60",), resume=True)
    assert [key[:2] for key in keys(tmp_path)] == [
        ("cut-60", "condal"),
        ("cut-60", "SCS"),
        ("cut-60", "Clarabel"),
        ("kmeans-18", "condal"),
        ("kmeans-18", "SCS"),
    ]


def test_runs_of_another_limit_or_of_other_versions_are_made_again(tmp_path, asked):
    first = go(tmp_path)
    go(tmp_path, max_seconds=60.0, instances=("cut-60",), resume=True)
    assert asked[6:] == [("cut-60", "condal"), ("cut-60", "SCS")]
    loaded = load(tmp_path, "quick")
    assert [run.max_seconds for run in loaded.runs] == [60.0] * 2 + [600.0] * 4
    assert "The limit per run was 60 or 600 s of CPU time" in page(QUICK, loaded)
    old = [replace(run, versions={**run.versions, run.solver: "0.0.1"}) for run in first.runs]
    save(tmp_path, replace(first, runs=old))
    loaded = go(tmp_path, resume=True, instances=("cut-60",))
    assert asked[8:] == [("cut-60", "condal"), ("cut-60", "SCS")]
    assert loaded.versions["SCS"] == "3 and 0.0.1"  # both, while runs of both exist
    assert go(tmp_path, resume=True).versions == versions({"SCS": "3"})
    assert len(asked) == 14


def test_a_file_of_another_machine_or_set_is_refused(tmp_path, asked):
    go(tmp_path)
    path = tmp_path / "bench-quick.json"
    before = load(tmp_path, "quick")
    for resume in (False, True):
        save(tmp_path, replace(before, machine={**machine(), "cpu": "an abacus"}))
        kept = path.read_text()
        with pytest.raises(CondalError, match=r"another machine \(an abacus, .* folder with --out"):
            go(tmp_path, resume=resume)
        assert path.read_text() == kept
    save(tmp_path, replace(before, runs=[replace(before.runs[0], case="cut-7")]))
    with pytest.raises(CondalError, match="a run of condal on cut-7, an unknown solver or"):
        go(tmp_path)
    path.write_text(path.read_text().replace('"eps"', '"epsilon"'))
    with pytest.raises(CondalError, match=r"cannot be read as results .*name another folder"):
        go(tmp_path)
    assert len(asked) == 6


def test_stand_ins_give_way_to_data(tmp_path, asked, monkeypatch):
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.delenv("CONDAL_DATA", raising=False)
    monkeypatch.setattr("condal_lab.experiments.data._download", Mock(side_effect=OSError))
    wanted = {"name": "tori", "instances": ("G67",), "data": folder, "resume": True}
    assert all(run.stand_in for run in go(tmp_path, **wanted).runs)
    monkeypatch.setattr("condal_lab.bench.cases.locate", lambda name, data: folder / name)
    assert not any(run.stand_in for run in go(tmp_path, **wanted).runs)
    assert len(asked) == 4


def test_missing_repeats_are_made(tmp_path, asked):
    asked.cpu, asked.stop = 1.0, 3  # both solvers once, and one of them again
    with pytest.raises(KeyboardInterrupt):
        go(tmp_path, instances=("cut-60",))
    assert [len(run.repeats) for run in load(tmp_path, "quick").runs] == [2, 1]
    asked.cpu, asked.stop = 0.5, None
    loaded = go(tmp_path, instances=("cut-60",), resume=True)
    assert [run.repeats for run in loaded.runs] == [[1.0, 1.0, 0.5], [1.0, 0.5, 0.5]]
    assert {run.cpu for run in loaded.runs} == {0.5}
    assert len(asked) == 2 * MAX_RUNS
    go(tmp_path, instances=("cut-60",), resume=True)
    assert len(asked) == 2 * MAX_RUNS
