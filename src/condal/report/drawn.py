"""Draw the pictures of answers from their arrays, one function per kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.linalg.points import Array
from condal.report.curves import COLOURS, FAINT, SETTINGS, drawing, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKERS = "osD^vP*X<>"
MAX_VECTOR_SHAPES = 1500  # more shapes are drawn as pixels, to keep the page small
MAX_LEGEND_LABELS = 8
PIXELS_PER_INCH = 160


def draw(picture: Mapping[str, Any]) -> Figure | None:
    """Draw a picture; None if its kind is unknown."""
    draw_kind = KINDS.get(str(picture.get("kind", "")))
    if draw_kind is None:
        return None
    with drawing({**SETTINGS, "axes.grid": False, "savefig.dpi": PIXELS_PER_INCH}):
        return draw_kind(picture)


def plot(picture: Mapping[str, Any]) -> Figure:
    """Draw a picture with its caption; MissingExtra without matplotlib."""
    require_matplotlib()
    figure = draw(picture)
    assert figure is not None
    figure.suptitle(caption(picture), fontsize=9, wrap=True)
    return figure


def caption(picture: Mapping[str, Any]) -> str:
    """Return the caption of a picture."""
    return str(picture.get("caption", ""))


def _graph(picture: Mapping[str, Any]) -> Figure:
    """Draw edges between labels solid, and edges within a label faint and dashed."""
    figure, (axes,) = _panels(1, 4.6)
    at, (i, j), labels = picture["places"], picture["edges"].T, picture["labels"]
    many = len(i) > MAX_VECTOR_SHAPES
    for between in (False, True):
        drawn = (labels[i] != labels[j]) == between
        x, y = (_broken(at[i[drawn], axis], at[j[drawn], axis]) for axis in (0, 1))
        style: Any = {"color": FAINT, "linewidth": 0.9 if len(i) <= 400 else 0.5, "zorder": 1}
        style |= {"alpha": 0.75} if between else {"alpha": 0.45, "linestyle": (0, (2, 2))}
        axes.plot(x, y, rasterized=many, **style)
    _dots(axes, at, labels, _names(picture))
    axes.set_aspect("equal")
    axes.axis("off")
    return figure


def _trajectory(picture: Mapping[str, Any]) -> Figure:
    """Draw measurements between consecutive vertices solid, and loop closures faint."""
    figure, (axes,) = _panels(1, 4.6)
    at, (i, j) = picture["places"], picture["edges"].T
    many = len(i) > MAX_VECTOR_SHAPES
    for steps, style in (
        (np.abs(i - j) != 1, {"color": FAINT, "linewidth": 0.6, "label": "loop closures"}),
        (np.abs(i - j) == 1, {"color": COLOURS[0], "linewidth": 1.2, "label": "odometry"}),
    ):
        x, y = (_broken(at[i[steps], axis], at[j[steps], axis]) for axis in (0, 1))
        axes.plot(x, y, rasterized=many, **style)
    axes.set_aspect("equal", adjustable="datalim")
    axes.tick_params(labelsize=8)
    axes.legend(fontsize=8, loc="best", frameon=False)
    return figure


def _scatter(picture: Mapping[str, Any]) -> Figure:
    figure, (axes,) = _panels(1, 3.8)
    _dots(axes, picture["places"], picture["labels"], _names(picture))
    axes.set_aspect("equal", adjustable="datalim")
    axes.tick_params(labelsize=8)
    return figure


def _matrix(picture: Mapping[str, Any]) -> Figure:
    figure, (axes,) = _panels(1, 4.0)
    values, ends = picture["values"], picture["ends"]
    _heat(figure, axes, values, faint=True)
    side = len(values)
    for end in ends[: MAX_LEGEND_LABELS - 1]:
        axes.axhline(end * side - 0.5, color=COLOURS[1], linewidth=0.8)
        axes.axvline(end * side - 0.5, color=COLOURS[1], linewidth=0.8)
    names = _names(picture)
    if len(names) <= MAX_LEGEND_LABELS:
        middles = np.diff([0.0, *ends, 1.0]) / 2 + np.array([0.0, *ends])
        axes.set_yticks(middles * side - 0.5, names, fontsize=8)
    return figure


def _images(picture: Mapping[str, Any]) -> Figure:
    figure, panels = _side_by_side(picture, 3.4)
    for axes, values in panels:
        _heat(figure, axes, np.atleast_2d(values))
    return figure


def _curves(picture: Mapping[str, Any]) -> Figure:
    figure, panels = _side_by_side(picture, 2.6)
    for axes, values in panels:
        marks = {"marker": "."} if len(values) <= 60 else {}
        many = len(values) > MAX_VECTOR_SHAPES
        axes.plot(values, color=COLOURS[0], linewidth=1.0, rasterized=many, **marks)
        axes.ticklabel_format(useOffset=False)
        if np.min(values, initial=0.0) >= 0:
            axes.set_ylim(0, 1.1 * float(np.max(values, initial=0.0)) or 1.0)
        axes.set_xlabel("index")
    return figure


def _side_by_side(picture: Mapping[str, Any], height: float) -> tuple[Figure, list[Any]]:
    """Return a figure, and its axes, with their titles and the arrays to draw in them."""
    names = _names(picture)
    arrays = [picture[f"panel{i}"] for i in range(len(names))]
    figure, panels = _panels(len(names), height)
    for axes, name in zip(panels, names, strict=True):
        axes.set_title(name)
    return figure, list(zip(panels, arrays, strict=True))


def _names(picture: Mapping[str, Any]) -> list[str]:
    return [str(name) for name in picture["names"]]


def _panels(count: int, height: float) -> tuple[Figure, list[Any]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6 if count == 1 else 7.6, height), layout="constrained")
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def _dots(axes: Any, at: Array, labels: Any, names: list[str]) -> None:
    size = float(np.clip(9000 / max(len(at), 1), 5, 40))
    for label in np.unique(labels).tolist():
        labelled = labels == label
        name = names[label] if 0 <= label < min(len(names), MAX_LEGEND_LABELS) else None
        marks: dict[str, Any] = {
            "marker": MARKERS[label % len(MARKERS)],
            "color": COLOURS[label % len(COLOURS)],
        }
        marks |= {"linewidths": 0, "zorder": 2, "rasterized": len(at) > MAX_VECTOR_SHAPES}
        axes.scatter(at[labelled, 0], at[labelled, 1], s=size, label=name, **marks)
    if len(names) > 1:
        style = {"fontsize": 8.5, "markerscale": 1.3, "handlelength": 1.0}
        axes.figure.legend(loc="outside lower center", ncols=min(4, len(names)), **style)


def _heat(figure: Any, axes: Any, values: Array, *, faint: bool = False) -> None:
    """Draw a heat map: numbers of both signs in two hues about 0, others in one hue, which starts
    transparent if `faint`."""
    finite = values[np.isfinite(values)]
    signed = bool(finite.size) and finite.min() < 0 < finite.max()
    most = float(np.abs(finite).max(initial=0.0)) or 1.0
    span: dict[str, Any] = {"cmap": "RdBu_r", "vmin": -most, "vmax": most}
    if not signed:
        span = {"cmap": _from_transparent(), "vmin": 0.0} if faint else {"cmap": "cividis"}
    image = axes.imshow(values, interpolation="nearest", aspect="auto", **span)
    wide, high = values.shape[1], values.shape[0]
    axes.set_box_aspect(float(np.clip(high / wide, 0.4, 2.5)))
    axes.set_xticks([])
    axes.set_yticks([])
    bar = figure.colorbar(image, ax=axes, shrink=0.75, pad=0.03)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8)


def _from_transparent() -> Any:
    """Return a colour map from transparent to a blue that is visible on light and dark pages."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    blue = to_rgb("#2f86c5")
    return LinearSegmentedColormap.from_list("faint", [(*blue, 0.0), (*blue, 1.0)])


def _broken(begin: Array, end: Array) -> Array:
    """Return begin, end, NaN, begin, end, NaN, ...: many line segments as one curve."""
    return np.column_stack([begin, end, np.full(len(begin), np.nan)]).ravel()


KINDS: dict[str, Callable[[Mapping[str, Any]], Figure]] = {
    "graph": _graph,
    "matrix": _matrix,
    "scatter": _scatter,
    "trajectory": _trajectory,
    "images": _images,
    "curves": _curves,
}
