"""Graphs whose vertices are numbered at random, as in a file of unknown origin."""

import numpy as np
import scipy.sparse as sp


def shuffled_torus(side):
    """Return a torus of side x side vertices with whole weights from 1 to 8."""
    rng, n = np.random.default_rng(3), side * side
    vertex = rng.permutation(n).reshape(side, side)
    i = np.tile(vertex.ravel(), 2)
    j = np.concatenate([np.roll(vertex, 1, axis).ravel() for axis in (0, 1)])
    half = sp.csr_array((rng.integers(1, 9, i.size).astype(float), (i, j)), shape=(n, n))
    return sp.csr_array(half + half.T)
