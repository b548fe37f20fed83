"""The sets: real data where they are, stand-ins of the same size where not."""

from importlib.util import find_spec, module_from_spec
from unittest.mock import Mock

import numpy as np
import pytest

import condal
from condal.errors import ProblemError
from condal.problem import problem_of
from condal.problems.completion import matrix_completion
from condal.problems.conic import conic_model
from condal_lab.bench.cases import locate
from condal_lab.bench.peers import installed
from condal_lab.bench.peers.packages import OURS
from condal_lab.bench.peers.peer import Limits, PeerAnswer
from condal_lab.bench.results import Job
from condal_lab.bench.run import BenchPlan, jobs, run_once
from condal_lab.bench.sets import SETS, named
from condal_lab.bench.specialised import soft_impute
from condal_lab.bench.truths import Ratings, diffraction, noisy_entries, star_ratings
from condal_lab.experiments.data import SOURCES
from condal_lab.generated import sparse_rows, uniform_graph
from known import DATA, needs_data


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Download nothing, and read no folder or cache of the user."""
    monkeypatch.delenv("CONDAL_DATA", raising=False)
    monkeypatch.setattr("condal_lab.experiments.data._download", Mock(side_effect=OSError))


def test_names_are_found():
    assert [one.name for one in named(("theta", "gset", "theta"))] == ["theta", "gset"]
    with pytest.raises(ProblemError, match="there is no set 'gsets'; there are gset, rough"):
        named(("gsets",))
    with pytest.raises(ProblemError, match="the set theta has no instance 'G1'; it has theta-200"):
        SETS["theta"].case("G1")


@pytest.mark.parametrize("name", ["gset", "tori", "kmeans"])
def test_a_stand_in_has_the_size_of_the_real_one(name, tmp_path):
    for case in SETS[name].cases:
        path = case.locate(tmp_path)
        assert path is None
        assert case.stands_in(path)
        if case.n <= 1000:
            assert problem_of(case.model(None)).X.n == case.n


@pytest.mark.parametrize("name", ["sdplib", "dimacs"])
def test_nothing_stands_in_for_an_instance_of_a_library(name, tmp_path):
    said = []
    plan = BenchPlan({}, tmp_path, data=tmp_path)
    assert list(jobs(SETS[name], plan, said.append)) == []
    assert said == [
        f"{case.name}: left out, its file is not in --data and cannot be downloaded"
        for case in SETS[name].cases
    ]
    with pytest.raises(ProblemError, match="is missing, and there is no stand-in"):
        SETS[name].cases[0].model(None)


@needs_data
@pytest.mark.parametrize("name", ["gset", "tori", "kmeans", "sdplib", "dimacs"])
def test_real_data_are_read_where_they_are(name):
    for case in SETS[name].cases:
        path = case.locate(DATA)
        assert not case.stands_in(path)
        if case.n <= 400:
            assert problem_of(case.model(path)).X.n == case.n


@needs_data
@pytest.mark.parametrize(
    ("name", "instance"),
    [
        ("sdplib", "mcp100"),
        ("sdplib", "theta1"),
        ("sdplib", "qap5"),
        ("dimacs", "toruspm3-8-50"),
        ("dimacs", "torusg3-8"),
        ("dimacs", "hamming_7_5_6"),
    ],
)
def test_known_optima_are_reached(name, instance):
    case = SETS[name].case(instance)
    model = case.model(case.locate(DATA))
    result = condal.solve(model, tol=1e-4)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(case.optimum, rel=3e-4)
    sense = problem_of(model).sense
    assert sense * result.bound <= sense * case.optimum + 1e-6 * abs(case.optimum)


@needs_data
@pytest.mark.parametrize("peer", [name for name in ("CSDP", "SCS", "SDPA") if name in installed()])
def test_a_peer_takes_an_instance_of_a_library(peer):
    path = SETS["sdplib"].case("theta1").locate(DATA)
    whole = {"set": "sdplib", "case": "theta1", "solver": peer, "tol": 1e-4, "eps": 1e-5}
    run = run_once(Job(**whole, seconds=60.0, memory=8 << 30, path=str(path)))
    assert run.outcome == "solved", run.reason
    assert run.objective == pytest.approx(23.0, rel=2e-4)


@needs_data
def test_our_time_includes_the_bound_on_the_trace(monkeypatch):
    bounded = []

    def counted(program):
        bounded.append(program.name)
        return conic_model(program)

    model = SETS["sdplib"].case("theta1").model(DATA / "sdplib" / "theta1.dat-s.xz")
    monkeypatch.setattr("condal_lab.bench.peers.packages.conic_model", counted)
    task = OURS.prepare(model, 1e-2, Limits(60.0, 8 << 30, DATA))
    assert bounded == []
    task.solve()
    assert bounded == ["theta1"]


@needs_data
def test_other_contents_are_not_taken_for_the_real_ones(tmp_path):
    (tmp_path / "G22.txt").write_text("2 1\n1 2 1\n")
    with pytest.raises(ProblemError, match="is not the file G22"):
        locate("G22", tmp_path)
    with pytest.raises(ProblemError, match="is not a folder"):
        locate("G22", tmp_path / "none")


def test_to_locate_a_file_changes_nothing(tmp_path):
    # A fresh module: another test may have located files before.
    spec = find_spec("condal_lab.experiments.data")
    fresh = module_from_spec(spec)
    spec.loader.exec_module(fresh)
    before = set(fresh.SOURCES)
    needed = {case.needs for one in SETS.values() for case in one.cases if case.needs}
    assert needed <= before
    for name in needed:
        assert locate(name, tmp_path) is None
    assert before == set(SOURCES)


def test_generated_instances_stand_in_for_nothing():
    case = SETS["growth"].case("random-10000")
    assert not case.stands_in(case.locate(None))
    assert problem_of(case.model(None)).X.n == 10_000
    assert isinstance(SETS["theta"].case("theta-200").model(None), condal.Problem)
    assert SETS["theta"].case("theta-200").model(None).A.size == 5000


def test_a_case_names_its_peers_and_yardsticks(tmp_path):
    plan = BenchPlan({"SCS": "3", "Clarabel": "0", "CSDP": "6"}, tmp_path, data=tmp_path)
    named_jobs = {}
    for job in jobs(SETS["general"], plan):
        named_jobs.setdefault(job.case, []).append((job.solver, job.tol))
    assert named_jobs["theta-1000"] == [(name, 1e-6) for name in ("condal", "SCS", "CSDP", "eigh")]
    assert named_jobs["theta-2000"] == [("condal", 1e-6), ("condal", 1e-4), ("eigh", 1e-6)]
    assert named_jobs["ratings"] == [("condal", 1e-2), ("soft-impute", 1e-2)]
    assert "thetaG11" not in named_jobs  # nothing stands in for a file of a library


def test_the_time_of_ratings_includes_the_choice_of_the_radius(monkeypatch):
    chosen_radii = []
    monkeypatch.setattr(
        "condal_lab.bench.truths.matrix_completion",
        lambda *known, **more: chosen_radii.append(1) or matrix_completion(*known, **more),
    )
    model = Ratings.split(*star_ratings(20, 30, 300))
    task = OURS.prepare(model, 1e-2, Limits(60.0, 8 << 30, DATA))
    assert chosen_radii == []
    task.solve()
    assert chosen_radii == [1]
    error = model.test_error(task.answer())
    rival = PeerAnswer(recovered=soft_impute(model.shape, model.train, model.test[:2]))
    assert error == pytest.approx(model.test_error(rival), rel=0.3)


def test_a_known_signal_is_recovered():
    model = diffraction(4)
    task = OURS.prepare(model, 1e-6, Limits(60.0, 8 << 30, DATA))
    task.solve()
    assert model.signal_error(task.answer()) < 1e-2
    assert np.abs(diffraction(4, noise=0.05).model.b - model.model.b).max() > 0


def test_generated_rows_are_feasible():
    problem = sparse_rows(20, 40)
    assert (problem.A.size, problem.X.n) == (40, 20)
    assert noisy_entries(12, 60).shape == (12, 12)
    assert uniform_graph(50, 80).nnz == 160


def test_ours_stops_before_its_time_is_over():
    task = OURS.prepare(SETS["theta"].case("theta-1000").model(None), 1e-9, Limits(1.0, 1, DATA))
    task.solve()
    assert task.output.status is condal.Status.INTERRUPTED
