"""Plant one problem, take it through a door and judge the answer."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from alarms import alarm
from condal.errors import CondalError
from planted.doors import DOORS, Findings
from planted.planting import plant
from planted.problem import Planted

PATIENCE = 60  # seconds, after which an attempt counts as hung


@dataclass(frozen=True)
class Outcome:
    """What became of one problem."""

    door: str
    seed: int
    status: str
    said: str
    wrong: tuple[str, ...]
    seconds: float
    story: str

    @property
    def right(self) -> bool:
        bound = self.said == "bound" and self.status == "optimal"
        return not self.wrong and (bound or self.said == self.status)

    @property
    def command(self) -> str:
        """The command that reproduces it."""
        return f"PYTHONPATH=tests .venv/bin/python -m planted {self.door!r} {self.seed}"


def planted_at(door: str, seed: int) -> Planted:
    return plant(seed, DOORS[door].profile)


def attempt(door: str, seed: int) -> Outcome:
    """Return the outcome of one problem; an exception that is not condal's own is wrong."""
    planted, began = planted_at(door, seed), time.perf_counter()
    try:
        with alarm(PATIENCE):
            found = DOORS[door].enter(planted, np.random.default_rng([18, seed]))
    except CondalError as error:  # refused, with a reason
        found = Findings(type(error).__name__)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "condal" in frame.filename] or frames
        where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
        found = Findings("raised", [f"{type(error).__name__}: {error} ({where})"])
    return Outcome(
        door,
        seed,
        planted.status,
        found.said,
        tuple(found.wrong),
        time.perf_counter() - began,
        "; ".join(planted.story),
    )
