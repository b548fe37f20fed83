"""Applications whose file is a graph."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from condal import problems
from condal.cli.application import POSITIVE, Application, Chosen, option, rounded
from condal.io.formats.graph_files import read_graph, read_labelled_graph
from condal.result import Result

if TYPE_CHECKING:
    from condal.io.results.record import Saved

GRAPH = """\
    FILE is a graph: rudy (Gset), Matrix Market (.mtx), METIS (.graph), an edge
    list (.edges, .csv, .tsv: two integer labels per line and an optional weight;
    the vertices are the labels in increasing order), each optionally compressed
    with gzip or xz, or a matrix that SciPy saved (.npz)."""


def trials(default: int, what: str, *, fewer: bool = False) -> click.Option:
    """Return the option --trials; with `fewer` the model tries less on large graphs."""
    shown = f"{default}, or fewer for a large graph" if fewer else True
    number = {"default": None if fewer else default, "show_default": shown}
    text = f"Number of {what} to try; the best one is kept."
    return option("--trials N", text, click.IntRange(min=1), **number)


MAX_CUT = Application(
    name="max-cut",
    title="the heaviest cut of a graph",
    about=f"""\
    Divide the vertices of a graph into two sides to maximise the weight of the
    edges between them. The command finds a cut and proves a bound on the weight
    of every cut.

{GRAPH}""",
    example="condal solve G1.txt --as max-cut --tol 1e-2 --json result.json",
    noun="vertices",
    build=lambda file, chosen: problems.max_cut(read_graph(file), name="max-cut"),
    out="the side of each vertex, 1 or -1, one per line",
    keys=lambda model: ("cut", "share"),
    options=(trials(100, "cuts", fewer=True),),
)


def _theta(file: str, chosen: Chosen) -> problems.Theta:
    graph, labels = read_labelled_graph(file)
    model = replace(problems.theta(graph, theta_plus=chosen["plus"]), names=labels.tolist())
    return model.complement if chosen["complement"] else model


def _stable_set(model: problems.Theta, result: Result, chosen: Chosen) -> problems.StableSet:
    found: problems.StableSet = rounded(model, result, chosen)
    if found.colours is None or chosen["limit"].is_over():
        return found
    return model.coloured(found, result)


def _restored_set(model: problems.Theta, saved: Saved) -> problems.StableSet:
    found = model.answer_of(saved.labels, saved.result)
    quick = saved.figures.get("colours") in (None, found.size)
    return found if quick else model.coloured(found, saved.result)


THETA = Application(
    name="theta",
    title="Lovasz's theta: a bound on stable sets",
    about=f"""\
    Bound the size of the stable sets of a graph (no two vertices adjacent) by
    Lovasz's theta, and find a large one. With --complement, bound the size of
    the cliques (all vertices adjacent) instead, find a large one, and prove a
    lower bound on the number of colours of a proper colouring.

{GRAPH} Weights are ignored.""",
    example="condal solve graph.txt --as theta --tol 1e-3 --out stable-set.txt",
    noun="vertices",
    build=_theta,
    out="the vertices of the stable set or clique, as numbered in FILE, one per line",
    keys=lambda model: (
        ("clique", "clique_bound", "colours")
        if model.of_complement
        else ("stable_set", "stable_set_bound")
    ),
    answer=_stable_set,
    restore=_restored_set,
    options=(
        option("--plus", "Use theta+, with x >= 0: a better bound."),
        option(
            "--complement",
            "Use the complement of FILE: cliques and colours instead of stable sets.",
        ),
        trials(100, "stable sets or cliques", fewer=True),
    ),
)


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
    build=lambda file, chosen: problems.communities(
        read_graph(file), chosen["groups"], null=chosen["expected"], resolution=chosen["resolution"]
    ),
    out="the group of each vertex, from 1, one per line",
    keys=lambda model: ("quality", "quality_bound"),
    options=(
        option("--groups -k K", "The largest number of groups.", click.IntRange(min=2), default=2),
        option(
            "--expected degrees|uniform",
            "The expected weight: by degrees (modularity), or the same for all pairs.",
        ),
        option(
            "--resolution R",
            "A factor on the expected weight; above 1, groups get smaller.",
            POSITIVE,
            default=1.0,
        ),
        trials(20, "partitions"),
    ),
)


BISECTION = Application(
    name="bisection",
    title="the lightest cut of a graph into halves",
    about=f"""\
    Divide the vertices of a graph into two sides of equal size to minimise the
    weight of the edges between them. The command finds a balanced cut and proves
    a lower bound on the weight of every balanced cut.

{GRAPH}""",
    example="condal solve mesh.graph --as bisection --tol 1e-3 --out sides.txt",
    noun="vertices",
    build=lambda file, chosen: problems.bisection(read_graph(file), imbalance=chosen["imbalance"]),
    out="the side of each vertex, 1 or -1, one per line",
    keys=lambda model: ("cut", "excess"),
    options=(
        option(
            "--imbalance N",
            "The largest difference between the sizes of the two sides.",
            click.IntRange(min=0),
            show_default="0, or 1 for an odd number of vertices",
        ),
        trials(100, "cuts", fewer=True),
    ),
)


def _signs(model: problems.SignSynchronisation, result: Result, chosen: Chosen) -> problems.Signs:
    answer: problems.Signs = rounded(model, result, chosen)
    return replace(answer, signs=answer.signs * answer.signs[0])


SYNC = Application(
    name="sync",
    title="signs from noisy products of pairs",
    about=f"""\
    Recover signs s_i, +1 or -1, from measurements C_ij of their products
    s_i s_j, some of them wrong. The signs maximise the agreement, the sum of
    C_ij s_i s_j over all pairs. Flipping all signs changes nothing, so the first
    sign is +1. The command proves a bound on the agreement of all signs.

{GRAPH} A measured pair is an edge, and its weight is the
    measurement.""",
    example="condal solve measured.mtx --as sync --out signs.txt",
    noun="signs",
    # Halving is exact, and s'C s counts every pair twice.
    build=lambda file, chosen: problems.sign_synchronisation(0.5 * read_graph(file), name="sync"),
    out="the signs, 1 or -1, one per line",
    keys=lambda model: ("agreement", "share"),
    answer=_signs,
    options=(trials(50, "choices of signs", fewer=True),),
)
