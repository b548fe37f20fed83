"""The performance profile: the share of instances that each solver solves within a factor of the
fastest time (Dolan and More 2002). The only module of the bench that imports matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from condal.lab.bench.peers import OURS, PEERS
from condal.lab.bench.results import Results
from condal.linalg.points import Array
from condal.runtime import extras

# Okabe and Ito's colours, which the colour-blind tell apart; line styles tell them apart in grey.
COLOURS = ("#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D00", "#000000")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)))
STYLES = {
    OURS.name: ("#0072B2", "-"),
    **{
        name: (COLOURS[i % len(COLOURS)], DASHES[(1 + i) % len(DASHES)])
        for i, name in enumerate(PEERS)
    },
}
SETTINGS: Any = {"font.size": 9, "svg.hashsalt": "condal", "svg.fonttype": "path"}


def require_matplotlib() -> None:
    """Raise MissingExtra now, and not after the hours that the runs take."""
    extras.require("matplotlib", what="the profile needs matplotlib", extra="bench")


def factors(results: Sequence[Results]) -> dict[str, Array]:
    """For each solver and instance its CPU time over the least; inf where it did not solve it.

    Instances that one solver alone was asked for are left out. Solved means certified, to the
    tolerance that the solver was held to.
    """
    times: dict[str, dict[str, float]] = {}
    for one in results:
        for case in one.cases:
            runs = [run for run in one.of(case) if run.tol >= _tightest(one, case)]
            tightest = {run.solver: run for run in sorted(runs, key=lambda run: -run.tol)}
            mine = [run for run in runs if run is tightest[run.solver]]
            if len(mine) < 2:
                continue
            for run in mine:
                solved = run.outcome == "solved" and run.cpu is not None
                times.setdefault(run.solver, {})[f"{one.set} {case}"] = (
                    max(run.cpu or 0.0, 1e-6) if solved else np.inf
                )
    keys = sorted({key for row in times.values() for key in row})
    table = np.array([[row.get(key, np.inf) for key in keys] for row in times.values()])
    if table.size == 0:
        return {}
    best = table.min(axis=0)
    solved = np.isfinite(best)
    scaled = np.full(table.shape, np.inf)
    scaled[:, solved] = table[:, solved] / best[solved]
    return dict(zip(times, scaled, strict=True))


def draw(results: Sequence[Results], stem: Path, title: str) -> list[Path]:
    """STEM.svg and STEM.png; nothing where there is nothing to compare."""
    found = factors(results)
    if not found:
        return []
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    finite = [value for row in found.values() for value in row[np.isfinite(row)]]
    end = 2.0 * max([4.0, *finite])
    count = len(next(iter(found.values())))
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(7.0, 4.2), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        for name, row in found.items():
            colour, dashes = STYLES[name]
            x, y = steps(row, end)
            width = 2.4 if name == OURS.name else 1.4
            label = f"{name} ({np.isfinite(row).sum()})"
            style = {"color": colour, "linestyle": dashes, "linewidth": width, "zorder": width}
            axes.step(x, y, where="post", label=label, **style)
        axes.set(xscale="log", xlim=(1.0, end), ylim=(-0.02, 1.04), title=title)
        axes.set_xlabel("CPU time over that of the fastest")
        axes.set_ylabel(f"share of {count} instance{'s' * (count > 1)}, solved and certified")
        axes.grid(alpha=0.3, linewidth=0.5)
        figure.legend(loc="outside right upper", frameon=False, title="solver (solved)")
        paths = [stem.with_suffix(".svg"), stem.with_suffix(".png")]
        figure.savefig(paths[0], metadata={"Date": None})
        figure.savefig(paths[1], dpi=130)
    return paths


def steps(row: Array, end: float) -> tuple[Array, Array]:
    """The profile of a solver: where it rises, and to what share."""
    risen = np.sort(row[np.isfinite(row)])
    x = np.concatenate([[1.0], risen, [end]])
    share = np.arange(risen.size + 1) / row.size
    return x, np.append(share, share[-1])


def _tightest(one: Results, case: str) -> float:
    ours = one.ours(case)
    return 0.0 if ours is None else ours.tol
