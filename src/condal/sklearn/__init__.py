"""Estimators for scikit-learn that prove bounds on what they optimise.

They need the extra `sklearn`: pip install 'condal[sklearn]'.
"""

from condal.runtime.extras import require
from condal.runtime.lazy import attach_stub

require("sklearn", what="condal.sklearn needs scikit-learn", extra="sklearn")
__getattr__, __dir__ = attach_stub(__name__, __file__)
