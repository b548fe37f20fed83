"""The curves of a solve: objective and bound, gap and infeasibility, cost per iteration.

matplotlib is imported on use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.report.curves.style import (
    BINS,
    COLOURS,
    DASHES,
    FAINT,
    LOG_ITERATIONS,
    X_AXES,
    ZERO_ERROR,
    Against,
    decades,
    drawing,
    line,
    logarithmic,
    styles,
)
from condal.runtime import extras

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Trace:
    """A solve to draw: the columns of its history, and the final certificate."""

    columns: Mapping[str, Array]
    objective: float
    bound: float
    gap: float
    label: str = ""
    tol: float | None = None
    upper: bool = False  # whether the bound is an upper bound

    def x(self, against: Against) -> Array:
        """Return the x-coordinates of the iterations."""
        return self.columns[X_AXES[against][0]]


def require_matplotlib() -> None:
    """Raise MissingExtra if matplotlib is not installed."""
    extras.require("matplotlib", what="figures need matplotlib", extra="report")


def plot(trace: Trace, *, against: Against = "iterations") -> Figure:
    """Draw the three panels of a solve side by side."""
    if against not in X_AXES:
        raise ProblemError(f"against must be one of {', '.join(X_AXES)}; got {against!r}")
    require_matplotlib()
    from matplotlib.figure import Figure

    with drawing():
        figure = Figure(figsize=(11.0, 3.3), layout="constrained")
        first, second, third = figure.subplots(1, 3)
        objective(first, [trace], against)
        errors(second, trace, against)
        cost(third, [trace], against)
        if trace.label:
            figure.suptitle(trace.label, x=0.008, ha="left", fontsize=11)
    return figure


def objective(axes: Any, traces: Sequence[Trace], against: Against) -> None:
    """Draw the objective and the estimated bound, and the final proved values."""
    alone, shown = len(traces) == 1, []
    for trace, (colour, dashes) in zip(traces, styles(), strict=False):
        x, values, bounds = trace.x(against), trace.columns["objective"], trace.columns["bound"]
        style = {"color": colour, "linestyle": "-" if alone else dashes}
        line(axes, x, values, against, label="objective" if alone else trace.label, **style)
        second = COLOURS[1] if alone else colour
        style = {"color": second, "linestyle": DASHES[1] if alone else DASHES[2]}
        line(axes, x, bounds, against, label="bound, estimated" if alone else None, **style)
        for value, marker, face in ((trace.objective, "o", colour), (trace.bound, "D", second)):
            if isfinite(value) and x.size:
                label = "bound, proved" if alone and marker == "D" else None
                style = {"color": face, "markersize": 5, "clip_on": False, "zorder": 4}
                axes.plot(x[-1], value, marker, label=label, **style)
                shown.append(value)
        shown += [*_late(values), *_late(bounds)]
    _window(axes, shown)
    title = "objective and bound" if alone else "objective and bound (dotted)"
    finish(axes, title, traces, against)


def errors(axes: Any, trace: Trace, against: Against) -> None:
    """Draw the gap, the infeasibility and its price of one solve, and the proved gap."""
    x = trace.x(against)
    names = {"gap": "gap, estimated", "infeasibility": "infeasibility", "price": "its price"}
    for (column, name), (colour, dashes) in zip(names.items(), styles(), strict=False):
        _error(axes, trace, column, against, color=colour, linestyle=dashes, label=name)
    if x.size and ZERO_ERROR < trace.gap < np.inf:
        axes.plot(x[-1], trace.gap, "D", color=COLOURS[0], markersize=5, label="gap, proved")
    if x.size and trace.tol is not None and trace.tol > ZERO_ERROR:
        style = {"color": FAINT, "linewidth": 1.0, "linestyle": DASHES[2]}
        axes.axhline(trace.tol, label="tolerance", zorder=1, **style)
    decades(axes)
    finish(axes, "gap and infeasibility", [trace], against)


def one_error(axes: Any, traces: Sequence[Trace], column: str, against: Against) -> None:
    """Draw the gap, the infeasibility or its price of several solves."""
    for trace, (colour, dashes) in zip(traces, styles(), strict=False):
        _error(axes, trace, column, against, color=colour, linestyle=dashes, label=trace.label)
    decades(axes)
    titles = {"gap": "gap, estimated", "price": "price of infeasibility"}
    finish(axes, titles.get(column, column), traces, against)


def _error(axes: Any, trace: Trace, column: str, against: Against, **style: Any) -> None:
    """Draw the values of a column above rounding; the label says if there are none."""
    values = trace.columns[column]
    positive = np.isfinite(values) & (values > ZERO_ERROR)
    if values.size and not positive.any():
        finite = np.isfinite(values).any()
        style["label"] += ": 0 up to rounding" if finite else ": none"
    line(axes, trace.x(against), np.where(positive, values, np.nan), against, **style)


def cost(
    axes: Any, traces: Sequence[Trace], against: Against, column: str = "matvecs", unit: float = 1.0
) -> None:
    """Draw the cost per iteration, as means over several iterations."""
    for trace, (colour, dashes) in zip(traces, styles(), strict=False):
        total, k, x = trace.columns[column], trace.columns["k"], trace.x(against)
        if k.size:
            keep = np.unique(np.linspace(0, k.size - 1, 2 * BINS).astype(int))
            if _long(x, against):
                keep = np.unique(np.geomspace(1, k.size, 2 * BINS).astype(int) - 1)
            steps = np.maximum(np.diff(k[keep], prepend=k[0] - 1), 1)
            each = unit * np.diff(total[keep], prepend=0.0) / steps
            style = {"color": colour, "linestyle": dashes, "drawstyle": "steps-mid"}
            line(axes, x[keep], each, against, label=trace.label, **style)
    axes.set_ylim(0, 1.05 * axes.get_ylim()[1])
    name = "matrix products" if column == "matvecs" else "milliseconds"
    finish(axes, f"{name} per iteration", traces, against, legend=len(traces) > 1)


def finish(
    axes: Any, title: str, traces: Sequence[Trace], against: Against, *, legend: bool = True
) -> None:
    """Add the title, the x-axis and the legend; a note if there is nothing to draw."""
    axes.set_title(title)
    axes.set_xlabel(X_AXES[against][1])
    drawn = [x for x in (trace.x(against) for trace in traces) if x.size]
    if not drawn:
        axes.text(0.5, 0.5, "no iterations", ha="center", va="center", transform=axes.transAxes)
        return
    if any(_long(x, against) for x in drawn):
        axes.set_xscale("log")
        logarithmic(axes.xaxis)
    elif against != "seconds":
        first, last = min(x[0] for x in drawn), max(x[-1] for x in drawn)
        axes.set_xlim(first - 0.04 * (last - first) - 0.5, last + 0.04 * (last - first) + 0.5)
        axes.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    if legend:
        axes.legend(fontsize=8)


def _long(x: Array, against: Against) -> bool:
    return against != "seconds" and x.size > 0 and x[-1] - x[0] >= LOG_ITERATIONS


def _late(values: Array) -> list[float]:
    """Return the range of the values after the first quarter, as the start may be far off."""
    late = values[values.size // 4 :]
    late = late[np.isfinite(late)]
    return [float(late.min()), float(late.max())] if late.size else []


def _window(axes: Any, shown: Sequence[float]) -> None:
    """Limit the y-axis to the given values and a margin."""
    if shown:
        low, high = min(shown), max(shown)
        margin = 0.08 * (high - low) or 0.05 * max(1.0, abs(high))
        axes.set_ylim(low - margin, high + margin)
