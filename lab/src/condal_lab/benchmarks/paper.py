"""The paper's experiments and the study of rates in the documentation:
`python -m condal_lab.benchmarks.paper [FOLDER]`.

With the FOLDER of `condal experiment all`, its results are stored in compact form in
`lab/results/paper`, and the runs of `rates` in `lab/results/rates`. The tables and figures of
docs/paper.md, docs/paper-trials.md and docs/rates.md are then made from the stored results. A
remark of remarks.json says in one line why a claim does or does not hold; its key is the text of
the claim, or "INSTANCE: TEXT".
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import median

from condal_lab.benchmarks.runner import RESULTS
from condal_lab.experiments import paper
from condal_lab.experiments.catalogue import EXPERIMENTS, Experiment
from condal_lab.experiments.claims import (
    ClaimVerdict,
    PaperClaim,
    Study,
    instances_table,
    label,
    methods_table,
)
from condal_lab.experiments.folder import ExperimentFolder, collect, read_study, write_study
from condal_lab.experiments.guarantees import measure_all
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

RATES = RESULTS / "rates"
OTHERS = ("dual", "multiplier", "atoms")


def rate_tables(runs: Sequence[RateRun]) -> dict[str, str]:
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


REMARKS: dict[str, str] = json.loads(
    Path(__file__).with_name("remarks.json").read_text(encoding="utf-8")
)


def remark(claim: PaperClaim) -> str:
    """Return the line about a claim; empty if the numbers speak for themselves."""
    return REMARKS.get(f"{claim.instance}: {claim.text}", REMARKS.get(claim.text, ""))


STORED = RESULTS / "paper"
MEASURED = "guarantees"  # the experiment without instances: its claims are stored as they are
PAPER = {name: experiment for name, experiment in EXPERIMENTS.items() if name != "rates"}
PLANS = {plan.name: plan for experiment in PAPER.values() for plan in experiment.plans}


def store(folder: str, to: Path = STORED) -> None:
    """Store the results of a folder of experiments in compact form."""
    to.mkdir(parents=True, exist_ok=True)
    results = ExperimentFolder(folder)
    for name in PLANS:
        study = collect(results, name)
        if study is not None:
            write_study(study, to / f"{name}.json", atoms=name.startswith("geneig"))
    claims = [[c.where, c.text, c.measured, c.verdict.value] for c in measure_all(quick=False)]
    (to / f"{MEASURED}.json").write_text(json.dumps(claims, indent=1) + "\n", encoding="utf-8")


def studies(experiment: Experiment, stored: Path = STORED) -> list[Study]:
    """Read the stored studies of an experiment, with the methods that it shows."""
    paths = [stored / f"{plan.name}.json" for plan in experiment.plans]
    return [read_study(path).only(experiment.contenders) for path in paths if path.exists()]


def claims(experiment: Experiment, stored: Path = STORED) -> list[PaperClaim]:
    """Return the claims of an experiment: from the stored curves, or as they were stored."""
    if experiment.plans:
        return experiment.claims(studies(experiment, stored))
    rows = json.loads((stored / f"{MEASURED}.json").read_text(encoding="utf-8"))
    return [
        PaperClaim(where, text, measured, ClaimVerdict(verdict), "planted")
        for where, text, measured, verdict in rows
    ]


def tables(stored: Path = STORED) -> dict[str, str]:
    """Return the tables of the pages by file name."""
    by_experiment = {name: claims(experiment, stored) for name, experiment in PAPER.items()}
    distinct = {(c.text, c.instance): c for listed in by_experiment.values() for c in listed}
    everything = {study.instance: study for e in PAPER.values() for study in studies(e, stored)}
    pages = {f"claims-{name}.md": _claims(listed) for name, listed in by_experiment.items()}
    pages["claims.md"] = _overview(list(distinct.values()))
    pages["criteria.md"] = "\n".join(f"* {line}" for line in paper.CRITERIA) + "\n"
    pages["instances.md"] = instances_table(everything.values()) + "\n"
    for name, experiment in PAPER.items():
        if experiment.plans:
            pages[f"methods-{name}.md"] = methods_table(studies(experiment, stored)) + "\n"
    return pages


def _overview(listed: Sequence[PaperClaim]) -> str:
    """Return a row per claim, with its verdict on each instance."""
    groups: dict[str, list[PaperClaim]] = {}
    for claim in listed:
        groups.setdefault(claim.text, []).append(claim)
    rows = [
        (text, ", ".join(sorted({c.where for c in group})), _verdicts(group))
        for text, group in groups.items()
    ]
    return markdown(("claim", "in the paper", "verdict"), rows) + "\n"


def _verdicts(group: Sequence[PaperClaim]) -> str:
    parts = []
    for verdict in ClaimVerdict:
        names = [claim.instance for claim in group if claim.verdict is verdict]
        if names:
            parts.append(f"**{verdict.value}** on {', '.join(names)}")
    return "; ".join(parts)


def _claims(listed: Sequence[PaperClaim]) -> str:
    rows = [
        (c.instance, c.text, c.where, f"**{c.verdict.value}**", c.measured, remark(c))
        for c in listed
    ]
    head = ("instance", "claim", "in the paper", "verdict", "measured here", "why")
    return markdown(head, rows) + "\n"


def draw_figures(to: Path = STORED, stored: Path = STORED) -> Iterator[Path]:
    """Draw the figures as SVG, and yield their paths."""
    from condal_lab.experiments.figures import draw

    for name, experiment in PAPER.items():
        shown = studies(experiment, stored)
        if shown:
            yield from draw(experiment.layout, shown, to / name, (".svg",))


def main(arguments: Sequence[str]) -> None:
    """Store the results of a folder if one is given; make all tables and figures."""
    from condal_lab.experiments.figures import draw_rates

    for folder in arguments:
        store(folder)
        if (Path(folder) / "rates" / FILE).exists():
            shutil.copyfile(Path(folder) / "rates" / FILE, RATES / FILE)
    runs = read_runs(RATES / FILE)
    for place, pages in ((STORED, tables()), (RATES, rate_tables(runs))):
        for name, text in pages.items():
            (place / name).write_text(text, encoding="utf-8")
    for path in (*draw_figures(), *draw_rates(runs, RATES / "rates", (".svg",))):
        print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
