"""A solve on ranks, with a checkpoint after every iteration; one rank may be killed, or all go on.

    solving.py WHAT FOLDER GRAPH ITERATIONS [KILLED WHEN]

WHAT is max-cut by CGAL, "cgal", or by the low-rank method, "lowrank", or theta by CGAL, "theta", or
by sweeps over vectors on spheres, "spheres", or phase retrieval of random data, "phase", or a
sparse program by CGAL, "rows".

A folder that is there is gone on from. The rank KILLED kills itself when it comes to write the
checkpoint of the 6th iteration: before its own part, after it, before the manifest, or after it.
"""

import json
import os
import signal
import sys

import numpy as np

import condal_mpi
from condal_mpi.checkpoint import folder
from condal_mpi.checkpoint_writer import is_sharded_checkpoint, read_about

WRITTEN = 6


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


def bounded_cut(graph: str, team: condal_mpi.Team):
    """Max-cut with x_01, x_12, ... >= 0."""
    model = condal_mpi.read_max_cut(graph, team)
    n, (begin, end) = model.n, team.range(model.n)
    k = np.arange(begin, end)
    neighbour = (k + 1) % n
    equation = np.arange(*team.range(2 * n)) < n
    return condal_mpi.sparse_program(
        0.25 * model.block,
        owner=np.append(k, n + k),
        rows=np.append(k, k),
        cols=np.append(k, neighbour),
        values=np.repeat([1.0, 0.5], k.size),
        low=np.where(equation, 1.0, 0.0),
        high=np.where(equation, 1.0, np.inf),
        trace=n,
        team=team,
    )


def random_phases(graph: str, team: condal_mpi.Team):
    rng, (begin, end) = np.random.default_rng(0), team.range(9)
    u, masks = (rng.standard_normal((*size, 6, 6, 2)) @ [1, 1j] for size in ((), (9,)))
    b = np.abs(np.fft.fft2(masks * u, norm="ortho")) ** 2
    b *= rng.uniform(0.99, 1.01, b.shape)
    return condal_mpi.phase_retrieval(b[begin:end], masks[begin:end], team)


MODELS = {
    "theta": condal_mpi.read_theta,
    "spheres": condal_mpi.read_theta,
    "rows": bounded_cut,
    "phase": random_phases,
}
METHODS = {"theta": "cgal-ls", "rows": "cgal-ls", "phase": "lowrank"}


def main() -> None:
    what, where, graph, iterations, *killed = sys.argv[1:]
    team, method = condal_mpi.Team(), METHODS.get(what, what)
    model = MODELS.get(what, condal_mpi.read_max_cut)(graph, team)
    if killed and team.rank == int(killed[0]):
        when, name = killed[1].split()
        setattr(folder, name, dying(getattr(folder, name), when))
    if is_sharded_checkpoint(where):
        left = int(iterations) - read_about(where)["k"]
        result = condal_mpi.resume(where, model, max_iters=left, seed=0, every_seconds=0.0)
    else:
        options = {"tol": 0.0, "R": 4, "seed": 0, "max_iters": int(iterations)}
        result = condal_mpi.solve(model, method, checkpoint=where, every_seconds=0.0, **options)
    if team.rank == 0:
        found = {"k": len(result.history), "objective": result.objective, "bound": result.bound}
        print(json.dumps({**found, "status": result.status.name}))


main()
