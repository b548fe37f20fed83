"""Robust completion: half of a picture is missing, and a tenth of the rest is wrong.

The picture is a matrix of low rank. With squared differences, every wrong pixel pulls the fit in
proportion to its error. Huber's loss bounds the pull of each pixel, so the correct pixels outweigh
the wrong ones. Nobody has to say which pixels are wrong.
"""

import numpy as np
from matplotlib.figure import Figure

import condal

height, width = 100, 150

# A pattern of stripes, checks and two rectangles, with few linearly independent rows.
y, x = np.mgrid[:height, :width] / np.array([height, width])[:, None, None]
picture = 0.45 + 0.2 * np.sin(9 * np.pi * x) * np.sin(5 * np.pi * y)
picture += 0.2 * (np.abs(x - 0.7) < 0.18) * (np.abs(y - 0.35) < 0.22)
picture -= 0.25 * (np.abs(x - 0.25) < 0.12) * (np.abs(y - 0.65) < 0.2)
rank = np.linalg.matrix_rank(picture)

# Half of the pixels are observed. A tenth of these are replaced by white or black.
rng = np.random.default_rng(0)
seen = np.where(rng.random(picture.shape) < 0.5, picture, np.nan)
wrong = ~np.isnan(seen) & (rng.random(picture.shape) < 0.1)
seen[wrong] = rng.choice([0.0, 1.0], wrong.sum())
rows, cols = np.nonzero(~np.isnan(seen))
values = seen[rows, cols]


def error(image):
    return float(np.sqrt(np.mean((image - picture) ** 2)))


# For each loss, the model chooses the radius by its predictions of held-out pixels.
images = {}
for loss in ("squares", "huber"):
    model = condal.problems.matrix_completion(
        rows, cols, values, shape=picture.shape, loss=loss, name=f"picture, {loss}"
    )
    result = condal.solve(model, tol=1e-3)
    print(result)
    assert result.status is condal.Status.SOLVED
    images[loss] = np.asarray(model.complete(result))
    print(f"{loss}: error {error(images[loss]):.4f}")
assert error(images["huber"]) < 0.7 * error(images["squares"])

figure = Figure(figsize=(9, 5.4), layout="constrained")
panels = (
    (picture, f"the picture, of rank {rank}"),
    (seen, f"seen: half of it, {wrong.sum():,} pixels wrong"),
    (images["squares"], f"squares: error {error(images['squares']):.3f}"),
    (images["huber"], f"Huber's loss: error {error(images['huber']):.3f}"),
)
for axes, (image, title) in zip(figure.subplots(2, 2).flat, panels, strict=True):
    axes.set_facecolor("#56B4E9")  # what is missing
    shown = axes.imshow(image, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    axes.set(title=title, xticks=[], yticks=[])
figure.colorbar(shown, ax=figure.axes, label="brightness (blue: missing)", shrink=0.8)
figure.savefig("robust_completion.png", dpi=85)
