"""Nonsmooth functions g, each an h of the template: convex and Lipschitz, accessed by their prox.

Functions without data of their own, such as `L1(0.3)`, take their size from B.
"""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
