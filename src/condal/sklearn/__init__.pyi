from condal.sklearn.base import CertifiedEstimator as CertifiedEstimator
from condal.sklearn.clustering import SDPGraphClustering as SDPGraphClustering
from condal.sklearn.clustering import SDPKMeans as SDPKMeans
from condal.sklearn.imputer import MatrixCompletionImputer as MatrixCompletionImputer
from condal.sklearn.sparse_pca import SDPSparsePCA as SDPSparsePCA
