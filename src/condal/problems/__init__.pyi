from condal.problems.angles import AngularSynchronisation as AngularSynchronisation
from condal.problems.angles import Phases as Phases
from condal.problems.angles import angular_synchronisation as angular_synchronisation
from condal.problems.clusterings import Clustering as Clustering
from condal.problems.clusterings import KMeans as KMeans
from condal.problems.clusterings import k_means as k_means
from condal.problems.completed import Completed as Completed
from condal.problems.completion import MatrixCompletion as MatrixCompletion
from condal.problems.completion import known_entries as known_entries
from condal.problems.completion import matrix_completion as matrix_completion
from condal.problems.cuts import Cut as Cut
from condal.problems.cuts import MaxCut as MaxCut
from condal.problems.cuts import max_cut as max_cut
from condal.problems.generalised_eigenvectors import Direction as Direction
from condal.problems.generalised_eigenvectors import (
    GeneralisedEigenvector as GeneralisedEigenvector,
)
from condal.problems.generalised_eigenvectors import (
    generalised_eigenvector as generalised_eigenvector,
)
from condal.problems.graph_bisection import BalancedCut as BalancedCut
from condal.problems.graph_bisection import Bisection as Bisection
from condal.problems.graph_bisection import bisection as bisection
from condal.problems.lovasz_theta import Theta as Theta
from condal.problems.lovasz_theta import theta as theta
from condal.problems.map_labelling import Labelling as Labelling
from condal.problems.map_labelling import MapInference as MapInference
from condal.problems.map_labelling import map_inference as map_inference
from condal.problems.partitions import Partition as Partition
from condal.problems.phases import PhaseRetrieval as PhaseRetrieval
from condal.problems.phases import Signal as Signal
from condal.problems.phases import phase_retrieval as phase_retrieval
from condal.problems.pose_graphs import PoseGraph as PoseGraph
from condal.problems.pose_graphs import pose_graph as pose_graph
from condal.problems.pose_graphs import rotation_synchronisation as rotation_synchronisation
from condal.problems.poses import Poses as Poses
from condal.problems.poses import RelativePoses as RelativePoses
from condal.problems.qap import Assignment as Assignment
from condal.problems.qap import QuadraticAssignment as QuadraticAssignment
from condal.problems.qap import quadratic_assignment as quadratic_assignment
from condal.problems.sparse_components import Component as Component
from condal.problems.sparse_components import SparsePCA as SparsePCA
from condal.problems.sparse_components import sparse_pca as sparse_pca
from condal.problems.stable_sets import StableSet as StableSet
from condal.problems.synchronisation import Signs as Signs
from condal.problems.synchronisation import SignSynchronisation as SignSynchronisation
from condal.problems.synchronisation import sign_synchronisation as sign_synchronisation
from condal.problems.tomography import State as State
from condal.problems.tomography import StateTomography as StateTomography
from condal.problems.tomography import state_tomography as state_tomography
from condal.problems.trace_norm import Coefficients as Coefficients
from condal.problems.trace_norm import TraceRegression as TraceRegression
from condal.problems.trace_norm import trace_regression as trace_regression
from condal.problems.vertex_groups import Communities as Communities
from condal.problems.vertex_groups import MaxKCut as MaxKCut
from condal.problems.vertex_groups import communities as communities
from condal.problems.vertex_groups import max_k_cut as max_k_cut
