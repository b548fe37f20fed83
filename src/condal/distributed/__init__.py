"""One problem on many processes: PETSc and SLEPc over MPI.

Minimise <C, x> over psd x with a constraint on its diagonal. Ranks own the rows of C, of the sketch
of x, of the images and of the duals, and CGAL runs on them as it does on one machine.
"""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
