"""k-means of points."""

from __future__ import annotations

from collections.abc import Iterator

import click
import numpy as np

from condal.cli.application import Application, Figures, Lines, rounded, trials
from condal.cli.quality import cost_figures
from condal.cli.text import excess, number, sizes
from condal.io.formats import read_points
from condal.problems.kmeans import Clustering, KMeans, k_means
from condal.report import pictures
from condal.report.pictures import Picture
from condal.result import Result


def _rows(model: KMeans, result: Result, found: Clustering) -> Lines:
    return [
        ("clusters", f"{sizes(np.bincount(found.labels))} points"),
        ("cost", f"{number(found.cost)}, squared distances to the centres"),
    ]


def _proved(model: KMeans, result: Result, found: Clustering) -> Lines:
    return [
        ("bound", f"{number(result.bound, down=True)}, no clustering costs less"),
        ("quality", excess(model.excess(found.labels, result), "clustering")),
    ]


def _figures(model: KMeans, result: Result, found: Clustering | None) -> Figures:
    return cost_figures(result, found, lambda one: model.excess(one.labels, result))


def _lines(found: Clustering) -> Iterator[str]:
    return (f"{label + 1}" for label in found.labels)


def _picture(model: KMeans, result: Result, found: Clustering) -> Picture | None:
    if model.points is None:
        return None
    return pictures.scatter(
        model.points,
        found.labels,
        [f"cluster {i + 1}" for i in range(model.k)],
        "The points by cluster, in the plane in which they are spread most.",
    )


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
    answer=rounded,
    rows=_rows,
    proved=_proved,
    figures=_figures,
    lines=_lines,
    picture=_picture,
    out="the cluster of each point, from 1, a line each",
    options=(
        click.Option(
            ["--clusters"],
            type=click.IntRange(min=1),
            required=True,
            metavar="K",
            help="Into how many clusters the points are parted.",
        ),
        trials(10, "Starts of the rounding"),
    ),
)
