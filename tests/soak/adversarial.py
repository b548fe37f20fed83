"""Problems by someone who knows all but the system's entropy: the lowest eigenvectors of C are
orthogonal to every start of solves with a public seed, nearly so, a cluster, or behind an operator.
"""

import time
import warnings
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import condal
from certificates.test_public_starts import BLOCK, LIMITS, N, hidden_direction, laplacian, watched
from condal import Status
from soak.pool import going_on
from soak.table import Row

HIDING = ("orthogonal", "tiny", "cluster", "operator")
METHODS = ("cgal", "hcgm", None)
TINY, APART, EXACT = 1e-9, 1e-9, 1e-12


def run(seconds: float, seed: int) -> Iterator[Row]:
    """Yield a row per problem."""
    goes_on, tried, starts = going_on(seconds), 0, watched(METHODS)
    while goes_on(tried):
        yield attempt(HIDING[tried % 4], METHODS[tried % 3], starts, [seed, tried])
        tried += 1


def attempt(hiding: str, method: str | None, starts: list, seed: list[int]) -> Row:
    rng, count = np.random.default_rng(seed), 3 if hiding == "cluster" else 1
    U = np.array([hidden_direction(starts, rng) for _ in range(count)]).T
    U = np.linalg.qr(U + (TINY * rng.standard_normal(U.shape) if hiding == "tiny" else 0.0))[0]
    depths = 0.5 + 10 ** rng.uniform(-3, -1) * (1 - APART * np.arange(count))
    last = 0.5 * np.eye(BLOCK) - (U * depths) @ U.T
    last = 0.5 * (last + last.T)
    C = sp.block_diag([laplacian(), sp.csr_array(last)], format="csr")
    C = aslinearoperator(C) if hiding == "operator" else C
    least, began = float(np.linalg.eigvalsh(last)[0]), time.process_time()
    problem = condal.Problem.of(f=condal.Linear(C), X=condal.Spectrahedron(N, trace=1.0))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "a proof of a bound is wrong")
        result = condal.solve(problem, method, **LIMITS)
    solved = result.status is Status.SOLVED
    wrong = result.bound > least + EXACT or (solved and result.objective > least + LIMITS["tol"])
    fault = f"{hiding} {method} {seed}: {result.objective} and {result.bound}, and not {least}"
    seconds, faults = time.process_time() - began, (fault,) if wrong else ()
    return Row(f"adversarial: {hiding}", 1, 1, int(solved), int(wrong), 0, seconds, faults)
