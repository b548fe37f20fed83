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

# |x|_1 <= 5 and sum x = 0; the two fits differ only in the loss.
fits = {}
for loss in ("squares", "absolute"):
    model = condal.problems.l1_regression(
        np.log(proportions), measured, radius=5.0, loss=loss, name=loss
    )
    result = condal.solve(model, tol=1e-3)
    fits[loss] = model.fit(result)
    print(result)
    print(fits[loss])
    assert result.status is condal.Status.SOLVED
    assert abs(fits[loss].coefficients.sum()) < 1e-9

error = {loss: np.linalg.norm(fit.coefficients - truth) for loss, fit in fits.items()}
print({loss: f"{size:.3f} from the truth" for loss, size in error.items()})
assert error["absolute"] < 0.2 < error["squares"]

figure = Figure(figsize=(9, 4.2), layout="constrained")
shown = min(species, 60)
panels = figure.subplots(1, 2, sharey=True)
for loss, colour, axes in zip(fits, ("#D55E00", "#0072B2"), panels, strict=True):
    axes.axhline(0.0, color="0.7", lw=1)
    planted = np.flatnonzero(truth)
    axes.plot(planted, truth[planted], "o", mfc="none", mec="0.2", ms=9, label="truth, not 0")
    axes.vlines(np.arange(shown), 0.0, fits[loss].coefficients[:shown], color=colour, lw=2.5)
    axes.plot(fits[loss].coefficients[:shown], ".", color=colour, ms=4, label="found")
    axes.set(title=f"loss: {loss}; error {error[loss]:.2f}", xlabel=f"the first {shown} species")
    axes.legend(loc="upper right")
figure.axes[0].set_ylabel("coefficient")
figure.suptitle(f"{species} coefficients of sum 0 from {samples} samples, a tenth of them wrong")
figure.savefig("l1_regression.png", dpi=110)
