"""The performance profile (Dolan and More 2002).

It shows the share of instances that each solver solves within a factor of the fastest time. Only
this module of the bench imports matplotlib.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from condal.linalg.points import Array
from condal_lab.bench.peers import PEERS, YARDSTICKS
from condal_lab.bench.peers.packages import OURS
from condal_lab.bench.results import Results

# The colours of Okabe and Ito for colour-blind readers; line styles distinguish them in grey.
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


def factors(results: Sequence[Results]) -> dict[str, Array]:
    """Return the CPU time of each solver over the fastest, per instance; inf if unsolved.

    Instances with a single solver are left out. Solved means certified to the tolerance that the
    solver had to reach.
    """
    times: dict[str, dict[str, float]] = {}
    for of_set in results:
        for case in of_set.cases:
            judged = [run for run in of_set.of(case) if run.solver not in YARDSTICKS]
            runs = [run for run in judged if run.tol >= _tightest(of_set, case)]
            tightest = {run.solver: run for run in sorted(runs, key=lambda run: -run.tol)}
            compared = [run for run in runs if run is tightest[run.solver]]
            if len(compared) < 2:
                continue
            for run in compared:
                solved = run.outcome == "solved" and run.cpu is not None
                times.setdefault(run.solver, {})[f"{of_set.set} {case}"] = (
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
    """Draw STEM.svg and STEM.png, unless there is nothing to compare."""
    ratios = factors(results)
    if not ratios:
        return []
    import matplotlib as mpl
    from matplotlib.figure import Figure

    finite = [value for row in ratios.values() for value in row[np.isfinite(row)]]
    end = 2.0 * max([4.0, *finite])
    count = len(next(iter(ratios.values())))
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(7.0, 4.2), layout="constrained")
        axes = figure.add_subplot()
        for name, row in ratios.items():
            colour, dashes = STYLES[name]
            x, y = steps(row, end)
            width = 2.4 if name == OURS.name else 1.4
            label = f"{name} ({np.isfinite(row).sum()})"
            style = {"color": colour, "linestyle": dashes, "linewidth": width, "zorder": width}
            axes.step(x, y, where="post", label=label, **style)
        axes.set(xscale="log", xlim=(1.0, end), ylim=(-0.02, 1.04), title=title)
        axes.set_xlabel("CPU time over the fastest")
        axes.set_ylabel(f"share of {count} instance{'s' * (count > 1)}, solved and certified")
        axes.grid(alpha=0.3, linewidth=0.5)
        figure.legend(loc="outside right upper", frameon=False, title="solver (solved)")
        paths = [stem.with_suffix(".svg"), stem.with_suffix(".png")]
        figure.savefig(paths[0], metadata={"Date": None})
        figure.savefig(paths[1], dpi=130)
    return paths


def steps(row: Array, end: float) -> tuple[Array, Array]:
    """Return the corners of a solver's profile: the factors where it rises, and the shares."""
    risen = np.sort(row[np.isfinite(row)])
    x = np.concatenate([[1.0], risen, [end]])
    share = np.arange(risen.size + 1) / row.size
    return x, np.append(share, share[-1])


def _tightest(results: Results, case: str) -> float:
    ours = results.ours(case)
    return 0.0 if ours is None else ours.tol
