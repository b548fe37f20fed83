"""Figures of the experiments, and of the rates; only this module of the experiments imports
matplotlib.

Those in the paper's layout show the objective residual and the feasibility gap against lmo calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from condal.linalg.points import Array
from condal.report.figures import rounded_coordinates
from condal_lab.experiments.claims import Study, Tuned, label
from condal_lab.experiments.contenders import CONTENDERS
from condal_lab.experiments.curve import Curve
from condal_lab.experiments.rate_claims import select
from condal_lab.experiments.rates import METHODS, SHOWN, RateRun, peak_positions

# The colours of Okabe and Ito for colour-blind readers, and a line style for each method, which
# distinguishes them in grey.
STYLES: dict[str, tuple[str, Any]] = {
    "cgal": ("#0072B2", "-"),
    "cgal-decr": ("#56B4E9", (0, (6, 1.5))),
    "cgal-ls": ("#009E73", (0, (4, 1, 1, 1))),
    "corrective": ("#000000", (0, (1, 1))),
    "hcgm": ("#D55E00", (0, (9, 2))),
    "fwal": ("#CC79A7", (0, (3, 1, 1, 1, 1, 1))),
    "ial": ("#8C6D00", (0, (5, 1, 2, 1))),
    "ial-ls": ("#8C6D00", (0, (1, 2))),
    "upd": ("#E69F00", (0, (2, 1))),
    "aupd": ("#E69F00", (0, (7, 1, 1, 1, 1, 1))),
}
LABELS = ("relative objective residual", "relative feasibility gap")
SETTINGS: Any = {
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.labelsize": 8.5,
    "legend.fontsize": 7.5,
    "svg.hashsalt": "condal",  # makes the files reproducible
    "svg.fonttype": "none",  # text as text makes small files
    "path.simplify_threshold": 0.5,  # points by which a curve may move
}
ROWS_PER_PAGE = 4  # as in the paper
LEGEND_LINES = 16  # per column
GREY = "0.45"
WIDTH, LEGEND, BETWEEN, MARGIN, LINE = 10.5, 2.35, 0.8, 0.1, 0.165  # inches


def draw(
    layout: str,
    studies: Sequence[Study],
    stem: Path,
    suffixes: Sequence[str] = (".png", ".svg"),
) -> list[Path]:
    """Draw and save STEM.png and STEM.svg, or STEM-1, STEM-2, ... for several pages."""
    with mpl.rc_context(SETTINGS):
        if layout == "trials":
            pages = [
                save(_trials(study, names), stem.with_name(f"{stem.name}-{number}"), suffixes)
                for study in studies
                for number, names in enumerate(_pages(list(study.tuned)), start=1)
            ]
            return [path for page in pages for path in page]
        return save(_best(studies, atoms=layout == "atoms"), stem, suffixes)


def _best(studies: Sequence[Study], *, atoms: bool) -> Figure:
    """Draw one row per instance, every method with its best parameters.

    The corrective method, which is far ahead and would squeeze the others, has a row of its own.
    """
    rows = [(study, names) for study in studies for names in _rows(study)]
    lines = max(len(names) for _, names in rows) + 2 + (2 if atoms else 0)
    figure, axes = _grid(len(rows), lines)
    for (study, names), row in zip(rows, axes, strict=True):
        for name in names:
            tuned, (colour, dashes) = study.tuned[name], STYLES[name]
            style = {"color": colour, "linestyle": dashes, "linewidth": 1.3}
            _plot(row, tuned, tuned.curve, study.optimum, {**style, "label": tuned.label})
            if atoms and name in ("cgal", "hcgm"):
                dotted = {"color": colour, "linestyle": ":", "linewidth": 1.0, "alpha": 0.9}
                label = f"{tuned.contender.label}, atoms s_k"
                _plot_atoms(row, tuned.curve, study.optimum, {**dotted, "label": label})
        corrective = ", fully corrective" if "corrective" in names else ""
        _finish(row, study, study.title + corrective)
    return figure


def _rows(study: Study) -> list[list[str]]:
    """Return the methods of each row of panels."""
    others = [name for name in study.tuned if name != "corrective"]
    if len(others) == len(study.tuned):
        return [others]
    return [others, [name for name in ("cgal", "corrective") if name in study.tuned]]


def _trials(study: Study, names: Iterable[str]) -> Figure:
    """Draw one row per method: every trial, coloured by its first parameter."""
    listed = list(names)
    lines = max(len(study.tuned[name].trials) for name in listed) + 2
    figure, axes = _grid(len(listed), min(lines, LEGEND_LINES))
    for name, row in zip(listed, axes, strict=True):
        tuned = study.tuned[name]
        settings = sorted(tuned.trials)
        colours = colormaps["viridis"](np.linspace(0.0, 0.93, len(settings)))
        for setting, colour in zip(settings, colours, strict=True):
            best = setting == tuned.setting
            style = {
                "color": "#D55E00" if best else colour,
                "linewidth": 1.8 if best else 0.8,
                "zorder": 3 if best else 2,
                "label": tuned.contender.describe(setting) + (" (best)" if best else ""),
            }
            _plot(row, tuned, tuned.trials[setting].curve.iterates, study.optimum, style)
        columns = 1 if len(settings) + 2 <= LEGEND_LINES else 2
        _finish(row, study, f"{CONTENDERS[name].label}, {study.title}", columns=columns)
    return figure


def _grid(rows: int, lines: int) -> tuple[Figure, Any]:
    """Make rows of two panels, high enough for legends of `lines` lines on their right."""
    panel = max(2.0, LINE * lines)
    height = rows * (panel + BETWEEN) + MARGIN
    figure = Figure(figsize=(WIDTH, height))
    # Fixed margins in inches: an automatic layout would draw everything twice more.
    figure.subplots_adjust(
        left=0.7 / WIDTH,
        right=1 - LEGEND / WIDTH,
        wspace=0.22,
        top=1 - 0.3 / height,
        bottom=(BETWEEN + MARGIN - 0.3) / height,
        hspace=BETWEEN / panel,
    )
    return figure, figure.subplots(rows, 2, squeeze=False)


def _plot(row: Any, tuned: Tuned, curve: Curve, optimum: float, style: dict[str, Any]) -> None:
    steps = {"drawstyle": "steps-post"} if tuned.contender.stairs else {}
    for axis, values in zip(row, (curve.residual(optimum), curve.infeasibility), strict=True):
        axis.plot(curve.calls, _positive(values), **style, **steps)


def _plot_atoms(row: Any, curve: Curve, optimum: float, style: dict[str, Any]) -> None:
    both = curve.atom_residual(optimum), curve.atom_infeasibility
    for axis, values in zip(row, both, strict=True):
        axis.plot(curve.calls, _positive(values), **style)


def _finish(row: Any, study: Study, title: str, *, columns: int = 1) -> None:
    """Set scales, guide lines, labels and legend."""
    for axis, what in zip(row, LABELS, strict=True):
        _logarithmic(axis, "lmo calls")
        low, high = _range(axis)
        if high > 0:
            axis.set_ylim(max(low, 1e-13) / 1.6, high * 2.5)
            _guides(axis, study.budget.calls, high)
        axis.set_ylabel(what)
    row[0].set_title(title, loc="left")
    row[1].legend(
        loc="upper left",
        bbox_to_anchor=(1.01, 1.02),
        frameon=False,
        borderaxespad=0.0,
        handlelength=2.6,
        ncols=columns,
        labelspacing=0.35,
    )


def _logarithmic(axis: Any, what: str) -> None:
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel(what)
    axis.grid(True, which="major", linewidth=0.4, alpha=0.5)
    axis.minorticks_off()


def _range(axis: Any) -> tuple[float, float]:
    """Return the least and the largest value that is drawn; zeros if there is none."""
    drawn = [np.asarray(line.get_ydata(), dtype=np.float64) for line in axis.get_lines()]
    values = np.concatenate([np.zeros(0), *drawn])
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)


def _guides(axis: Any, calls: float, top: float) -> None:
    """Draw c/k and c/sqrt(k) from the value `top` at k = 1 to the last of `calls`."""
    k = np.array([1.0, float(calls)])
    for power, dashes, name in ((1.0, "--", "O(1/k)"), (0.5, ":", "O(1/√k)")):
        axis.plot(k, top * k**-power, color=GREY, linestyle=dashes, linewidth=0.9, label=name)
    axis.set_xlim(k[0], k[-1])


def _positive(values: Array) -> Array:
    """Replace values that a logarithmic axis cannot show by NaN."""
    return np.where(values > 0, values, np.nan)


def _pages(names: list[str]) -> list[list[str]]:
    return [names[i : i + ROWS_PER_PAGE] for i in range(0, len(names), ROWS_PER_PAGE)]


def save(figure: Figure, stem: Path, suffixes: Sequence[str]) -> list[Path]:
    """Save a figure under each suffix."""
    paths = [stem.with_name(f"{stem.name}{suffix}") for suffix in suffixes]
    for path in paths:
        if path.suffix == ".svg":
            path.write_text(_svg(figure), encoding="utf-8")
        else:
            figure.savefig(path, dpi=160)
    return paths


def _svg(figure: Figure) -> str:
    """Return the figure as SVG, with rounded coordinates."""
    text = StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return rounded_coordinates(text.getvalue())


RATES_HEIGHT = 6.2  # inches
TWIN_SHIFT = 0.17  # from the middle of a method, of its strict instances to the left
RATE_LABELS = {
    "objective": "|f - f*|, relative to |y*| |A| D_X",
    "gap": "dist(Ax, K), relative to |A| D_X",
}
TITLES = (
    "median, strictly complementary",
    "median, not strictly complementary",
    "slopes (filled: strict, open: not), twins joined",
)


def draw_rates(
    runs: Sequence[RateRun], stem: Path, suffixes: Sequence[str] = (".png", ".svg")
) -> list[Path]:
    """Draw and save the medians of the methods, and the slopes of all pairs, lam0 in the middle."""
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(WIDTH, RATES_HEIGHT))
        figure.subplots_adjust(left=0.07, right=0.99, top=0.95, bottom=0.135, wspace=0.26)
        axes = figure.subplots(len(SHOWN), 3)
        for row, residual in zip(axes, SHOWN, strict=True):
            for axis, strict in zip(row, (True, False), strict=False):
                _curves(axis, [run for run in runs if run.strict == strict], residual)
            row[0].set_ylabel(RATE_LABELS[residual])
            low = min(axis.get_ylim()[0] for axis in row[:2])
            high = max(axis.get_ylim()[1] for axis in row[:2])
            for axis in row[:2]:
                last = float(axis.get_lines()[0].get_xdata()[-1])
                _guides(axis, 10.0 ** np.ceil(np.log10(last)), _range(axis)[1])
                axis.set_ylim(low, high)
            _slopes(row[2], runs, residual)
        for axis, title in zip(axes[0], TITLES, strict=True):
            axis.set_title(title, loc="left")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="lower center", ncols=len(labels), frameon=False)
        return save(figure, stem, suffixes)


def _curves(axis: Any, runs: Sequence[RateRun], residual: str) -> None:
    """Draw the median over the instances of the peaks of each quarter of a decade."""
    for method in METHODS:
        peaks = [run.peaks[residual] for run in select(runs, method)]
        medians = np.median(np.array(peaks), axis=0)
        colour, dashes = STYLES[method]
        k = peak_positions(medians.size)
        axis.plot(k, medians, color=colour, linestyle=dashes, linewidth=1.5, label=label(method))
    _logarithmic(axis, "iteration k")


def _slopes(axis: Any, runs: Sequence[RateRun], residual: str) -> None:
    """Draw the slopes of the twins side by side, strict ones filled, and their medians."""
    for middle, method in enumerate(METHODS):
        chosen, colour = select(runs, method), STYLES[method][0]
        twins = {(run.pair, run.strict): run.slopes[residual].value for run in chosen}
        x = np.array([middle - TWIN_SHIFT, middle + TWIN_SHIFT])
        names = [pair for pair, strict in twins if strict]
        pairs = np.array([[twins[name, strict] for strict in (True, False)] for name in names])
        axis.plot(x, pairs.T, color=colour, linewidth=0.6, alpha=0.45, zorder=1)
        for column, face in enumerate((colour, "white")):
            places = np.full(len(pairs), x[column])
            axis.plot(places, pairs[:, column], "o", ms=4, mec=colour, mfc=face, mew=0.9, zorder=2)
        axis.hlines(np.nanmedian(pairs, axis=0), x - 0.1, x + 0.1, color="black", lw=1.6, zorder=3)
    for slope, dashes in ((-0.5, ":"), (-1.0, "--")):
        axis.axhline(slope, color=GREY, linestyle=dashes, linewidth=0.9, zorder=0)
    names = [label(method).replace(" (", "\n(") for method in METHODS]
    axis.set_xticks(range(len(METHODS)), names)
    axis.set_xlim(-0.5, len(METHODS) - 0.5)
    axis.set_ylabel(f"slope of {RATE_LABELS[residual].split(', rel')[0]}")
