"""k-means clustering of points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
import numpy as np

from condal.cli.application import Application, Figures, Lines, rounded, trials
from condal.cli.quality import cost_figures
from condal.cli.text import excess, number, sizes
from condal.io.formats.table import read_points
from condal.problems.clusterings import Clustering, KMeans, k_means
from condal.result import Result

if TYPE_CHECKING:
    from condal.io.results.record import Saved


def _restore(model: KMeans, saved: Saved) -> Clustering:
    return Clustering(model.cost(saved.labels), saved.result.bound, saved.labels, None, model)


def _rows(model: KMeans, result: Result, clustering: Clustering) -> Lines:
    return [
        ("clusters", f"{sizes(np.bincount(clustering.labels))} points"),
        ("cost", f"{number(clustering.cost)}, the sum of squared distances to the centres"),
    ]


def _proved(model: KMeans, result: Result, clustering: Clustering) -> Lines:
    return [
        ("bound", f"{number(result.bound, down=True)}, no clustering costs less"),
        ("quality", excess(model.excess(clustering.labels, result), "clustering")),
    ]


def _figures(model: KMeans, result: Result, clustering: Clustering | None) -> Figures:
    return cost_figures(
        result, clustering, lambda clustering: model.excess(clustering.labels, result)
    )


def _lines(clustering: Clustering) -> Iterator[str]:
    return (f"{label + 1}" for label in clustering.labels)


K_MEANS = Application(
    name="k-means",
    title="clusters of points, and how close to optimal they are",
    about="""\
    Divide points into K clusters to minimise the sum of squared distances to the
    cluster centres. The command finds a clustering and proves a lower bound on
    the cost of every clustering.

    FILE has one row per point: a table of numbers separated by commas,
    semicolons, tabs or blanks, with optional column names in the first line,
    optionally compressed with gzip or xz; or an array that numpy.save wrote
    (.npy).""",
    example="condal solve points.csv --as k-means --clusters 3 --out labels.txt",
    noun="points",
    build=lambda file, chosen: k_means(read_points(file), chosen["clusters"]),
    answer=rounded,
    rows=_rows,
    proved=_proved,
    figures=_figures,
    lines=_lines,
    labels=lambda clustering: clustering.labels,
    restore=_restore,
    picture=lambda model, result, answer: answer.picture() if model.points is not None else None,
    out="the cluster of each point, from 1, one per line",
    options=(
        click.Option(
            ["--clusters", "-k"],
            type=click.IntRange(min=1),
            required=True,
            metavar="K",
            help="The number of clusters.",
        ),
        trials(10, "starts of the rounding"),
    ),
)
