from condal.sklearn.graph_clustering import SDPGraphClustering as SDPGraphClustering
from condal.sklearn.kmeans import SDPKMeans as SDPKMeans
