"""Applications: models that pass to `solve` as they are, with what their solutions mean."""

from condal.problems.angles import AngularSynchronisation, Phases, angular_synchronisation
from condal.problems.communities import Communities, communities
from condal.problems.completion import (
    Completed,
    MatrixCompletion,
    known_entries,
    matrix_completion,
)
from condal.problems.geneig import Direction, GeneralizedEigenvector, generalized_eigenvector
from condal.problems.kcut import MaxKCut, max_k_cut
from condal.problems.kmeans import Clustering, KMeans, k_means
from condal.problems.map_inference import Labelling, MapInference, map_inference
from condal.problems.matching import GraphMatching, Matching, graph_matching
from condal.problems.maxcut import Cut, MaxCut, max_cut
from condal.problems.partitions import Partition
from condal.problems.phase_retrieval import PhaseRetrieval, Signal, phase_retrieval
from condal.problems.portfolio import Allocation, Portfolio, portfolio
from condal.problems.qap import Assignment, QuadraticAssignment, quadratic_assignment
from condal.problems.regression import Fit, L1Regression, l1_regression
from condal.problems.sparse_pca import Component, SparsePCA, sparse_pca
from condal.problems.synchronisation import Signs, SignSynchronisation, sign_synchronisation
from condal.problems.theta import StableSet, Theta, theta
from condal.problems.trace_regression import Coefficients, TraceRegression, trace_regression

__all__ = [
    "Allocation",
    "AngularSynchronisation",
    "Assignment",
    "Clustering",
    "Coefficients",
    "Communities",
    "Completed",
    "Component",
    "Cut",
    "Direction",
    "Fit",
    "GeneralizedEigenvector",
    "GraphMatching",
    "KMeans",
    "L1Regression",
    "Labelling",
    "MapInference",
    "Matching",
    "MatrixCompletion",
    "MaxCut",
    "MaxKCut",
    "Partition",
    "PhaseRetrieval",
    "Phases",
    "Portfolio",
    "QuadraticAssignment",
    "SignSynchronisation",
    "Signal",
    "Signs",
    "SparsePCA",
    "StableSet",
    "Theta",
    "TraceRegression",
    "angular_synchronisation",
    "communities",
    "generalized_eigenvector",
    "graph_matching",
    "k_means",
    "known_entries",
    "l1_regression",
    "map_inference",
    "matrix_completion",
    "max_cut",
    "max_k_cut",
    "phase_retrieval",
    "portfolio",
    "quadratic_assignment",
    "sign_synchronisation",
    "sparse_pca",
    "theta",
    "trace_regression",
]
