"""MAP inference: clean a noisy picture by the most probable state of a Markov random field.

Each pixel should agree with its observed value and with its neighbours. Finding the picture of
least energy is hard in general. A linear program over local distributions, one per pixel and one
per pair of neighbours, bounds the energy from below. Here its solution is itself a picture.
"""

import numpy as np
from matplotlib.figure import Figure

import condal

side, greys, noise = 64, 4, 0.25

# A picture of discs in a few greys; a quarter of the pixels get a random grey.
rng = np.random.default_rng(1)
rows, columns = np.indices((side, side)) / side
truth = np.zeros((side, side), dtype=int)
for grey, (y, x, radius) in enumerate([(0.35, 0.3, 0.25), (0.6, 0.7, 0.28), (0.8, 0.25, 0.15)], 1):
    truth[np.hypot(rows - y, columns - x) < radius] = grey % greys
wrong = rng.random(truth.shape) < noise
seen = np.where(wrong, rng.integers(0, greys, truth.shape), truth)

# The energy: 1 per pixel that differs from its observation, 0.6 per pair of unequal neighbours.
number = np.arange(side * side).reshape(side, side)
right = np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()])
down = np.column_stack([number[:-1].ravel(), number[1:].ravel()])
unary = (seen.ravel()[:, None] != np.arange(greys)).astype(float)
model = condal.problems.map_inference(
    unary, np.vstack([right, down]), 0.6 * (1 - np.eye(greys)), name="picture"
)
result = condal.solve(model, tol=1e-3)
print(result)

# Round to a picture, and compare its energy with the bound.
labelling = model.round(result)
clean = labelling.labels.reshape(side, side)
print(labelling)
print(f"energy of the true picture: {model.energy(truth.ravel()):.1f}")
before, after = np.mean(seen != truth), np.mean(clean != truth)
print(f"wrong pixels: {100 * before:.1f}% before, {100 * after:.1f}% after")

assert result.status is condal.Status.SOLVED
assert labelling.bound <= labelling.energy <= 1.01 * labelling.bound
assert labelling.energy <= model.energy(truth.ravel())
assert after < 0.5 * before

figure = Figure(figsize=(9.5, 3.6), layout="constrained")
titles = ["truth", f"seen: {100 * before:.0f}% wrong", f"found: {100 * after:.1f}% wrong"]
for axes, picture, title in zip(figure.subplots(1, 3), (truth, seen, clean), titles, strict=True):
    axes.imshow(picture, cmap="viridis", vmin=0, vmax=greys - 1)
    axes.set(title=title, xticks=[], yticks=[])
figure.suptitle(
    f"Energy {labelling.energy:.1f}; no picture has less than {labelling.bound:.1f} (proved)"
)
figure.savefig("map_inference.png", dpi=110)
