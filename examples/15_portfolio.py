"""Portfolio choice: balance risk, return, sector limits and the cost of trading.

Returns follow a few factors, so their covariance is F'F plus a diagonal and is never formed. A
larger risk aversion gives a safer portfolio. A cost of trading keeps it close to today's holdings.
"""

import numpy as np
from matplotlib.figure import Figure

import condal

assets, factors, sectors = 3000, 40, 10

# Factors, the specific risk of each asset, and returns that roughly grow with risk.
rng = np.random.default_rng(0)
F = 0.06 * rng.standard_normal((factors, assets)) / np.sqrt(factors)
d = (0.05 + 0.15 * rng.random(assets)) ** 2
expected = 0.02 + 0.3 * np.sqrt(d) * rng.random(assets)
sector = np.sort(rng.integers(0, sectors, assets))
exposures = (sector[None, :] == np.arange(sectors)[:, None]).astype(float)
today = rng.dirichlet(np.full(assets, 0.2))

# From bold to careful, with no sector above 25%: first without, then with a trading cost of 2%.
frontiers = {}
for cost in (0.0, 0.02):
    allocations = []
    for aversion in np.logspace(-0.5, 2.0, 9):
        problem = condal.Problem.of(
            f=condal.FactoredQuadratic(F, d, -expected / aversion, aversion),
            X=condal.Simplex(assets),
            A=condal.Matrix(exposures),
            K=condal.Box(np.full(sectors, -np.inf), np.full(sectors, 0.25)),
            g=condal.AbsoluteLoss(today, cost) if cost else None,
            name="portfolio",
        )
        result = condal.solve(problem, tol=1e-3)
        assert result.status is condal.Status.SOLVED
        allocations.append(result.x)
    print(result)
    frontiers[cost] = np.array(allocations)


def risk_of(x):
    return np.sqrt(np.sum((x @ F.T) ** 2, axis=-1) + x**2 @ d)


turnover = {cost: np.abs(x - today).sum(axis=1).mean() for cost, x in frontiers.items()}
for allocations in frontiers.values():
    assert np.all(np.diff(risk_of(allocations)) < 0)
    assert np.max(allocations @ exposures.T) < 0.251
assert turnover[0.02] < turnover[0.0]

figure = Figure(figsize=(9.5, 4.2), layout="constrained")
curve, bars = figure.subplots(1, 2)
for (cost, allocations), colour in zip(frontiers.items(), ("#0072B2", "#D55E00"), strict=True):
    name = f"trading costs {100 * cost:.0f}%: turnover {turnover[cost]:.2f}"
    curve.plot(
        100 * risk_of(allocations), 100 * allocations @ expected, "o-", color=colour, label=name
    )
    shift = -0.2 if cost == 0.0 else 0.2
    bars.bar(np.arange(sectors) + shift, 100 * exposures @ allocations[0], 0.4, color=colour)
curve.plot(100 * risk_of(today), 100 * expected @ today, "k*", ms=12, label="held today")
curve.set(title="the efficient frontier", xlabel="risk [%]", ylabel="expected return [%]")
curve.legend()
bars.axhline(25.0, color="0.4", ls="--", lw=1)
bars.set(
    title="sectors of the boldest portfolios",
    xlabel="sector",
    ylabel="share [%]",
    xticks=range(sectors),
)
figure.suptitle(f"Portfolios of {assets:,} assets with {factors} factors of risk")
figure.savefig("portfolio.png", dpi=110)
