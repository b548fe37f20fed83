"""Phase retrieval: recover a complex image from the intensities of its diffraction patterns.

A detector counts photons, so it sees the modulus of a wave but not its phase. If the wave passes
through a few known masks, with one pattern for each, the image can be recovered. The intensities
are not linear in the image u, but they are linear in the matrix x = u u*, which is positive
semidefinite. The problem is therefore convex and needs no good starting point.
"""

import numpy as np
from matplotlib.figure import Figure

import condal

side, patterns = 40, 8

# The object dims the light (two discs) and delays it (a ring and a slope).
y, x = np.mgrid[:side, :side] / side - 0.5
modulus = 1.0 - 0.6 * (np.hypot(x + 0.15, y + 0.1) < 0.2) - 0.4 * (np.hypot(x - 0.2, y) < 0.15)
phase = 2.0 * (np.abs(np.hypot(x, y - 0.05) - 0.32) < 0.07) - 1.5 * x
image = modulus * np.exp(1j * phase)

# Masks that shift the phase by 0, 1/4, 1/2 or 3/4 of a turn, and the intensities behind them.
rng = np.random.default_rng(0)
masks = rng.choice([1, 1j, -1, -1j], (patterns, side, side))
intensities = np.abs(np.fft.fft2(masks * image, norm="ortho")) ** 2
intensities *= 1 + 0.01 * rng.standard_normal(intensities.shape)  # with a little noise

model = condal.problems.phase_retrieval(intensities, masks=masks, name="two discs and a ring")
result = condal.solve(model, tol=1e-3)
print(result)

signal = model.signal(result)
error = signal.error(image)
print(signal)
print(f"{model.n:,} pixels from {intensities.size:,} intensities, error {100 * error:.2f}%")

assert result.status is condal.Status.SOLVED
assert error < 0.02

# A global phase cannot be recovered: align the answer with the true image.
recovered = signal.values.reshape(side, side)
recovered = recovered * np.exp(-1j * np.angle(np.vdot(image, recovered)))

figure = Figure(figsize=(9, 4.6), layout="constrained")
panels = figure.subplot_mosaic([["modulus", "pattern", "modulus*"], ["phase", "pattern", "phase*"]])
pattern = np.log10(np.fft.fftshift(intensities[0]) + 1e-3)
panels["pattern"].imshow(pattern, cmap="magma")
panels["pattern"].set_title(f"one of {patterns} patterns of intensities (log)")
for star, title, picture in (("", "image", image), ("*", "recovered", recovered)):
    size, turn = panels["modulus" + star], panels["phase" + star]
    moduli = size.imshow(np.abs(picture), cmap="cividis", vmin=0.0, vmax=1.1)
    phases = turn.imshow(np.angle(picture), cmap="viridis", vmin=-1.0, vmax=3.0)
    size.set_title(f"{title}: modulus")
    turn.set_title(f"{title}: phase")
figure.colorbar(moduli, ax=panels["modulus*"])
figure.colorbar(phases, ax=panels["phase*"], label="radians")
for axes in panels.values():
    axes.set(xticks=[], yticks=[])
figure.suptitle(f"{model.n:,} complex pixels from intensities alone: error {100 * error:.1f}%")
figure.savefig("phase_retrieval.png", dpi=110)
