"""Applications whose file holds points, matrices or intensities."""

from __future__ import annotations

from typing import Any

import click

from condal import problems
from condal.cli.application import POSITIVE, Application, Chosen, option
from condal.cli.applications.graphs import trials
from condal.errors import FormatError
from condal.io import formats

K_MEANS = Application(
    name="k-means",
    title="clusters of points, and how close to optimal they are",
    about="""\
    Divide points into K clusters to minimise the sum of squared distances to the
    cluster centres. The command finds a clustering and proves a lower bound on
    the cost of every clustering.

    FILE has one row per point: a table of numbers separated by commas,
    semicolons, tabs or blanks, with optional column names in the first line,
    optionally compressed with gzip or xz; or an array that numpy.save wrote
    (.npy).""",
    example="condal solve points.csv --as k-means --clusters 3 --out labels.txt",
    noun="points",
    build=lambda file, chosen: problems.k_means(formats.read_points(file), chosen["clusters"]),
    out="the cluster of each point, from 1, one per line",
    keys=lambda model: ("cost", "excess"),
    options=(
        option("--clusters -k K", "The number of clusters.", click.IntRange(1), required=True),
        trials(10, "starts of the rounding"),
    ),
)


def _qap(file: str, chosen: Chosen) -> problems.QuadraticAssignment:
    data, where = formats.read_qaplib(file), chosen["nonnegative"]
    return problems.quadratic_assignment(data.A, data.B, nonnegative=where, name="qap")


QAP = Application(
    name="qap",
    title="the cheapest assignment of facilities to places",
    about="""\
    Assign n facilities to n places to minimise the sum of A_ij B_pq over all
    pairs of facilities i and j at places p and q. The command finds an
    assignment and proves a lower bound on the cost of every assignment.

    FILE is a QAPLIB .dat file: n and two n x n matrices A and B, optionally
    compressed with gzip or xz.""",
    example="condal solve nug12.dat --as qap --tol 1e-2 --out places.txt",
    noun="pairs of a facility and a place",
    build=_qap,
    out="the place of each facility, from 1, one per line",
    keys=lambda model: ("cost", "excess"),
    options=(
        option(
            "--nonnegative all|costs",
            "Require x >= 0 for all entries, or for those with a cost: faster, but weaker.",
        ),
        trials(50, "assignments"),
    ),
)


def named_arrays(
    file: str, needed: tuple[str, ...], wanted: str, choice: tuple[str, ...] = (), **matrices: str
) -> dict[str, Any]:
    """Return the needed arrays of a .npz file, and exactly one of the choice.

    `matrices` says what those must be that have two dimensions.
    """
    names = formats.names_of_arrays(file)
    if not set(needed) <= set(names) or (choice and len(set(choice) & set(names)) != 1):
        held = ", ".join(names)[:60] or "nothing"
        raise FormatError(f"holds {held}; wanted {wanted}", path=file)
    arrays = formats.read_arrays(file, (*needed, *choice))
    for name in set(matrices) & set(arrays):
        if arrays[name].ndim != 2:
            text = f"{name}.npy: {name} has shape {arrays[name].shape}; wanted {matrices[name]}"
            raise FormatError(text, path=file)
    return arrays


def _generalised_eigenvector(file: str, chosen: Chosen) -> problems.GeneralisedEigenvector:
    wanted = "the symmetric matrices Phi and Psi: numpy.savez(path, Phi=Phi, Psi=Psi)"
    shape, name = "a symmetric matrix", "generalised-eigenvector"
    arrays = named_arrays(file, ("Phi", "Psi"), wanted, Phi=shape, Psi=shape)
    return problems.generalised_eigenvector(**arrays, alpha=chosen["alpha"], name=name)


GENERALISED_EIGENVECTOR = Application(
    name="generalised-eigenvector",
    title="the best vector of a ratio of quadratic forms",
    about="""\
    Maximise u' Phi u over the vectors with u' Psi u = 1 and |u|^2 <= alpha, by
    the semidefinite relaxation, which is exact. The command finds a vector and
    proves a bound on the value of every such vector.

    FILE was written by numpy.savez. It holds symmetric matrices Phi and Psi.
    Other arrays are ignored, and nothing is unpickled.""",
    example="condal solve pair.npz --as generalised-eigenvector --alpha 4 --out u.txt",
    noun="numbers of the vector",
    build=_generalised_eigenvector,
    out="the vector, one number per line",
    keys=lambda model: ("value",),
    answer=lambda model, result, chosen: (
        None if result.status.excludes_optimum else model.vector(result)
    ),
    none=(("vector", "none: raise --alpha"),),
    options=(
        option(
            "--alpha A",
            "The bound on |u|^2; at least 1 over the largest eigenvalue of Psi.",
            POSITIVE,
            required=True,
        ),
    ),
)


def _phase_retrieval(file: str, chosen: Chosen) -> problems.PhaseRetrieval:
    wanted = "the intensities b, and either the matrix a or the masks: numpy.savez(path, b=b, a=a)"
    shape = "a matrix with one row per measurement"
    arrays = named_arrays(file, ("b",), wanted, choice=("a", "masks"), a=shape)
    more = {"trace": chosen["trace"], "name": "phase-retrieval"}
    return problems.phase_retrieval(arrays.pop("b"), **arrays, **more)


PHASE_RETRIEVAL = Application(
    name="phase-retrieval",
    title="a signal from the intensities of its measurements",
    about="""\
    Recover a signal u from intensities b_i = |(a u)_i|^2, with or without noise,
    by solving the convex problem for x = u u*. No start near the solution is
    needed.

    FILE was written by numpy.savez. It holds the intensities b and the
    measurements: either a matrix a, real or complex, with one row per
    measurement, or the masks of coded diffraction, of shape (L, h, w), where b
    holds the intensities of the 2-D Fourier transforms of masks * image. Other
    arrays are ignored, and nothing is unpickled.""",
    example="condal solve measured.npz --as phase-retrieval --out signal.csv",
    noun="numbers, the real and imaginary parts of the signal",
    build=_phase_retrieval,
    out="the signal, one number per line, as real and imaginary part",
    keys=lambda model: ("residual",),
    answer=lambda model, result, chosen: model.signal(result),
    options=(
        option("--trace T", "An upper bound on |u|^2; default: from the intensities.", POSITIVE),
    ),
    resolved=lambda model: {} if model.scale is not None else {"trace": model.trace},
)
