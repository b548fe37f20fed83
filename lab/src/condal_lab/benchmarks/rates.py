"""The study of rates in the documentation: `python -m condal_lab.benchmarks.rates [FOLDER]`.

With the FOLDER of `condal experiment rates`, its runs are stored in `lab/results/rates`. The
tables and the figure of docs/rates.md are then made from the stored runs.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from statistics import median

from condal_lab.benchmarks.runner import RESULTS
from condal_lab.experiments.claims import label
from condal_lab.experiments.rate_claims import (
    CRITERIA,
    RESIDUAL_LABELS,
    PairedDifference,
    expectations,
    paired_difference,
    select,
    slopes,
    spread,
)
from condal_lab.experiments.rate_instances import rate_instances
from condal_lab.experiments.rates import FILE, METHODS, SHOWN, RateRun, read_runs
from condal_lab.markdown import markdown

STORED = RESULTS / "rates"
OTHERS = ("dual", "multiplier", "atoms")


def tables(runs: Sequence[RateRun]) -> dict[str, str]:
    """Return the tables of the page by file name."""
    pages = {
        "expectations.md": _expectations(runs),
        "slopes.md": _slopes(runs),
        "kinds.md": _kinds(runs),
        "duals.md": _duals(runs),
        "rank-one.md": _rank_one(runs),
        "criteria.md": "\n".join(f"* {line}" for line in CRITERIA),
    }
    return {name: text + "\n" for name, text in pages.items()}


def _expectations(runs: Sequence[RateRun]) -> str:
    rows = [(c.text, f"**{c.verdict.value}**", c.measured) for c in expectations(runs)]
    return markdown(("expectation", "verdict", "measured"), rows)


def _slopes(runs: Sequence[RateRun]) -> str:
    """Return a row per method and lam0: slopes of both twins, their difference, and the level."""
    rows = []
    for method, lam0 in product(METHODS, _grid(runs)):
        chosen = select(runs, method, lam0)
        cells = [cell for residual in SHOWN for cell in _twins(chosen, residual)]
        level = median(run.peaks["gap"][-1] for run in chosen)
        rows.append((label(method), f"{lam0:g}", *cells, f"{level:.1e}"))
    columns = _columns(SHOWN, ("strict", "not strict", "difference"))
    return markdown(("method", "lam0", *columns, "gap at the end"), rows)


def _twins(runs: Sequence[RateRun], residual: str) -> list[str]:
    return [
        spread(slopes(runs, residual, strict=True)),
        spread(slopes(runs, residual, strict=False)),
        _difference(paired_difference(runs, residual)),
    ]


def _difference(difference: PairedDifference) -> str:
    return f"{difference.median:+.2f} (p = {difference.p:.2g})"


def _kinds(runs: Sequence[RateRun]) -> str:
    """Return a row per kind: slopes of the feasibility gap, with lam0 at the middle."""
    rows = []
    for kind in dict.fromkeys(run.kind for run in runs):
        of_kind = [run for run in runs if run.kind == kind]
        cells = [
            spread(slopes(select(of_kind, method), "gap", strict=strict))
            for method, strict in product(METHODS, (True, False))
        ]
        rows.append((kind, *cells))
    columns = [
        f"{label(method)}, {what}" for method, what in product(METHODS, ("strict", "not strict"))
    ]
    return markdown(("kind", *columns), rows)


def _rank_one(runs: Sequence[RateRun]) -> str:
    """Return a row per pair whose x* has rank 1: slopes of CGAL (const.), with the largest lam0."""
    pairs = {instance.name for instance in rate_instances((1,)) if instance.face is not None}
    chosen = [run for run in select(runs, "cgal", _grid(runs)[-1]) if run.pair in pairs]
    twins = {(run.pair, run.strict): run.slopes for run in chosen}
    rows = [
        (pair, *(str(twins[pair, strict][r]) for r, strict in product(SHOWN, (True, False))))
        for pair in sorted(pairs)
    ]
    return markdown(("pair", *_columns(SHOWN)), rows)


def _duals(runs: Sequence[RateRun]) -> str:
    """Return a row per method and lam0: slopes of y, of w and of the atoms."""
    rows = []
    for method, lam0 in product(METHODS, _grid(runs)):
        chosen = select(runs, method, lam0)
        cells = [
            "" if (method, residual) == ("hcgm", "dual") else spread(values)
            for residual, strict in product(OTHERS, (True, False))
            for values in [slopes(chosen, residual, strict=strict)]
        ]
        rows.append((label(method), f"{lam0:g}", *cells))
    return markdown(("method", "lam0", *_columns(OTHERS)), rows)


def _columns(
    residuals: Sequence[str], twins: Sequence[str] = ("strict", "not strict")
) -> list[str]:
    return [f"{RESIDUAL_LABELS[residual]}: {what}" for residual, what in product(residuals, twins)]


def _grid(runs: Sequence[RateRun]) -> list[float]:
    return sorted({run.lam0 for run in runs})


def main(arguments: Sequence[str]) -> None:
    """Store the runs of a folder if one is given that has them; make the tables and the figure."""
    from condal_lab.experiments.figures import draw_rates

    for folder in arguments:
        if (Path(folder) / "rates" / FILE).exists():
            shutil.copyfile(Path(folder) / "rates" / FILE, STORED / FILE)
    runs = read_runs(STORED / FILE)
    for name, text in tables(runs).items():
        (STORED / name).write_text(text, encoding="utf-8")
    for path in draw_rates(runs, STORED / "rates", (".svg",)):
        print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
