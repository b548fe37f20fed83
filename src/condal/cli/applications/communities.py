"""Communities of a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from condal.cli.application import GRAPH, Application, Chosen, Figures, Lines, rounded, trials
from condal.cli.text import number, sizes
from condal.io.formats.graph_files import read_graph
from condal.problems.community_detection import Communities, communities
from condal.problems.partitions import Partition
from condal.result import Result

if TYPE_CHECKING:
    from condal.io.results.record import Saved


def _build(file: str, chosen: Chosen) -> Communities:
    return communities(
        read_graph(file),
        chosen["groups"],
        null=chosen["expected"],
        resolution=chosen["resolution"],
    )


def _restore(model: Communities, saved: Saved) -> Partition:
    labels = saved.labels
    return Partition(model.quality(labels), model.quality_bound(saved.result), labels, model)


def _rows(model: Communities, result: Result, partition: Partition) -> Lines:
    return [
        ("groups", f"{sizes(partition.sizes)} vertices"),
        ("quality", f"{number(partition.value)}, weight within groups above the expected"),
    ]


def _proved(model: Communities, result: Result, partition: Partition) -> Lines:
    most = number(model.quality_bound(result), up=True)
    return [("bound", f"{most}, no partition into {model.k} groups has a higher quality")]


def _figures(model: Communities, result: Result, partition: Partition | None) -> Figures:
    if partition is None:
        return {"quality": None, "quality_bound": None}
    return {"quality": partition.value, "quality_bound": model.quality_bound(result)}


def _lines(partition: Partition) -> Iterator[str]:
    return (f"{label + 1}" for label in partition.labels)


COMMUNITIES = Application(
    name="communities",
    title="groups of vertices with many edges within them",
    about=f"""\
    Divide the vertices of a graph into groups with more edges within them than
    expected without groups. The quality of a partition is the share of the total
    weight within groups, minus the expected share. The command finds a partition
    and proves a bound on the quality of every partition into K groups.

{GRAPH} Weights must not be negative.""",
    example="condal solve club.mtx --as communities --groups 2 --out groups.txt",
    noun="vertices",
    build=_build,
    answer=rounded,
    rows=_rows,
    proved=_proved,
    figures=_figures,
    lines=_lines,
    labels=lambda partition: partition.labels,
    restore=_restore,
    out="the group of each vertex, from 1, one per line",
    options=(
        click.Option(
            ["--groups", "-k"],
            type=click.IntRange(min=2),
            default=2,
            metavar="K",
            help="The largest number of groups.",
        ),
        click.Option(
            ["--expected"],
            type=click.Choice(["degrees", "uniform"]),
            default="degrees",
            help="The expected weight: by degrees (modularity), or the same for all pairs.",
        ),
        click.Option(
            ["--resolution"],
            type=click.FloatRange(min=0, min_open=True),
            default=1.0,
            metavar="R",
            help="A factor on the expected weight; above 1, groups get smaller.",
        ),
        trials(20, "partitions"),
    ),
)
