"""The documentation of the paper's experiments and of rates agrees with the stored results."""

import re

import pytest

from condal_lab.benchmarks import paper
from condal_lab.benchmarks.paper import REMARKS, remark
from condal_lab.experiments.claims import ClaimVerdict
from condal_lab.experiments.folder import read_study
from condal_lab.experiments.instances import FULL
from condal_lab.experiments.rates import FILE, read_runs
from locations import ROOT

STUDIES = {
    "paper": (paper.STORED, paper.tables, ("paper.md", "paper-trials.md")),
    "rates": (paper.RATES, lambda: paper.rate_tables(read_runs(paper.RATES / FILE)), ("rates.md",)),
}
MAX_BYTES = 200_000


@pytest.fixture(scope="module")
def listed():
    """Every claim of every experiment, from the stored curves."""
    return [claim for experiment in paper.PAPER.values() for claim in paper.claims(experiment)]


@pytest.mark.parametrize("study", STUDIES)
def test_the_tables_are_those_of_the_stored_results(study):
    folder, tables, _ = STUDIES[study]
    for name, text in tables().items():
        stored = (folder / name).read_text(encoding="utf-8")
        assert stored == text, f"{name} is out of date: run make paper"


def test_every_instance_is_stored():
    assert {path.stem for path in paper.STORED.glob("*.json")} == {*FULL, paper.MEASURED}


@pytest.mark.parametrize("name", sorted(FULL))
def test_the_stored_trials_are_those_of_a_full_run(name):
    assert read_study(paper.STORED / f"{name}.json").budget.calls == paper.PLANS[name].full.calls


@pytest.mark.parametrize("name", ["maxcut-gset", "maxcut-small", "clustering", "geneig"])
def test_a_figure_names_the_best_parameters_in_full(name):
    figure = (paper.STORED / f"{name}.svg").read_text(encoding="utf-8")
    for study in paper.studies(paper.PAPER[name]):
        for method in study.tuned.values():
            assert f">{method.label}</text>" in figure


@pytest.mark.parametrize("study", STUDIES)
def test_every_table_and_figure_is_on_a_page_and_small(study):
    folder, _, pages = STUDIES[study]
    text = "\n".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in pages)
    shown = set(re.findall(rf"\.\./lab/results/{study}/([\w.-]+)", text))
    stored = [path for path in folder.iterdir() if path.suffix in (".md", ".svg")]
    assert shown == {path.name for path in stored}
    for path in (*stored, paper.RATES / FILE):
        assert path.stat().st_size < MAX_BYTES, path.name


def test_every_claim_that_fails_is_explained(listed):
    unexplained = {
        (claim.instance, claim.text)
        for claim in listed
        if claim.verdict in (ClaimVerdict.FAILS, ClaimVerdict.UNDECIDED) and not remark(claim)
    }
    assert not unexplained


def test_every_remark_is_about_a_claim(listed):
    known = {claim.text for claim in listed} | {f"{c.instance}: {c.text}" for c in listed}
    assert set(REMARKS) <= known
