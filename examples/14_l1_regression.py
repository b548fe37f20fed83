"""Regression on proportions: which of many species explain a measurement?

A sample gives the proportion of each species, not its absolute amount, so scaling all amounts
changes nothing. The coefficients of the logarithms must therefore sum to 0, and only a few should
differ from 0. Some measurements have large errors: they spoil a least-squares fit, but not a fit by
absolute values.
"""

import numpy as np
from matplotlib.figure import Figure

import condal

samples, species = 250, 1000

# Proportions, a measurement that depends on four species, and errors in a tenth of the samples.
rng = np.random.default_rng(0)
proportions = np.exp(rng.standard_normal((samples, species)))
proportions /= proportions.sum(axis=1, keepdims=True)
truth = np.zeros(species)
truth[[3, 17, 30, 44]] = [1.5, -1.0, 1.0, -1.5]
measured = np.log(proportions) @ truth + 0.1 * rng.standard_normal(samples)
measured[: samples // 10] += 15.0

# |x|_1 <= 5 and sum x = 0, so rows of M minus their means fit alike; the fits differ in the loss.
M = np.log(proportions)
M -= M.mean(axis=1, keepdims=True)
losses = {
    "squares": {"f": condal.LeastSquares(M, measured)},
    "absolute": {"B": condal.Matrix(M), "g": condal.AbsoluteLoss(measured)},
}
fits = {}
for loss, parts in losses.items():
    problem = condal.Problem.of(
        X=condal.L1Ball(species, radius=5.0),
        A=condal.Matrix(np.ones((1, species))),
        K=condal.Equal([0.0]),
        **parts,
        name=loss,
    )
    result = condal.solve(problem, tol=1e-3)
    fits[loss] = result.x
    print(result)
    assert result.status is condal.Status.SOLVED
    assert abs(result.x.sum()) < 1e-3

error = {loss: np.linalg.norm(x - truth) for loss, x in fits.items()}
print({loss: f"{size:.3f} from the truth" for loss, size in error.items()})
assert error["absolute"] < 0.2 < error["squares"]

figure = Figure(figsize=(9, 4.2), layout="constrained")
shown = min(species, 60)
panels = figure.subplots(1, 2, sharey=True)
for loss, colour, axes in zip(fits, ("#D55E00", "#0072B2"), panels, strict=True):
    axes.axhline(0.0, color="0.7", lw=1)
    planted = np.flatnonzero(truth)
    axes.plot(planted, truth[planted], "o", mfc="none", mec="0.2", ms=9, label="truth, not 0")
    axes.vlines(np.arange(shown), 0.0, fits[loss][:shown], color=colour, lw=2.5)
    axes.plot(fits[loss][:shown], ".", color=colour, ms=4, label="found")
    axes.set(title=f"loss: {loss}; error {error[loss]:.2f}", xlabel=f"the first {shown} species")
    axes.legend(loc="upper right")
figure.axes[0].set_ylabel("coefficient")
figure.suptitle(f"{species} coefficients of sum 0 from {samples} samples, a tenth of them wrong")
figure.savefig("l1_regression.png", dpi=110)
