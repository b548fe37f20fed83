"""Families of small problems, which workers import by name."""

import os
import signal
import time
from pathlib import Path

import numpy as np

import condal


def graph(seed, n=12):
    W = np.triu(np.random.default_rng(seed).random((n, n)) < 0.4, 1).astype(float)
    return W + W.T


def cuts(seed, tol=1e-2):
    return condal.problems.max_cut(graph(seed)), {
        "tol": tol,
        "method": condal.CGAL(),
        "max_iters": 10_000,
    }


def regressions(seed, radius):
    """A path of the lasso."""
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((30, 12))
    b = a[:, :3].sum(axis=1) + 0.1 * rng.standard_normal(30)
    problem = condal.Problem.of(condal.LeastSquares(a, b), condal.L1Ball(12, radius))
    return problem, {"max_iters": 10_000}


def faulty(seed, folder):
    """One fails, until there is a file; another kills its worker, once or each time."""
    mended = Path(folder) / f"mended-{seed}"
    if seed == 1 and not mended.exists():
        raise RuntimeError("no luck\nat all")
    if seed == 2 and not mended.exists():
        mended.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if seed == 3:
        os._exit(1)
    return cuts(seed)


def slow(seed, radius, folder):
    """Says that it was asked for, and takes its time over it."""
    with (Path(folder) / "asked").open("a") as file:
        file.write(f"{seed} {radius}\n")
    time.sleep(0.2)
    return regressions(seed, radius)


def stopped(seed):
    """Its own callback ends it after three iterations."""
    return condal.problems.max_cut(graph(seed)), {
        "method": condal.CGAL(),
        "tol": 1e-9,
        "callback": lambda row: row.k >= 3,
    }


class Unspelt:
    """A method that is no record."""

    name, keeps = "unspelt", "x"

    def start(self, *_):
        raise AssertionError("nothing is to be solved")

    iterates = start


def unspelt(seed):
    return condal.problems.max_cut(graph(seed)), {"method": Unspelt()}


def never(**parameters):
    raise AssertionError("the folder holds everything: nothing is to be made")
