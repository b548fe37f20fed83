"""Nonsmooth functions g, each an h of the template: convex, Lipschitz, reached by its prox.

Those that need no data take their size from B when the problem is made: `L1(0.3)`.
"""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
