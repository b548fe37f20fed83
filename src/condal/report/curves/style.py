"""The style of curves: colours, dashes, axes, and the thinning of many points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any, Literal, TypeAlias

import numpy as np

from condal.linalg.points import Array

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
