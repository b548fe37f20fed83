"""The paper's experiments: tuned trials of every method, figures, and a check of its claims."""

from condal.lab.experiments.catalogue import EXPERIMENTS, Experiment, named
from condal.lab.experiments.folder import ExperimentFolder
from condal.lab.experiments.report import (
    ExperimentReport,
    produce,
    require_data,
    require_matplotlib,
)

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "ExperimentFolder",
    "ExperimentReport",
    "named",
    "produce",
    "require_data",
    "require_matplotlib",
]
