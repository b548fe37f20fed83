"""How curves look: colours, dashes and axes, and what is drawn of very many points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any, Literal, TypeAlias

import numpy as np

from condal.linalg.points import Array

Against: TypeAlias = Literal["iterations", "seconds"]

# Near Okabe and Ito's colours, which the colour-blind tell apart; the dashes tell them apart too.
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
    "text.parse_math": False,  # a name with a $ in it is a name
    "xtick.color": FAINT,
    "ytick.color": FAINT,
}
BINS = 120  # of a curve of very many points, of each of which the least and the most are drawn
FEW = 40  # iterations that are marked one by one
LONG = 200  # iterations that ask for a logarithmic axis
ROUNDING = 1e-12  # of a gap or an infeasibility: no more than that is nothing
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_TURN = RLock()


@contextmanager
def drawing(settings: Any = SETTINGS) -> Iterator[None]:
    """With these settings of matplotlib, which has one set of them for all threads: one of ours
    draws at a time. Numbers that no axis can hold are left out in silence."""
    import matplotlib as mpl

    with _TURN, mpl.rc_context(settings), np.errstate(over="ignore", invalid="ignore"):
        yield


def styles() -> Iterable[tuple[str, Any]]:
    """Colours and dashes, no pair of them twice among the first twelve."""
    return (
        (COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)])
        for i in range(len(COLOURS) * len(DASHES))
    )


def line(axes: Any, x: Array, y: Array, against: Against, **style: Any) -> None:
    """A curve: few points are marked, very many are thinned."""
    seen = np.isfinite(x) & np.isfinite(y)
    few = np.count_nonzero(seen) <= FEW
    x, y = thinned(x[seen], y[seen], logarithmic=against == "iterations")
    marks = {"marker": ".", "markersize": 6.0} if few else {}
    axes.plot(x, y, linewidth=1.5, **marks, **style)


def thinned(x: Array, y: Array, *, logarithmic: bool) -> tuple[Array, Array]:
    """At most 2 BINS + 2 points of the curve: the ends, and the least and the most of each bin."""
    if x.size <= 2 * BINS + 2:
        return x, y
    place = np.log(np.maximum(x, 1)) if logarithmic else x
    span = max(float(place[-1] - place[0]), 1e-300)
    bins = np.minimum((place - place[0]) / span * BINS, BINS - 1).astype(int)
    begins = np.flatnonzero(np.diff(bins, prepend=-1))
    kept: list[Any] = [0, x.size - 1]
    for begin, end in zip(begins, [*begins[1:], x.size], strict=True):
        kept += [begin + int(np.argmin(y[begin:end])), begin + int(np.argmax(y[begin:end]))]
    index = np.unique(kept)
    return x[index], y[index]


def decades(axes: Any) -> None:
    """A logarithmic axis of whole powers of ten, so that there are ticks."""
    drawn = [np.asarray(curve.get_ydata(), dtype=np.float64) for curve in axes.get_lines()]
    values = np.concatenate([*drawn, np.zeros(0)])
    values = values[values > 0]
    axes.set_yscale("log")
    if values.size:
        low, high = np.floor(np.log10(values.min())), np.ceil(np.log10(values.max()))
        axes.set_ylim(10.0**low / 1.3, 10.0 ** max(high, low + 1) * 1.3)
    logarithmic(axes.yaxis)


def logarithmic(axis: Any) -> None:
    """Ticks of a logarithmic axis such as 10⁻³, in letters that every font has."""
    axis.set_major_formatter(power)
    axis.set_minor_formatter("")


def power(value: float, _: Any = None) -> str:
    """10⁻³; 1 and 10 as they are; nothing where matplotlib puts a tick beyond all numbers."""
    if not np.isfinite(value):
        return ""
    exponent = round(float(np.log10(value))) if value > 0 else 0
    if 0 <= exponent <= 3:
        return f"{10**exponent:,}"
    return "10" + str(exponent).translate(RAISED)
