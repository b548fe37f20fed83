"""The sets: real data where they are, stand-ins of the same size where not."""

from __future__ import annotations

from importlib.util import find_spec, module_from_spec

import pytest

import condal
from condal.bench.sets import SETS, named
from condal.bench.sources import locate
from condal.errors import ProblemError
from condal.experiments.data import SOURCES
from condal.problem import problem_of
from known import DATA, needs_data


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Nothing is downloaded, and no folder or cache of the user's is read."""
    monkeypatch.delenv("CONDAL_DATA", raising=False)
    monkeypatch.setattr("condal.experiments.data._pooch", lambda: None)


def test_names_are_found():
    assert [one.name for one in named(("theta", "gset", "theta"))] == ["theta", "gset"]
    with pytest.raises(ProblemError, match="there is no set 'gsets'; there are gset, tori"):
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


@needs_data
@pytest.mark.parametrize("name", ["gset", "tori", "kmeans"])
def test_real_data_are_read_where_they_are(name):
    for case in SETS[name].cases:
        path = case.locate(DATA)
        assert not case.stands_in(path)
        if case.n <= 1000:
            assert problem_of(case.model(path)).X.n == case.n


@needs_data
def test_other_contents_are_not_taken_for_the_real_ones(tmp_path):
    (tmp_path / "G22.txt").write_text("2 1\n1 2 1\n")
    with pytest.raises(ProblemError, match="is not the file G22"):
        locate("G22", tmp_path)
    with pytest.raises(ProblemError, match="is not a folder"):
        locate("G22", tmp_path / "none")


def test_to_locate_a_file_changes_nothing(tmp_path):
    # As the module makes it: another test may have located files before.
    spec = find_spec("condal.experiments.data")
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
