"""Trace-norm regression: many responses that depend on a few common directions.

Forty quantities are to be predicted from the same sixty features, with noisy observations. Taken
alone, each has too few observations. But the responses depend on a few common directions: their
coefficients, side by side, form a matrix of low rank. A bound on the sum of its singular values
lets the responses help each other, and held-out data choose the bound.
"""

import numpy as np
from matplotlib.figure import Figure

import condal

m, n, rank, observed = 60, 40, 3, 100
rng = np.random.default_rng(0)
truth = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n)) / np.sqrt(rank)
a, new = rng.standard_normal((2, observed, m))
Y, later = (rows @ truth + 6.0 * rng.standard_normal((observed, n)) for rows in (a, new))

alone = np.linalg.lstsq(a, Y, rcond=None)[0]  # each response by itself
largest = np.linalg.svd(alone, compute_uv=False).sum()
shares = np.geomspace(0.05, 1.0, 14)
errors, fits, result = [], [], None
for share in shares:
    model = condal.problems.trace_regression(a, Y, radius=share * largest)
    result = condal.solve(model, tol=1e-3, warm_start=result)
    assert result.status is condal.Status.SOLVED
    fits.append(model.fit(result))
    errors.append(np.sqrt(np.mean((fits[-1].predict(new) - later) ** 2)))
print(result)

best = int(np.argmin(errors))
alone_error, joint_error = (
    np.linalg.norm(np.asarray(x) - truth) / np.linalg.norm(truth) for x in (alone, fits[best].x)
)
print(f"errors of the coefficients: {alone_error:.0%} alone, {joint_error:.0%} together")
print(fits[best])
assert joint_error < 0.75 * alone_error

figure = Figure(figsize=(9, 4), layout="constrained")
left, right = figure.subplots(1, 2)
left.plot(shares, errors, "o-", color="#0072B2", label="together, by radius")
left.plot(shares[best], errors[best], "o", ms=13, mfc="none", mec="black", label="the best radius")
separate = np.sqrt(np.mean((new @ alone - later) ** 2))
left.axhline(separate, color="#D55E00", ls="--", label="each alone")
left.axhline(6.0, color="#999999", ls=":", label="the noise itself")
left.set(xscale="log", xlabel="radius / that of least squares", ylabel="error of predictions")
left.set(ylim=(5.5, 1.3 * separate))
left.set_title(f"{n} responses, {m} features, {observed} observations")
left.legend(frameon=False)
for x, mark, colour, label in (
    (truth, "s-", "#999999", "true"),
    (alone, "x--", "#D55E00", "each alone"),
    (np.asarray(fits[best].x), "o-", "#0072B2", "together"),
):
    values = np.linalg.svd(x, compute_uv=False)
    right.plot(np.arange(1, n + 1), values, mark, ms=4, color=colour, label=label)
right.set(xlabel="k", ylabel="singular value k of the coefficients")
right.set_title("What the responses share")
right.legend(frameon=False)
figure.savefig("trace_norm_regression.png", dpi=110)
