"""Applications: a model pairs a problem with an interpretation of its solution.

Each function checks its data and returns a model for `condal.solve`, whose methods turn the result
into an answer. `name` is the name of the problem in results and reports.
"""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
