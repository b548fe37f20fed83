"""The template: least squares over the simplex, with bounds on some averages.

A portfolio x (non-negative, sum 1) is to track an index c, while its exposures a x to three factors
stay within bands. There is no projection: each step looks at one vertex of the simplex.
"""

import numpy as np

import condal

rng = np.random.default_rng(0)
days, assets = 250, 40
returns = rng.standard_normal((days, assets))  # in percent
index = returns[:, :15].mean(axis=1) + 0.1 * rng.standard_normal(days)
exposures = rng.standard_normal((3, assets))

problem = condal.Problem.of(
    f=condal.LeastSquares(returns, index),
    X=condal.Simplex(assets),
    A=condal.Matrix(exposures),
    K=condal.Box(low=[-0.05, -0.05, -np.inf], high=[0.05, 0.05, 0.1]),
    name="tracking portfolio",
)
result = condal.solve(problem, tol=1e-2)
print(result)
print("the five largest positions:", np.round(np.sort(result.x)[:-6:-1], 3))

assert result.status is condal.Status.SOLVED
assert result.bound <= result.objective + 1e-2 * abs(result.objective)
