"""k-means of points."""

from __future__ import annotations

import math
from collections.abc import Iterator

import click
import numpy as np

from condal.cli.application import Application, Chosen, Lines
from condal.cli.text import excess, number
from condal.formats import read_points
from condal.problems.kmeans import Clustering, KMeans, k_means
from condal.result import Result


def _answer(model: KMeans, result: Result, chosen: Chosen) -> Clustering:
    return model.round(result, restarts=chosen["restarts"], seed=chosen["seed"])


def _rows(model: KMeans, result: Result, found: Clustering) -> Lines:
    sizes = sorted(np.bincount(found.labels).tolist(), reverse=True)
    shown = ", ".join(f"{size:,}" for size in sizes[:8]) + ", ..." * (len(sizes) > 8)
    rows = [
        ("clusters", f"{len(sizes):,}, of {shown} points"),
        ("cost", f"{number(found.cost)}, squared distances to the centres"),
    ]
    if not math.isfinite(result.bound):
        return [*rows, ("bound", "none was proved")]
    rows.append(("bound", f"{number(result.bound, down=True)}, no clustering costs less"))
    return [*rows, ("quality", excess(model.excess(found.labels, result), "clustering"))]


def _figures(model: KMeans, result: Result, found: Clustering | None) -> dict[str, float | None]:
    if found is None:
        return {"cost": None, "excess": None}
    bounded = math.isfinite(result.bound)
    return {
        "cost": found.cost,
        "excess": model.excess(found.labels, result) if bounded else None,
    }


def _lines(found: Clustering) -> Iterator[str]:
    return (f"{label + 1}" for label in found.labels)


K_MEANS = Application(
    name="k-means",
    title="clusters of points, and how near the best they are",
    about="""\
    Part points into K clusters with the least sum of squared distances to the
    centres of the clusters. It is proved that no clustering costs less than the
    bound.

    FILE has a row a point: a table of numbers by commas, semicolons, tabs or
    blanks, the first line of which may name the columns; plain or packed with
    gzip or xz; or an array that numpy.save wrote (.npy).""",
    example="condal solve points.csv --as k-means --clusters 3 --out labels.txt",
    noun="points",
    build=lambda file, chosen: k_means(read_points(file), chosen["clusters"]),
    answer=_answer,
    rows=_rows,
    figures=_figures,
    lines=_lines,
    out="the cluster of each point, from 1, a line each",
    options=(
        click.Option(
            ["--clusters"],
            type=click.IntRange(min=1),
            required=True,
            metavar="K",
            help="How many.",
        ),
        click.Option(
            ["--restarts"],
            type=click.IntRange(min=1),
            default=10,
            metavar="N",
            help="Starts of the rounding, the best of which is kept.",
        ),
    ),
)
