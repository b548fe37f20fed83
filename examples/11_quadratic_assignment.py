"""Quadratic assignment: place machines so that goods travel as little as possible.

The cost of a plan is the sum of flows between machines times distances between their places. Even
for a dozen machines, the best of 479,001,600 plans is hard to find. A semidefinite program proves
that no plan costs less than its bound, and its solution rounds to a plan.
"""

import numpy as np
from matplotlib.figure import Figure

import condal

rows, cols = 3, 4
n = rows * cols

# Places on a grid with Manhattan distances; flows between some pairs of machines.
places = np.array([(i, j) for i in range(rows) for j in range(cols)])
distances = np.abs(places[:, None] - places).sum(axis=2)
rng = np.random.default_rng(3)
flows = np.triu(rng.integers(1, 10, (n, n)) * (rng.random((n, n)) < 0.4), 1)
flows = flows + flows.T
model = condal.problems.quadratic_assignment(flows, distances, name=f"{n} machines")

# The relaxation has a variable for every pair of assignments: a matrix of side n^2.
result = condal.solve(model, tol=1e-2)
print(result)

plan = model.round(result)
excess = model.excess(plan.permutation, result)
random = np.array([model.cost(rng.permutation(n)) for _ in range(5000)])
print(plan)
print(f"no plan costs less than {result.bound:.1f}; this one at most {100 * excess:.1f}% more")
print(f"the best of {random.size} random plans costs {random.min():.0f}")

assert result.status is condal.Status.SOLVED
assert result.bound <= plan.cost <= random.min()

figure = Figure(figsize=(9.5, 4), layout="constrained")
left, right = figure.subplots(1, 2)
at = places[plan.permutation][:, ::-1].astype(float)
for i, j in zip(*np.nonzero(np.triu(flows)), strict=True):
    # Curve each line so that it avoids the machines in between.
    bend = 0.12 * np.array([at[j, 1] - at[i, 1], at[i, 0] - at[j, 0]])
    curve = np.array([at[i], (at[i] + at[j]) / 2 + bend, at[j]])
    t = np.linspace(0, 1, 30)[:, None]
    line = (1 - t) ** 2 * curve[0] + 2 * t * (1 - t) * curve[1] + t**2 * curve[2]
    left.plot(*line.T, color="#0072B2", lw=0.4 * flows[i, j], alpha=0.5, solid_capstyle="round")
left.scatter(*at.T, s=420, color="white", edgecolor="black", zorder=3)
for machine, (x, y) in enumerate(at):
    left.annotate(str(machine + 1), (x, y), ha="center", va="center", zorder=4)
left.set_axis_off()
left.set_aspect("equal")
left.margins(0.15)
left.set_title("the plan; a line is as wide as its flow")
right.hist(random, bins=40, color="#BBBBBB", label=f"{random.size:,} random plans")
right.axvline(plan.cost, color="#0072B2", lw=2, label=f"this plan, {plan.cost:.0f}")
right.axvline(result.bound, color="#D55E00", lw=2, ls="--", label=f"bound, {result.bound:.1f}")
right.set(xlabel="cost", ylabel="plans", title="no plan lies left of the bound")
right.set_ylim(0, 1.3 * right.get_ylim()[1])  # room for the legend
right.legend(loc="upper right", frameon=False)
figure.savefig("quadratic_assignment.png", dpi=110)
