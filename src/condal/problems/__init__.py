"""Applications: models that pass to `solve` as they are, with what their solutions mean."""

from condal.problems.geneig import Direction, GeneralizedEigenvector, generalized_eigenvector
from condal.problems.kmeans import Clustering, KMeans, k_means
from condal.problems.maxcut import Cut, MaxCut, max_cut

__all__ = [
    "Clustering",
    "Cut",
    "Direction",
    "GeneralizedEigenvector",
    "KMeans",
    "MaxCut",
    "generalized_eigenvector",
    "k_means",
    "max_cut",
]
