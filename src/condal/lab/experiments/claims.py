"""claims.md: what the paper says, what was measured here, and whether it holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

import condal
from condal.lab.experiments.contenders import CONTENDERS
from condal.lab.experiments.study import Study


class ClaimVerdict(Enum):
    """What a measurement makes of a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNTESTED = "not tested here"

    @classmethod
    def of(cls, truth: bool | None) -> ClaimVerdict:
        """None is for what could not be measured."""
        if truth is None:
            return cls.UNTESTED
        return cls.HOLDS if truth else cls.FAILS


@dataclass(frozen=True)
class PaperClaim:
    """A sentence of the paper, in our words, and what came of it on an instance."""

    where: str
    text: str
    measured: str
    verdict: ClaimVerdict
    instance: str = ""


def page(
    name: str,
    title: str,
    studies: Sequence[Study],
    claims: Iterable[PaperClaim],
    *,
    criteria: Sequence[str],
    remarks: Sequence[str] = (),
    quick: bool = False,
) -> str:
    """The text of claims.md."""
    blocks = [f"# {name}: {title}"]
    if quick:
        blocks.append(
            "A quick run: generated stand-ins for the paper's data, and budgets that are often too "
            "short for a rate to show. Run without `--quick` to test the paper."
        )
    blocks += [
        "## The paper's claims",
        _table(
            ("instance", "claim", "in the paper", "measured here", "verdict"),
            [(c.instance, c.text, c.where, c.measured, f"**{c.verdict.value}**") for c in claims],
        ),
        "## What the words mean",
        "The same for every run, in `condal.lab.experiments.paper`:",
        "\n".join(f"* {line}" for line in criteria),
        "## The instances",
        _table(
            ("instance", "", "f*", "proved within", "oracle calls a trial"),
            [
                (
                    s.instance,
                    s.title,
                    f"{s.optimum:.10g}",
                    f"{s.floor / 10:.1e}",
                    f"{s.budget.calls}, at most {s.budget.seconds:g} s",
                )
                for s in studies
            ],
        ),
        "## The methods, each at its best",
        _table(
            ("instance", "method", "best", "score", "trials", "ended by", "remark"),
            [row for study in studies for row in _tuned(study)],
        ),
        "Parameters are those of the normalised problem that `condal.solve` hands to a method. "
        "Each was searched by factors of 10 until a value beat both its neighbours; every trial is "
        "kept, in `../trials/`.",
    ]
    blocks += list(remarks)
    blocks.append(f"condal {condal.__version__}")
    return "\n\n".join(blocks) + "\n"


def _tuned(study: Study) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for tuned in study.tuned.values():
        edge = ", ".join(f"{name} is at the end of its range" for name in tuned.edges)
        rows.append(
            (
                study.instance,
                tuned.contender.label,
                tuned.contender.describe(tuned.setting),
                f"{tuned.score:.1e}",
                str(len(tuned.trials)),
                tuned.trial.ended,
                edge,
            )
        )
    return rows


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines
    )


def label(name: str) -> str:
    """What a method is called."""
    return CONTENDERS[name].label
