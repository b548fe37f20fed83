"""Phase retrieval: a complex image from the brightness of its diffraction patterns alone.

A detector counts photons, and so sees the modulus of a wave and never its phase. With a few known
masks in the way of the wave, one pattern each, the image can be found again: u is unknown, and the
intensities are not linear in u, but they are linear in the matrix x = u u*, which is positive
semidefinite. So the problem is convex, and no good start is needed.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import condal

quick = "--quick" in sys.argv
side, patterns = (12, 8) if quick else (40, 8)

# An object that dims the light (two discs) and one that delays it (a ring and a slope).
y, x = np.mgrid[:side, :side] / side - 0.5
modulus = 1.0 - 0.6 * (np.hypot(x + 0.15, y + 0.1) < 0.2) - 0.4 * (np.hypot(x - 0.2, y) < 0.15)
phase = 2.0 * (np.abs(np.hypot(x, y - 0.05) - 0.32) < 0.07) - 1.5 * x
image = modulus * np.exp(1j * phase)

# Masks that turn the wave by a quarter, a half, three quarters or nothing, and what is then seen.
rng = np.random.default_rng(0)
masks = rng.choice([1, 1j, -1, -1j], (patterns, side, side))
seen = np.abs(np.fft.fft2(masks * image, norm="ortho")) ** 2
seen *= 1 + 0.01 * rng.standard_normal(seen.shape)  # and a little noise

model = condal.problems.phase_retrieval(seen, masks=masks, name="two discs and a ring")
result = condal.solve(model, tol=1e-3)
print(result)

signal = model.signal(result)
error = signal.error(image)
print(signal)
print(f"{model.n:,} complex numbers from {seen.size:,} intensities, to {100 * error:.2f}%")

assert result.status is condal.Status.SOLVED
assert error < 0.02

# One factor of modulus 1 cannot be known: turn the answer so that it looks like the truth.
found = signal.values.reshape(side, side)
found = found * np.exp(-1j * np.angle(np.vdot(image, found)))

figure = Figure(figsize=(9, 4.6), layout="constrained")
panels = figure.subplot_mosaic([["modulus", "seen", "modulus*"], ["phase", "seen", "phase*"]])
pattern = np.log10(np.fft.fftshift(seen[0]) + 1e-3)
panels["seen"].imshow(pattern, cmap="magma")
panels["seen"].set_title(f"one of {patterns} patterns of intensities (log)")
for star, title, picture in (("", "image", image), ("*", "recovered", found)):
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
