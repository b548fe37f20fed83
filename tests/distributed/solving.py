"""A solve on ranks, with a checkpoint after every iteration; one rank may be killed, or all go on.

    solving.py WHAT FOLDER GRAPH ITERATIONS [KILLED WHEN]

WHAT is max-cut by CGAL, "cgal", or by the low-rank method, "lowrank", or theta by CGAL, "theta", or
by sweeps over vectors on spheres, "spheres", or phase retrieval of random data, "phase".

A folder that is there is gone on from. The rank KILLED kills itself when it comes to write the
checkpoint of the 6th iteration: before its own part, after it, before the manifest, or after it.
"""

from __future__ import annotations

import json
import os
import signal
import sys

import numpy as np

from condal import distributed
from condal.distributed.checkpoint import folder
from condal.distributed.checkpoint_writer import is_sharded_checkpoint, read_about

WRITTEN = 6
METHODS = {"theta": "cgal-ls", "phase": "lowrank"}


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dying(function, when: str):
    """The function, which ends the process before or after it is called for the last time."""
    calls = 0

    def called(*given):
        nonlocal calls
        calls += 1
        if calls == WRITTEN and when == "before":
            die()
        found = function(*given)
        if calls == WRITTEN and when == "after":
            die()
        return found

    return called


def model_of(what: str, graph: str, team: distributed.Team):
    if what == "phase":
        rng, (begin, end) = np.random.default_rng(0), team.range(9)
        u, masks = (rng.standard_normal((*size, 6, 6, 2)) @ [1, 1j] for size in ((), (9,)))
        b = np.abs(np.fft.fft2(masks * u, norm="ortho")) ** 2
        b *= rng.uniform(0.99, 1.01, b.shape)
        return distributed.phase_retrieval(b[begin:end], masks[begin:end], team)
    theta = what in ("theta", "spheres")
    return (distributed.read_theta if theta else distributed.read_max_cut)(graph, team)


def main() -> None:
    what, where, graph, iterations, *killed = sys.argv[1:]
    team, method = distributed.Team(), METHODS.get(what, what)
    model = model_of(what, graph, team)
    if killed and team.rank == int(killed[0]):
        when, name = killed[1].split()
        setattr(folder, name, dying(getattr(folder, name), when))
    if is_sharded_checkpoint(where):
        left = int(iterations) - read_about(where)["k"]
        result = distributed.resume(where, model, max_iters=left, every_seconds=0.0)
    else:
        options = {"tol": 0.0, "R": 4, "max_iters": int(iterations)}
        result = distributed.solve(model, method, checkpoint=where, every_seconds=0.0, **options)
    if team.rank == 0:
        found = {"k": len(result.history), "objective": result.objective, "bound": result.bound}
        print(json.dumps({**found, "status": result.status.name}))


main()
