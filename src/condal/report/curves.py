"""The curves of a solve: objective and bound, gap and infeasibility, cost per iteration.

matplotlib is imported on use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.runtime import extras

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Against: TypeAlias = Literal["iterations", "oracle_calls", "seconds"]
X_AXES: dict[str, tuple[str, str]] = {  # the column of the history, and the label
    "iterations": ("k", "iteration"),
    "oracle_calls": ("oracle_calls", "oracle calls"),
    "seconds": ("seconds", "seconds"),
}

# Close to the colour-blind-safe colours of Okabe and Ito; dashes distinguish curves, too.
COLOURS = ("#0072b2", "#c04a00", "#00795a", "#a8407f", "#7a5c00", "#5a5f66")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (1.2, 1.4)), (0, (6, 1.5, 1.2, 1.5)))
INK, FAINT, GRID = "#24292f", "#59626b", "#d4d9de"
SETTINGS: Any = {
    "axes.edgecolor": FAINT,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "font.size": 9,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "text.color": INK,
    "text.parse_math": False,  # a name may contain a $
    "xtick.color": FAINT,
    "ytick.color": FAINT,
}
BINS = 120  # of a thinned curve; the minimum and maximum of each bin are drawn
MAX_MARKED_POINTS = 40  # of a curve with a marker per iteration
LOG_ITERATIONS = 200  # from this many iterations on the axis is logarithmic
ZERO_ERROR = 1e-12  # a gap or an infeasibility up to this is rounding
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_TURN = RLock()


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


# ---- style -------------------------------------------------------------------------------------


@contextmanager
def drawing(settings: Any = SETTINGS) -> Iterator[None]:
    """Draw with these matplotlib settings, one thread at a time, as all threads share them. Numbers
    too large for an axis are left out."""
    import matplotlib as mpl

    with _TURN, mpl.rc_context(settings), np.errstate(over="ignore", invalid="ignore"):
        yield


def styles() -> Iterable[tuple[str, Any]]:
    """Return pairs of colours and dashes, distinct among the first twelve."""
    return (
        (COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)])
        for i in range(len(COLOURS) * len(DASHES))
    )


def line(axes: Any, x: Array, y: Array, against: Against, **style: Any) -> None:
    """Draw a curve: few points are marked, many points are thinned."""
    finite = np.isfinite(x) & np.isfinite(y)
    few = np.count_nonzero(finite) <= MAX_MARKED_POINTS
    x, y = thinned(x[finite], y[finite], logarithmic=against != "seconds")
    marks = {"marker": ".", "markersize": 6.0} if few else {}
    axes.plot(x, y, linewidth=1.5, **marks, **style)


def thinned(x: Array, y: Array, *, logarithmic: bool) -> tuple[Array, Array]:
    """Return at most 2 BINS + 2 points: the ends, and the minimum and maximum of each bin."""
    if x.size <= 2 * BINS + 2:
        return x, y
    place = np.log(np.maximum(x, 1)) if logarithmic else x
    span = max(float(place[-1] - place[0]), 1e-300)
    bins = np.minimum((place - place[0]) / span * BINS, BINS - 1).astype(int)
    begins = np.flatnonzero(np.diff(bins, prepend=-1))
    chosen: list[Any] = [0, x.size - 1]
    for begin, end in zip(begins, [*begins[1:], x.size], strict=True):
        chosen += [begin + int(np.argmin(y[begin:end])), begin + int(np.argmax(y[begin:end]))]
    index = np.unique(chosen)
    return x[index], y[index]


def decades(axes: Any) -> None:
    """Make the y-axis logarithmic between whole powers of ten, so that it has ticks."""
    drawn = [np.asarray(curve.get_ydata(), dtype=np.float64) for curve in axes.get_lines()]
    values = np.concatenate([*drawn, np.zeros(0)])
    values = values[values > 0]
    axes.set_yscale("log")
    if values.size:
        low, high = np.floor(np.log10(values.min())), np.ceil(np.log10(values.max()))
        axes.set_ylim(10.0**low / 1.3, 10.0 ** max(high, low + 1) * 1.3)
    logarithmic(axes.yaxis)


def logarithmic(axis: Any) -> None:
    """Label the ticks of a logarithmic axis as 10⁻³, with characters of every font."""
    axis.set_major_formatter(power)
    axis.set_minor_formatter("")


def power(value: float, _: Any = None) -> str:
    """Return 10⁻³, but 1 to 1,000 as numbers; nothing for a tick that is not finite."""
    if not np.isfinite(value):
        return ""
    exponent = round(float(np.log10(value))) if value > 0 else 0
    if 0 <= exponent <= 3:
        return f"{10**exponent:,}"
    return "10" + str(exponent).translate(RAISED)
