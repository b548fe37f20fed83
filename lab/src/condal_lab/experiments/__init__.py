"""The paper's experiments: tuned trials of every method, figures, and a check of its claims."""

from condal_lab.experiments.catalogue import EXPERIMENTS, Experiment, named
from condal_lab.experiments.folder import ExperimentFolder
from condal_lab.experiments.report import (
    ExperimentReport,
    produce,
    require_data,
)

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "ExperimentFolder",
    "ExperimentReport",
    "named",
    "produce",
    "require_data",
]
