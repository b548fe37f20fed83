"""condal solve: the methods of the paper and their parameters."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import condal
import condal_lab
from commands import refused, run
from condal.cli.settings import PARAMETERS, method_in, settings_of
from condal.cli.solve import solve
from condal.methods.registry import METHODS
from condal.methods.rules import Decr, Fixed, Harmonic, Proportional, Smoothed

PENTAGON = ("solve", "max-cut.txt", "--as", "max-cut")


def built(*words):
    """The method that the command line stands for."""
    return method_in(settings_of(solve.make_context("solve", [*PENTAGON[1:], *words]).params))


@pytest.mark.parametrize(
    ("words", "method"),
    [
        ("cgal --lam0 0.5", condal.CGAL(0.5)),
        ("cgal --D-Y 3 --normalise", condal.CGAL(D_Y=3.0)),
        ("cgal-decr --lam0 2 --D-Y paper", condal.CGAL(2.0, sigma=Decr(), D_Y=Proportional())),
        ("cgal-fc --lam0 2 --no-normalise", condal.methods.corrective(2.0, normalise=False)),
        ("cgal-smoothed --lam0 2", condal.CGAL(2.0, sigma=Smoothed())),
        ("hcgm --lam0 2 --no-normalise", condal.hcgm(2.0, normalise=False)),
        ("fw-al --lam0 2 --rho 0.5", condal.CGAL(Fixed(2.0), sigma=Harmonic(0.5))),
        ("ial --lam0 2 --eps 0.1", condal_lab.methods.IAL(2.0, 0.1)),
        ("upd --eps 0.1 --no-normalise", condal_lab.methods.UPD(0.1, normalise=False)),
        ("aupd --eps 0.1", condal_lab.methods.AUPD(0.1)),
        ("gdmm --lam0 2 --rho 0.5", condal_lab.methods.GDMM(2.0, 0.5)),
        ("cgs --lam0 2", condal_lab.methods.CGS(2.0)),
        ("smoothed-cg --no-normalise", condal_lab.methods.SmoothedCG(normalise=False)),
        ("sketchy-cgm", condal_lab.methods.SketchyCGM()),
        ("sketchy-cgal --lam0 2", condal_lab.methods.SketchyCGAL(2.0)),
    ],
)
def test_parameters_reach_the_method(words, method):
    assert built("--method", *words.split()) == method


@pytest.mark.parametrize("name", METHODS)
def test_every_method_and_every_parameter_that_it_takes_can_be_typed(name):
    values = {"lam0": 0.5, "D_Y": 2.0, "eps": 0.5, "rho": 0.5, "normalise": False}
    assert set(values) == set(PARAMETERS)
    options = METHODS[name].options
    method = METHODS[name](**{each: values[each] for each in options})
    assert method.name == name
    if "normalise" in options:
        assert not method.normalise
    ended = run(*PENTAGON, "--method", name, "--max-iters", "2", "--quiet")
    if ended.exit_code == 2:  # the method is for other problems, and says for which
        assert re.search(" needs | needs a problem without ", ended.stderr)
    else:
        assert ended.stderr == ""


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("--lam0 1", "--lam0 is a parameter of cgal, .*, sketchy-cgal; add --method cgal;"),
        ("--method cgal --eps 1", "of ial, upd, aupd; --method cgal takes --lam0, --normalise,"),
        ("--method lowrank --rho 1", "of fw-al, gdmm; --method lowrank takes none;"),
        ("--method cgal --lam0 0", "lam0 must be a positive number; got 0.0"),
        ("--method cgal --D-Y -1", "D_Y must be a positive number; got -1.0"),
        ("--method cgal --D-Y large", "wanted a positive number, or paper; got 'large'"),
        ("--method cgal --no-normalise", "lam0 is required for a problem that is not normalised"),
        ("--method fw-al --rho 2", r"rho must lie in \(0, 1\]; got 2.0"),
        ("--method upd --eps nan", "eps must be a positive number; got nan"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_before_the_file_is_read(words, text):
    Path("max-cut.txt").unlink()
    assert re.search(text, refused(*PENTAGON, *words.split()))


def test_the_solve_is_that_of_the_library():
    words = ("--method", "cgal", "--lam0", "0.5", "--D-Y", "paper", "--no-normalise")
    ended = run(*PENTAGON, *words, "--tol", "0", "--max-iters", "20", "--json", "-", "--quiet")
    record = json.loads(ended.stdout)
    model = condal.problems.max_cut(np.roll(np.eye(5), 1, axis=0) + np.roll(np.eye(5), -1, axis=0))
    method = condal.CGAL(0.5, D_Y=Proportional(), normalise=False)
    result = condal.solve(model, method, tol=0, max_iters=20)
    assert record["method"] == result.method == "cgal (not normalised)"
    assert record["iterations"] == 20
    assert record["objective"] == pytest.approx(result.objective, rel=1e-12)


def test_parameters_are_saved_and_resumed():
    words = ("--method", "cgal", "--lam0", "0.5", "--tol", "1e-9", "--max-iters", "4")
    run(*PENTAGON, *words, "--save", "saved", "--checkpoint", "run")
    settings = condal.load("saved").settings
    assert settings["lam0"] == 0.5
    assert not {"eps", "rho", "D_Y", "normalise"} & set(settings)
    run("resume", "run", "max-cut.txt", "--max-iters", "4", "--save", "resumed")
    lam = condal.load("resumed").result.history["lam"]
    np.testing.assert_allclose(lam, 0.5 * np.sqrt(np.arange(1, 9) + 1))


def test_a_sweep_varies_a_parameter():
    words = ("--method", "cgal", "--vary", "lam0=0.1,1", "--max-iters", "3", "--out", "sweep")
    ended = run("sweep", *PENTAGON[1:], *words, "--workers", "1")
    assert "lam0" in ended.stdout, ended.stderr


def test_the_help_fits_into_80_columns():
    text = run(*PENTAGON, "--help").stdout
    assert all(len(line) <= 80 for line in text.splitlines())
    for name in METHODS:
        assert name in text
