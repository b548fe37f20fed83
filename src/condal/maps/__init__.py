"""Linear maps A: from symmetric matrices or vectors to images, with their adjoints.

On symmetric matrices <V, x> = tr(V x); an entry (i, j) off the diagonal stands for both triangles.
"""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
