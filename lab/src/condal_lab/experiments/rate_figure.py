"""The figure of the rates: median curves of each method, and the slopes of every pair."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from condal_lab.experiments.claims import label
from condal_lab.experiments.figures import GREY, SETTINGS, STYLES, WIDTH, save
from condal_lab.experiments.rate_claims import select
from condal_lab.experiments.rates import METHODS, SHOWN, RateRun, peak_positions

HEIGHT = 6.2  # inches
TWIN_SHIFT = 0.17  # from the middle of a method, of its strict instances to the left
LABELS = {
    "objective": "|f - f*|, relative to |y*| |A| D_X",
    "gap": "dist(Ax, K), relative to |A| D_X",
}
TITLES = (
    "median, strictly complementary",
    "median, not strictly complementary",
    "slopes (filled: strict, open: not), twins joined",
)


def draw(
    runs: Sequence[RateRun], stem: Path, suffixes: Sequence[str] = (".png", ".svg")
) -> list[Path]:
    """Draw and save the figure, with lam0 at the middle of the grid."""
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(WIDTH, HEIGHT))
        figure.subplots_adjust(left=0.07, right=0.99, top=0.95, bottom=0.135, wspace=0.26)
        axes = figure.subplots(len(SHOWN), 3)
        for row, residual in zip(axes, SHOWN, strict=True):
            for axis, strict in zip(row, (True, False), strict=False):
                _curves(axis, [run for run in runs if run.strict == strict], residual)
            row[0].set_ylabel(LABELS[residual])
            low = min(axis.get_ylim()[0] for axis in row[:2])
            high = max(axis.get_ylim()[1] for axis in row[:2])
            for axis in row[:2]:
                axis.set_ylim(low, high)
                _guides(axis)
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
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("iteration k")
    axis.grid(True, which="major", linewidth=0.4, alpha=0.5)
    axis.minorticks_off()


def _guides(axis: Any) -> None:
    """Draw c/k and c/sqrt(k) through the highest value."""
    (low, high), lines = axis.get_ylim(), axis.get_lines()
    top = max(float(np.max(line.get_ydata())) for line in lines)
    k = np.array([1.0, 10.0 ** np.ceil(np.log10(float(lines[0].get_xdata()[-1])))])
    for power, dashes, name in ((0.5, ":", "O(1/√k)"), (1.0, "--", "O(1/k)")):
        axis.plot(k, top * k**-power, color=GREY, linestyle=dashes, linewidth=0.9, label=name)
    axis.set_xlim(k[0], k[-1])
    axis.set_ylim(low, high)


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
    axis.set_ylabel(f"slope of {LABELS[residual].split(', rel')[0]}")
