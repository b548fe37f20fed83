"""condal as a solver of CVXPY: `problem.solve(solver=condal.cvxpy.CONDAL(tol=1e-4))`."""

from __future__ import annotations

from condal.errors import MissingExtra
from condal.runtime.extras import install

OLDEST_CVXPY = (1, 9)  # the first version with SvecPSD

try:
    from cvxpy import __version__ as _version
except ModuleNotFoundError as error:
    if error.name != "cvxpy":
        raise
    raise MissingExtra(
        f"condal.cvxpy needs CVXPY, 1.9 or later, which is not installed: {install('cvxpy')}"
    ) from None
if tuple(int(number) for number in _version.split(".")[:2]) < OLDEST_CVXPY:
    raise MissingExtra(
        f"condal.cvxpy needs CVXPY 1.9 or later, and {_version} is installed: "
        "pip install --upgrade 'cvxpy>=1.9', with NumPy 2"
    )

from condal.certificates.certificate import CheckedAnswer  # noqa: E402 - after the check of CVXPY
from condal.cvxpy.check import certify  # noqa: E402 - it imports CVXPY
from condal.cvxpy.solver import CONDAL, register  # noqa: E402 - it imports CVXPY

__all__ = ["CONDAL", "CheckedAnswer", "certify", "register"]
