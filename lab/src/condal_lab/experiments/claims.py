"""claims.md: the paper's claims, the measured values, and whether each claim holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, TypeVar

import condal
from condal_lab.experiments.contenders import CONTENDERS
from condal_lab.experiments.study import Study
from condal_lab.markdown import markdown


class ClaimVerdict(Enum):
    """The verdict of a measurement on a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "undecided"
    UNTESTED = "not tested here"

    @classmethod
    def of(cls, truth: bool | ClaimVerdict | None) -> ClaimVerdict:
        """Return the verdict; None means that nothing could be measured."""
        if truth is None:
            return cls.UNTESTED
        if isinstance(truth, ClaimVerdict):
            return truth
        return cls.HOLDS if truth else cls.FAILS


@dataclass(frozen=True)
class PaperClaim:
    """A claim of the paper in our words, with its measurement and verdict on an instance."""

    where: str
    text: str
    measured: str
    verdict: ClaimVerdict
    instance: str = ""


# What was measured, in words, and whether the claim holds; None if nothing could be measured.
Measured: TypeAlias = tuple[str, bool | ClaimVerdict | None]
Subject = TypeVar("Subject")


def claim(
    where: str, text: str
) -> Callable[[Callable[[Subject], Measured]], Callable[[Subject], PaperClaim]]:
    """Make a measurement, of a study or of planted problems, a test of a claim."""

    def decorated(measure: Callable[[Subject], Measured]) -> Callable[[Subject], PaperClaim]:
        def test(subject: Subject) -> PaperClaim:
            measured, truth = measure(subject)
            instance = subject.instance if isinstance(subject, Study) else "planted"
            return PaperClaim(where, text, measured, ClaimVerdict.of(truth), instance)

        return test

    return decorated


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
    """Return the text of claims.md."""
    blocks = [f"# {name}: {title}"]
    if quick:
        blocks.append(
            "A quick run: generated stand-ins replace the paper's data, and budgets are often too "
            "short to show a rate. Run without `--quick` to test the paper."
        )
    blocks += [
        "## The paper's claims",
        markdown(
            ("instance", "claim", "in the paper", "measured here", "verdict"),
            [(c.instance, c.text, c.where, c.measured, f"**{c.verdict.value}**") for c in claims],
        ),
        "## Definitions",
        "The criteria are the same for every run:",
        "\n".join(f"* {line}" for line in criteria),
    ]
    if studies:
        blocks += [
            "## The instances",
            instances_table(studies),
            "## The methods, each with its best parameters",
            methods_table(studies),
            "Parameters refer to the normalised problem that `condal.solve` passes to a method. "
            "Each was varied by factors of 10 until a value beat both its neighbours. All trials "
            "are in `../trials/`.",
        ]
    blocks += list(remarks)
    blocks.append(f"condal {condal.__version__}")
    return "\n\n".join(blocks) + "\n"


def instances_table(studies: Iterable[Study]) -> str:
    """Return a row per instance: its optimum and the budget of a trial."""
    rows = [
        (
            s.instance,
            s.title,
            f"{s.optimum:.10g}",
            f"{s.reference.gap:.1e}",
            f"{s.budget.calls:,}"
            + ("" if s.budget.seconds is None else f", at most {s.budget.seconds:g} s"),
        )
        for s in studies
    ]
    return markdown(("instance", "", "f*", "proved within", "calls per trial"), rows)


def methods_table(studies: Iterable[Study]) -> str:
    """Return a row per instance and method: its best parameters, score and number of trials."""
    rows = [
        (
            study.instance,
            tuned.contender.label,
            tuned.contender.describe(tuned.setting),
            f"{tuned.score:.1e}",
            str(len(tuned.trials)),
            tuned.trial.ended,
            tuned.remark,
        )
        for study in studies
        for tuned in study.tuned.values()
    ]
    head = ("instance", "method", "best", "score", "trials", "ended by", "remark")
    return markdown(head, rows)


def label(name: str) -> str:
    """Return the name of a method in figures and tables."""
    return CONTENDERS[name].label
