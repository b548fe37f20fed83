"""Untuned: CGAL with the penalty that it chooses, against penalties tuned by hand.

CGAL has one parameter, the penalty lambda_0, which the paper tunes over powers of ten for each
problem. condal's default starts at 0.1 and adapts. Here it solves a theta problem and a bisection
next to five fixed penalties, and nothing is tuned.
"""

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

import condal

graph = nx.gnm_random_graph(100, 300, seed=1)
models = {"theta": condal.problems.theta(graph), "bisection": condal.problems.bisection(graph)}
grid = [0.01, 0.1, 1.0, 10.0, 100.0]
calls = 400

figure = Figure(figsize=(9, 4.2), layout="constrained")
panels = figure.subplots(1, 2, sharey=True)
for axes, (name, model) in zip(panels, models.items(), strict=True):
    exact = condal.solve(model, tol=1e-6)
    assert exact.status is condal.Status.SOLVED
    print(f"{name}: the optimum is {exact.objective:.3f}, {exact.status.name.lower()} to 1e-6")

    # The error of x_k: of the objective, or the infeasibility if that is larger.
    errors = {}
    for lam0 in [*grid, None]:
        path = condal.solve(model, condal.CGAL(lam0), tol=0, max_iters=calls, seed=0).history
        away = np.abs(path["objective"] / exact.objective - 1)
        errors[lam0] = np.maximum(away, path["infeasibility"])
    worst = {lam0: error[calls // 2 :].max() for lam0, error in errors.items()}
    tuned = min(grid, key=lambda lam0: worst[lam0])
    print(f"  of the fixed penalties {grid}, {tuned:g} is best")
    print("  the default has at most twice its error")
    assert worst[None] < 2.0 * worst[tuned]

    for lam0, error in errors.items():
        colour = {None: "#D55E00", tuned: "#0072B2"}.get(lam0, "0.75")
        label = {None: "default, untuned", tuned: f"best fixed $\\lambda_0$: {tuned:g}"}.get(lam0)
        order = 1 if colour == "0.75" else 2
        axes.loglog(np.arange(1, error.size + 1), error, color=colour, label=label, zorder=order)
    axes.plot([], [], color="0.75", label="other fixed $\\lambda_0$")
    axes.set(title=f"{name}, 100 vertices", xlabel="oracle calls")
    axes.legend(frameon=False, loc="lower left")
panels[0].set_ylabel("error of $x_k$")
figure.savefig("untuned.png", dpi=85)
