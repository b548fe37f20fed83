"""condal: convex problems too large for everything else, solved with a certificate.

    minimise f(x) + g(Bx) subject to x in X, Ax in K

with a linear minimisation oracle over X, projections onto K, the prox of g, and a few vectors.
"""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
