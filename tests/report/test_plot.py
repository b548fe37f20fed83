"""Result.plot and the curves: every result can be drawn, and thinning keeps what is seen."""

import io
from importlib import util

import numpy as np
import pytest
from matplotlib.figure import Figure

import condal
from condal.errors import CondalError, ProblemError
from condal.report import curves as style
from condal.result import unbegun
from condal.runtime import extras


def drawn(figure):
    stream = io.BytesIO()
    figure.savefig(stream, dpi=30)
    return stream.getvalue()


@pytest.mark.parametrize("name", ["solved", "limited", "infeasible", "blocks", "long"])
@pytest.mark.parametrize("against", ["iterations", "oracle_calls", "seconds"])
def test_every_result_is_drawn(name, against, request):
    figure = request.getfixturevalue(name).plot(against=against)
    assert isinstance(figure, Figure)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == [
        "objective and bound",
        "gap and infeasibility",
        "matrix products per iteration",
    ]
    xlabel = {"iterations": "iteration", "oracle_calls": "oracle calls"}.get(against, against)
    assert all(axes.get_xlabel() == xlabel for axes in figure.axes)
    assert drawn(figure).startswith(b"\x89PNG")


def test_a_solve_that_never_began_says_so(model):
    figure = unbegun(model.problem, "cgal", "reason").plot()
    assert [axes.texts[0].get_text() for axes in figure.axes] == ["no iterations"] * 3
    drawn(figure)


def test_iterations_are_whole_numbers_even_if_there_is_only_one(model):
    for axes in condal.solve(model, tol=1e-9, max_iters=1).plot().axes:
        low, high = axes.get_xlim()
        assert [tick for tick in axes.get_xticks() if low <= tick <= high] == [1]


def test_what_is_proved_and_what_is_asked_for_is_marked(solved):
    _, errors, _ = solved.plot().axes
    lines = {line.get_label(): line for line in errors.get_lines()}
    assert lines["gap, proved"].get_ydata() == [solved.gap]
    assert set(lines["tolerance"].get_ydata()) == {1e-3}
    assert "infeasibility: 0 up to rounding" in lines


def test_against_what(solved):
    kinds = "iterations, oracle_calls, seconds"
    with pytest.raises(ProblemError, match=f"against must be one of {kinds}; got 'time'"):
        solved.plot(against="time")


def test_oracle_calls_are_those_of_the_history(long):
    objective, errors, cost = long.plot(against="oracle_calls").axes
    calls = long.history["oracle_calls"]
    for axes in (objective, errors, cost):
        x = axes.get_lines()[0].get_xdata()
        assert set(x) <= set(calls)
        assert x[-1] == calls[-1]


def test_without_matplotlib_it_says_what_to_install(solved, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(CondalError, match=r"figures need matplotlib; .*'condal\[report\]'"):
        solved.plot()
    assert util.find_spec("matplotlib") is not None


@pytest.mark.parametrize("logarithmic", [False, True])
def test_thinning_keeps_the_ends_the_least_and_the_most(logarithmic):
    rng = np.random.default_rng(0)
    x, y = np.arange(1.0, 50_001.0), rng.standard_normal(50_000)
    few, kept = style.thinned(x, y, logarithmic=logarithmic)
    assert few.size <= 2 * style.BINS + 2
    assert (few[0], few[-1]) == (1.0, 50_000.0)
    assert (kept.min(), kept.max()) == (y.min(), y.max())
    assert np.array_equal(kept, y[few.astype(int) - 1])
    assert np.all(np.diff(few) > 0)


def test_a_short_curve_is_not_thinned():
    x = np.arange(20.0)
    assert all(a is b for a, b in zip(style.thinned(x, x, logarithmic=True), (x, x), strict=True))


def test_powers_of_ten_in_plain_letters():
    shown = [style.power(v) for v in (1e-12, 0.1, 1, 1000, 1e6)]
    assert shown == ["10⁻¹²", "10⁻¹", "1", "1,000", "10⁶"]
