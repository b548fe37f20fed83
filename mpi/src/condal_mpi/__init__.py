"""One problem on many MPI processes: max-cut and theta of large graphs, phase retrieval, and
semidefinite programs with sparse constraints.

Ranks own the rows of the data, of the factor or sketch of x, of the images and of the duals; in
phase retrieval, the masks and their intensities. The low-rank method and CGAL run on them as they
do on one machine.
"""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
