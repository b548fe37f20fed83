"""Matrix completion: predict all ratings from a few of them.

People rate films. Some people are generous and some films are good, which explains a part of the
ratings. The rest is taste, and tastes have few dimensions: a matrix of low rank. Finding the best
fit among matrices whose singular values have a bounded sum is a convex problem. Held-out ratings
choose the bound.
"""

import numpy as np
from matplotlib.figure import Figure

import condal

people, films, tastes = 300, 400, 4

# The truth: an average of 3, effects of people and films, and taste. About a fifth is known.
rng = np.random.default_rng(0)
taste = rng.standard_normal((people, tastes)) @ rng.standard_normal((tastes, films))
truth = 3.0 + 0.4 * rng.standard_normal((people, 1)) + 0.4 * rng.standard_normal(films)
truth += 0.8 * taste / np.sqrt(tastes)
known = rng.random(truth.shape) < 0.2
rows, cols = np.nonzero(known)
ratings = truth[rows, cols] + 0.6 * rng.standard_normal(rows.size)

# The model chooses the radius.
model = condal.problems.matrix_completion(rows, cols, ratings, shape=truth.shape, name="ratings")
result = condal.solve(model, tol=1e-3)
print(result)
completed = model.complete(result)
print(completed)

# The prediction error on the unknown ratings, for this radius and for others.
i, j = np.nonzero(~known)


def error_at(radius):
    """The prediction error on the unknown ratings for a given radius."""
    other = condal.problems.matrix_completion(rows, cols, ratings, shape=truth.shape, radius=radius)
    return other.complete(condal.solve(other, tol=1e-2)).rmse(i, j, truth[i, j])


error = completed.rmse(i, j, truth[i, j])
effects = np.sqrt(np.mean((model.effects.entries(i, j) - truth[i, j]) ** 2))
radii = model.radius * 2.0 ** np.array([-2, -1.5, -1, -0.5, 0.5, 1])
errors = [error_at(radius) for radius in radii]
print(f"error {error:.3f}; with the effects of people and films alone {effects:.3f}")

assert result.status is condal.Status.SOLVED
assert error < 0.7 * effects
assert error < 1.2 * min(errors)

figure = Figure(figsize=(9.5, 4.2), layout="constrained")
left, right = figure.subplots(1, 2)
left.axhline(effects, color="#999999", ls="--", label="effects of people and films alone")
order = np.argsort([*radii, model.radius])
curve = np.array([[*radii, model.radius], [*errors, error]])[:, order]
left.semilogx(*curve, "o-", color="#0072B2", label="matrix of low rank on top")
left.plot(model.radius, error, "*", color="#D55E00", ms=16, label="the radius chosen by itself")
left.set_xticks(curve[0, ::2], [f"{radius:.0f}" for radius in curve[0, ::2]], minor=False)
left.minorticks_off()
left.set(xlabel="radius: sum of singular values", ylabel="error of ratings not given")
left.set(ylim=(0, 1.25 * effects), title="prediction by the radius")
left.legend(frameon=False, loc="lower right")
some = rng.choice(i.size, 800)
for values, colour, label in (
    (model.effects.entries(i[some], j[some]), "#999999", f"effects alone: {effects:.2f}"),
    (completed.entries(i[some], j[some]), "#D55E00", f"completed: {error:.2f}"),
):
    right.plot(truth[i[some], j[some]], values, ".", ms=3, alpha=0.6, color=colour, label=label)
right.axline((3, 3), slope=1, color="black", lw=1)
right.set(xlabel="true rating", ylabel="predicted rating", title="ratings that were not given")
right.legend(frameon=False, markerscale=4, loc="upper left")
share = f"{100 * known.mean():.0f}%"
figure.suptitle(f"{people} people and {films} films, {share} of the ratings known")
figure.savefig("matrix_completion.png", dpi=110)
