"""Total variation: remove the noise from a picture and keep its edges.

    minimise 1/2 |x - noisy|^2 + t sum over pixels |gradient of x at the pixel|,  0 <= x <= 1

The second term is g(Bx): B takes the differences of neighbouring pixels, and g sums the lengths of
the difference vectors of the pixels. Because g is not smooth, flat regions stay flat.
"""

import numpy as np
from matplotlib.figure import Figure

import condal

# A picture of flat regions with sharp edges, plus noise.
side = 64
row, column = np.mgrid[:side, :side] / side
picture = 0.1 + 0.75 * ((row > 0.15) & (row < 0.6) & (column > 0.15) & (column < 0.5))
picture[(row - 0.65) ** 2 + (column - 0.65) ** 2 < 0.05] = 0.5
rng = np.random.default_rng(0)
noisy = picture + 0.15 * rng.standard_normal(picture.shape)

problem = condal.Problem.of(
    f=condal.LeastSquares(condal.Identity(side**2), noisy.ravel()),
    X=condal.domains.Box(np.zeros(side**2), np.ones(side**2)),
    B=condal.FiniteDifferences((side, side)),
    g=condal.total_variation((side, side), 0.2),
    name="denoising",
)
result = condal.solve(problem, tol=1e-3)
print(result)
denoised = result.x.reshape(side, side)


def error(image):
    return float(np.sqrt(np.mean((image - picture) ** 2)))


print(f"root mean square error: {error(noisy):.3f} noisy, {error(denoised):.3f} denoised")
assert result.status is condal.Status.SOLVED
assert error(denoised) < 0.5 * error(noisy)

figure = Figure(figsize=(11, 4), layout="constrained")
images = ((picture, "the picture"), (noisy, "with noise"), (denoised, "denoised"))
for axes, (image, title) in zip(figure.subplots(1, 3), images, strict=True):
    shown = axes.imshow(image, cmap="gray", vmin=0, vmax=1)
    axes.set(title=title if image is picture else f"{title}: error {error(image):.3f}")
    axes.set_axis_off()
figure.colorbar(shown, ax=figure.axes, label="brightness")
gap = f"objective {result.objective:.4f}, proved not below {result.bound:.4f}"
figure.suptitle(f"Total variation; {gap}")
figure.savefig("total_variation.png", dpi=110)
