"""Whether something is a SciPy LinearOperator, asked without importing scipy.sparse.linalg."""

from __future__ import annotations

import sys
from typing import Any


def is_operator(value: Any) -> bool:
    """Return whether value is a LinearOperator; before that class is imported, none exists."""
    module = sys.modules.get("scipy.sparse.linalg")
    return module is not None and isinstance(value, module.LinearOperator)
