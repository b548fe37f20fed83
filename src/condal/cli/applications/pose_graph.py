"""Pose graphs: poses from noisy relative poses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

from condal.cli.application import Application, Chosen, Figures, Lines
from condal.cli.text import number
from condal.io.formats.g2o import G2oGraph, read_g2o
from condal.problem import Problem
from condal.problems.pose_graphs import PoseGraph, pose_graph
from condal.problems.poses import Poses
from condal.result import Result


@dataclass(frozen=True, eq=False)
class _Loaded:
    """The model of a pose graph, and the file that it was read from."""

    model: PoseGraph
    graph: G2oGraph

    @property
    def problem(self) -> Problem:
        return self.model.problem


@dataclass(frozen=True, eq=False)
class _Answer:
    """Poses, and the file that names their vertices."""

    poses: Poses
    graph: G2oGraph


def _build(file: str, chosen: Chosen) -> _Loaded:
    graph = read_g2o(file)
    return _Loaded(pose_graph(graph.measurements, name="pose-graph"), graph)


def _answer(loaded: _Loaded, result: Result, chosen: Chosen) -> _Answer:
    return _Answer(loaded.model.round(result), loaded.graph)


def _rows(loaded: _Loaded, result: Result, answer: _Answer) -> Lines:
    measured, poses = loaded.model.measurements, answer.poses
    kind = f"SE({measured.d}), from {measured.m:,} relative poses"
    cost = f"{number(poses.cost)}, the weighted squares of the residuals"
    return [("poses", f"{measured.n:,} in {kind}"), ("cost", cost)]


def _proved(loaded: _Loaded, result: Result, answer: _Answer) -> Lines:
    gap = answer.poses.optimality_gap
    return [
        ("bound", f"{number(result.bound, down=True)}, no poses cost less"),
        ("quality", f"the cost is within {gap:.2g} of the global optimum, relative to the cost"),
    ]


def _figures(loaded: _Loaded, result: Result, answer: _Answer | None) -> Figures:
    if answer is None:
        return {"cost": None, "poses": None, "optimality_gap": None}
    poses = answer.poses
    gap = poses.optimality_gap if isfinite(result.bound) else None
    return {"cost": poses.cost, "poses": len(poses.rotations), "optimality_gap": gap}


def _lines(answer: _Answer) -> Iterator[str]:
    return answer.graph.lines(answer.poses)


POSE_GRAPH = Application(
    name="pose-graph",
    title="globally optimal poses from noisy relative poses",
    about="""\
    Estimate the poses of a robot or a camera from odometry and loop closures,
    noisy measurements of relative poses. The command solves the semidefinite
    relaxation of SE-Sync, rounds its solution to poses, and proves a lower bound
    on the cost of all poses: no local minimum passes for the optimum. The cost
    is the sum of kappa |R_j - R_i R|^2 + tau |t_j - t_i - R_i t|^2.

    FILE is a pose graph in the g2o format, in the plane (EDGE_SE2) or in space
    (EDGE_SE3:QUAT), optionally compressed with gzip or xz. The poses of its
    VERTEX lines are not used: no start is needed.""",
    example="condal solve sphere.g2o --as pose-graph --tol 1e-6 --out poses.g2o",
    noun="rows of rotations",
    build=_build,
    answer=_answer,
    rows=_rows,
    proved=_proved,
    figures=_figures,
    lines=_lines,
    picture=lambda model, result, answer: answer.poses.picture(),
    out="a g2o file: the poses as VERTEX lines, then the measurements of FILE",
)
