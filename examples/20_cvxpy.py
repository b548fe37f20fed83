"""CVXPY: how large can the risk of a portfolio be if correlations are only partly known?

The risk of each asset is known, but only some correlations, to within 0.1. A correlation matrix is
psd, which constrains the unknown ones. The largest risk over all consistent matrices is a
semidefinite program (Boyd and Vandenberghe, example 8.3), written here in CVXPY. Only the argument
`solver` mentions condal. The gain is a proof that the risk does not exceed the bound, whatever the
unknown correlations are.
"""

import cvxpy as cp
import numpy as np
from matplotlib.figure import Figure

from condal.cvxpy import CONDAL

n, shares = 40, (0.0, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)

# A market factor, sector factors, and the specific risk of each asset.
rng = np.random.default_rng(3)
sector = np.sort(rng.integers(0, 4, n))
moves = np.column_stack([rng.uniform(0.3, 0.9, n), 0.8 * np.eye(4)[sector]])
truth = moves @ moves.T + np.diag(rng.uniform(0.3, 0.9, n))
truth /= np.sqrt(np.outer(np.diag(truth), np.diag(truth)))
risks, holdings = rng.uniform(0.1, 0.4, n), np.full(n, 1 / n)
v = holdings * risks

# Correlations become known in this order.
i, j = np.triu_indices(n, 1)
order = rng.permutation(i.size)
worst, proved = [], []
for share in shares:
    known = order[: round(share * i.size)]
    C = cp.Variable((n, n), PSD=True)
    constraints = [cp.diag(C) == 1]
    if known.size:
        pairs = i[known], j[known]
        constraints += [C[pairs] >= truth[pairs] - 0.1, C[pairs] <= truth[pairs] + 0.1]
    problem = cp.Problem(cp.Maximize(v @ C @ v), constraints)
    problem.solve(solver=CONDAL(tol=1e-4))
    result = problem.solver_stats.extra_stats  # condal's result, with its certificate
    assert problem.status == "optimal"
    worst.append(C.value)
    proved.append(np.sqrt(-result.bound))  # CVXPY minimises, so the bound is on -v'Cv
    print(f"{share:4.0%} of the correlations known: risk at most {proved[-1]:.4f}")
print(result)

true_risk = np.sqrt(v @ truth @ v)
assert np.all(np.diff(proved) <= 1e-3)
assert min(proved) >= true_risk

figure = Figure(figsize=(10, 3.6), layout="constrained")
curve, *panels = figure.subplots(1, 3, width_ratios=(1.4, 1, 1))
percent, highest = 100 * np.array(shares), 100 * np.array(proved)
curve.plot(percent, highest, "o-", color="#0072B2", label="no more than this: proved")
curve.axhline(100 * true_risk, color="#D55E00", ls="--", label="with the true correlations")
curve.set(xlabel="correlations known [%]", ylabel="risk [%]", ylim=(0, None))
curve.set_title(f"risk of {n} assets, held alike")
curve.legend(frameon=False)
middle = len(shares) // 2
shown = {f"worst, {shares[middle]:.0%} known": worst[middle], "the true ones": truth}
for panel, (title, matrix) in zip(panels, shown.items(), strict=True):
    image = panel.imshow(matrix, vmin=-1, vmax=1, cmap="RdBu_r")
    panel.set(title=title, xticks=[], yticks=[])
figure.colorbar(image, ax=panels, label="correlation", shrink=0.8)
figure.savefig("cvxpy.png", dpi=110)
