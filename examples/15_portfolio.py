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
        model = condal.problems.portfolio(
            expected,
            F=F,
            d=d,
            aversion=aversion,
            exposures=exposures,
            high=0.25,
            holdings=today,
            cost=cost,
        )
        result = condal.solve(model, tol=1e-3)
        assert result.status is condal.Status.SOLVED
        allocations.append(model.allocation(result))
    print(result)
    print(allocations[-1])
    frontiers[cost] = allocations

for allocations in frontiers.values():
    risks = [allocation.risk for allocation in allocations]
    assert risks == sorted(risks, reverse=True)
    assert max(allocation.exposures.max() for allocation in allocations) < 0.251
turnover = {
    cost: np.mean([a.turnover for a in allocations]) for cost, allocations in frontiers.items()
}
assert turnover[0.02] < turnover[0.0]

figure = Figure(figsize=(9.5, 4.2), layout="constrained")
curve, bars = figure.subplots(1, 2)
for (cost, allocations), colour in zip(frontiers.items(), ("#0072B2", "#D55E00"), strict=True):
    name = f"trading costs {100 * cost:.0f}%: turnover {turnover[cost]:.2f}"
    risk, gain = [100 * a.risk for a in allocations], [100 * a.expected for a in allocations]
    curve.plot(risk, gain, "o-", color=colour, label=name)
    shift = -0.2 if cost == 0.0 else 0.2
    bars.bar(np.arange(sectors) + shift, 100 * allocations[0].exposures, 0.4, color=colour)
variance = np.square(F @ today).sum() + d @ np.square(today)
curve.plot(100 * np.sqrt(variance), 100 * expected @ today, "k*", ms=12, label="held today")
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
