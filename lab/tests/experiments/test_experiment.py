"""`condal experiment`: its errors, its list, and every experiment on tiny budgets."""

import re
import signal
import subprocess
import sys
from dataclasses import replace
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

from commands import AS_A_SHELL_STARTS_IT
from condal.cli.app import cli
from condal_lab.commands.experiment import summary
from condal_lab.experiments import catalogue
from condal_lab.experiments.catalogue import EXPERIMENTS, ExperimentReport
from condal_lab.experiments.claims import ClaimVerdict, PaperClaim
from condal_lab.experiments.contenders import CONTENDERS
from condal_lab.experiments.trial import TrialBudget
from condal_lab.sweeps import Lines

NAMES = [
    "maxcut-small",
    "maxcut-small-trials",
    "maxcut-gset",
    "clustering",
    "geneig",
    "guarantees",
    "rates",
]


def condal(*arguments):
    return CliRunner().invoke(cli, ["experiment", *map(str, arguments)])


@pytest.fixture(scope="module")
def tiny():
    """The catalogue, with budgets of 25 calls."""
    with pytest.MonkeyPatch.context() as patch:
        for name, experiment in EXPERIMENTS.items():
            plans = tuple(
                replace(plan, quick=replace(plan.quick, calls=25)) for plan in experiment.plans
            )
            patch.setitem(catalogue.EXPERIMENTS, name, replace(experiment, plans=plans))
        yield


@pytest.fixture(scope="module")
def everything(tiny, tmp_path_factory):
    """Run all experiments on all cores; return the folder and the output."""
    folder = tmp_path_factory.mktemp("experiments")
    result = condal("--quick", "--out", folder)
    assert result.exit_code == 0, result.output
    return folder, result


def test_the_list_names_every_experiment_within_80_columns():
    result = condal("--list")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.splitlines() if line[2:3] != " "] == [
        *NAMES,
        "all",
    ]
    assert max(map(len, result.output.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["maxcut-big"], "there is no experiment 'maxcut-big'; there are maxcut-small,"),
        ([], "which experiment? There are maxcut-small"),
    ],
)
def test_errors_say_which_experiments_there_are(tmp_path, words, said):
    result = condal(*words, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert said in result.output
    assert not (tmp_path / "out").exists()


def test_missing_data_are_an_error_before_anything_is_run(tmp_path, monkeypatch):
    monkeypatch.setattr("condal_lab.experiments.data._download", Mock(side_effect=OSError))
    monkeypatch.delenv("CONDAL_DATA", raising=False)
    (tmp_path / "data").mkdir()
    result = condal("geneig", "--data", tmp_path / "data", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "the file G40 is not in" in result.output
    assert not (tmp_path / "out" / "trials").exists()


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_leaves_figures_and_claims(everything, name):
    folder, result = everything
    section = folder / f"{name}-quick"
    pictures = list(section.glob("*.png"))
    assert bool(pictures) == (name != "guarantees")
    for picture in pictures:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert "<svg" in picture.with_suffix(".svg").read_text()
        assert str(picture) in result.stdout
    page = (section / "claims.md").read_text()
    assert page.startswith(f"# {name}-quick: ")
    assert "**holds**" in page or "**does not hold**" in page
    for contender in EXPERIMENTS[name].contenders:
        assert f"| {CONTENDERS[contender].label} |" in page
    assert str(section / "claims.md") in result.stdout


def test_what_is_printed_fits_80_columns(everything):
    folder, result = everything
    assert max(map(len, result.stdout.replace(str(folder), "").splitlines())) <= 80


def test_the_same_command_computes_nothing_again(everything):
    folder, _ = everything
    again = condal("maxcut-small-trials", "--quick", "--out", folder)
    assert again.exit_code == 0, again.output
    assert "results were there already" in again.output
    assert not re.search(r"^ +\d+/\d+ ", again.output, re.MULTILINE)


def test_ctrl_c_stops_at_once_and_keeps_what_is_done(tmp_path):
    command = [sys.executable, "-c", AS_A_SHELL_STARTS_IT, "experiment", "maxcut-small", "--quick"]
    process = subprocess.Popen(
        [*command, "--workers", "1", "--out", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.lstrip().startswith("2/"):  # the optimum, and a trial
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert f"stopped; finished runs are in {tmp_path}: repeat the command to resume" in out
    assert "Traceback" not in err
    assert list((tmp_path / "trials").rglob("*.json"))


def claim(verdict, instance="a"):
    return PaperClaim("5", "it is so", "0.5", verdict, instance)


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ([claim(ClaimVerdict.HOLDS)], "  holds  it is so (0.5)"),
        ([claim(ClaimVerdict.FAILS)], "  does not hold  it is so (0.5)"),
        (
            [claim(ClaimVerdict.HOLDS), claim(ClaimVerdict.HOLDS, "b")],
            "  holds  it is so (all 2 instances)",
        ),
        (
            [claim(ClaimVerdict.HOLDS), claim(ClaimVerdict.FAILS, "b")],
            "  partly  it is so (does not hold on b)",
        ),
    ],
)
def test_a_summary_is_a_line_a_claim(tmp_path, claims, said):
    report = ExperimentReport(
        (tmp_path / "x.png", tmp_path / "x.svg"), tmp_path / "claims.md", tuple(claims)
    )
    lines = summary(report).splitlines()
    assert lines == [said, "", f"  {tmp_path / 'x.png'}", f"  {tmp_path / 'claims.md'}"]


def test_progress_is_a_line_a_trial(capsys):
    with Lines() as watch:
        watch.asked("g1: HCGM, lam0 = 1")
        watch.done("g1: HCGM, lam0 = 1", 1.25, 0.003)
        watch.found("g1: certified optimum")
    lines = capsys.readouterr().err.splitlines()
    assert lines.pop(0) == "  first: g1: HCGM, lam0 = 1; it may take minutes"
    assert lines[0].split() == ["1/1", "g1:", "HCGM,", "lam0", "=", "1", "3.0e-03", "1.2", "s"]
    assert lines[1] == "  1 results were there already"


def test_budgets_are_what_the_catalogue_says():
    for experiment in EXPERIMENTS.values():
        for plan in experiment.plans:
            assert plan.case(quick=True).budget == plan.quick
            assert plan.case(quick=False).budget == plan.full
            assert plan.case(quick=False, seconds=2.0).budget == replace(plan.full, seconds=2.0)
            assert plan.case(quick=True, seconds=1e9).budget == plan.quick
            assert plan.full.seconds is None  # a full trial does not depend on the clock
            assert isinstance(plan.full, TrialBudget)
            assert plan.quick.calls < plan.full.calls


def test_the_study_of_rates_takes_any_number_of_iterations(tmp_path):
    result = condal("rates", "--quick", "--iterations", 12, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "rates-quick-12" / "claims.md").exists()
    refused = condal("maxcut-small", "--quick", "--iterations", 12, "--out", tmp_path)
    assert "--iterations is a parameter of the experiment rates" in refused.output
