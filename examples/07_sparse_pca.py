"""Sparse PCA: components that use few variables, found one at a time.

Principal components mix all variables, which makes them hard to interpret. Here each entry has a
price, so a component uses few variables. The semidefinite program that finds it also bounds the
value of any other direction at that price.
"""

import numpy as np
from matplotlib.figure import Figure

import condal

n, days = 120, 300

# Returns of n shares: three sectors, each moving together, and noise.
rng = np.random.default_rng(1)
sectors = [np.arange(0, 5), np.arange(8, 14), np.arange(18, 22)]
returns = 0.8 * rng.standard_normal((days, n))
for strength, sector in zip((1.9, 1.5, 1.2), sectors, strict=True):
    returns[:, sector] += strength * rng.standard_normal((days, 1))
model = condal.problems.sparse_pca(data=returns, rho=0.6, name="sectors")

# Find a component, deflate, repeat.
components, ordinary = [], np.linalg.eigh(model.S)[1][:, ::-1]
for sector in sectors:
    result = condal.solve(model, tol=1e-3)
    component = model.component(result)
    print(result if not components else f"status {result.status.name}, gap {result.gap:.1g}")
    print(component, "on the variables", component.support)
    assert result.status is condal.Status.SOLVED
    assert component.objective <= result.bound
    assert set(component.support) == set(sector)
    components.append(component)
    model = model.deflated(component)

shown = min(n, 40)
figure = Figure(figsize=(9.5, 5.2), layout="constrained")
rows = figure.subplots(3, 2, sharex=True, sharey=True)
for number, (pair, component) in enumerate(zip(rows, components, strict=True)):
    dense = ordinary[:, number] * np.sign(ordinary[np.argmax(np.abs(ordinary[:, number])), number])
    for axes, vector in zip(pair, (dense, component.vector), strict=True):
        colour = "#999999" if vector is dense else "#0072B2"
        axes.bar(np.arange(shown), vector[:shown], color=colour)
        axes.axhline(0, color="black", lw=0.6)
    pair[0].set_ylabel(f"component {number + 1}")
    pair[1].annotate(
        f"{component.support.size} variables, {100 * component.explained:.1f}% of the variance",
        (0.98, 0.07),
        xycoords="axes fraction",
        ha="right",
        va="bottom",
    )
rows[0][0].set_title(f"ordinary PCA: all {n} variables")
rows[0][1].set_title("sparse PCA")
for axes in rows[-1]:
    axes.set_xlabel(f"variable (the first {shown} of {n})")
figure.savefig("sparse_pca.png", dpi=110)
