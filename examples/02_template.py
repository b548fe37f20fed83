"""The template: least squares over the simplex, with bounds on some averages.

A portfolio x (non-negative, sum 1) tracks an index c, while its exposures a x to three factors stay
within bounds. The problem has a smooth f, a domain X, and a set K for a linear map of x.
"""

import numpy as np
from matplotlib.figure import Figure

import condal

rng = np.random.default_rng(0)
days, assets = 250, 40
returns = rng.standard_normal((days, assets))  # in percent
index = returns[:, :15].mean(axis=1) + 0.1 * rng.standard_normal(days)
exposures = rng.standard_normal((3, assets))
low, high = np.array([-0.05, -0.05, -np.inf]), np.array([0.05, 0.05, 0.1])

problem = condal.Problem.of(
    f=condal.LeastSquares(returns, index),
    X=condal.Simplex(assets),
    A=condal.Matrix(exposures),
    K=condal.Box(low, high),
    name="tracking portfolio",
)
result = condal.solve(problem, tol=1e-2)
print(result)
print("the five largest positions:", np.round(np.sort(result.x)[:-6:-1], 3))

assert result.status is condal.Status.SOLVED
assert result.bound <= result.objective + 1e-2 * abs(result.objective)

# Draw the returns of portfolio and index, the weights, and the exposures.
figure = Figure(figsize=(10, 6), layout="constrained")
(top, bottom) = figure.subplots(2, 1, height_ratios=[3, 2])
top.plot(np.cumsum(index), color="black", label="index")
top.plot(np.cumsum(returns @ result.x), color="#0072b2", ls="--", label="portfolio")
top.set(xlabel="day", ylabel="return since day 0 (%)", title="A portfolio that tracks an index")
top.legend(frameon=False)
order = np.argsort(-result.x)
bottom.bar(np.arange(assets), 100 * result.x[order], color="#009e73")
bottom.set(xlabel="asset, by weight", ylabel="weight (%)")
bands = ", ".join(f"{value:.3f}" for value in exposures @ result.x)
bottom.set_title(f"its exposures: {bands}; the bands: ±0.05, ±0.05, up to 0.1", fontsize=10)
figure.savefig("template.png", dpi=110)
