"""A sweep: solve the same problem for many folds and radii, on all cores, into a folder.

How many coefficients of a regression should differ from 0? The radius of the l1 ball decides, and
cross-validation chooses it: for each fold of held-out data, a path of radii is solved. On a path,
each solve is warm-started from the previous one. Processes solve the paths in parallel. If the
program is interrupted, the same command resumes from the folder.
"""

import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import condal
import condal_lab

samples, features, folds = 200, 400, 8
radii = np.linspace(1.0, 9.0, 17).round(2)

rng = np.random.default_rng(0)
truth = np.zeros(features)
truth[:6] = [2.0, -1.5, 1.0, 1.0, -0.5, 0.5]  # l1 norm 6.5
a = rng.standard_normal((samples, features))
b = a @ truth + rng.standard_normal(samples)
fold_of = rng.integers(folds, size=samples)


def path(fold, radius):
    """The regression on all samples except those of a fold."""
    training = fold_of != fold
    problem = condal.LeastSquares(a[training], b[training]), condal.L1Ball(features, radius)
    return condal.Problem.of(*problem)


def main():
    grid = {"fold": range(folds), "radius": radii}
    with tempfile.TemporaryDirectory() as folder:  # in practice, a permanent folder
        out = Path(folder) / "radii"
        # One process per core, except in a notebook, whose functions others cannot import.
        workers = None if "__file__" in globals() else 0
        table = condal_lab.sweep(path, grid, out=out, along="radius", workers=workers, tol=1e-3)
        again = condal_lab.sweep(path, grid, out=out, along="radius", workers=workers, tol=1e-3)
        assert again.rows == table.rows  # nothing was computed again
        assert all(row.solved for row in table)
        largest = max(row.result.gap for row in table)
        print(f"{len(table)} problems solved; the largest proved gap is {largest:.0e}")
        errors = np.zeros((folds, len(radii)))
        sizes = np.zeros((len(radii), features))
        for i, row in enumerate(table):
            fold, x = row.parameters["fold"], np.asarray(row.result.x)
            held_out = fold_of == fold
            errors[fold, i % len(radii)] = np.mean((a[held_out] @ x - b[held_out]) ** 2)
            if fold == 0:
                sizes[i] = x
    mean = errors.mean(axis=0)
    best = int(np.argmin(mean))
    print(f"best radius {radii[best]:g}; the true coefficients have norm {np.abs(truth).sum():g}")
    assert 0 < best < len(radii) - 1
    draw(errors, mean, best, sizes)


def draw(errors, mean, best, sizes):
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(radii, errors.T, color="0.75", lw=1)
    left.plot(radii, mean, "o-", color="#0072B2", ms=4, label=f"mean of {folds} paths")
    left.plot(radii[best], mean[best], "o", ms=13, mfc="none", mec="black", label="the best radius")
    left.axhline(1.0, color="#999999", ls=":", label="the noise itself")
    left.set(xlabel="radius", ylabel="squared error, on data held back", ylim=(0, 7))
    left.legend(frameon=False)
    right.plot(radii, sizes[:, truth == 0.0], color="0.8", lw=0.8)
    right.plot(radii, sizes[:, truth != 0.0], color="#D55E00")
    for value in truth[truth != 0.0]:
        right.plot(radii[-1], value, "_", color="black", ms=12)
    right.set(xlabel="radius", ylabel="coefficient", title="A path; black: the truth")
    left.set_title(f"{len(radii) * folds} solves of {features} coefficients")
    figure.savefig("sweep.png", dpi=110)


if __name__ != "__mp_main__":  # a worker imports this file under that name for the family
    main()
