from condal.sklearn.kmeans import SDPKMeans as SDPKMeans
