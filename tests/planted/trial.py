"""Plant one problem, take it through a door and judge the answer."""

import numpy as np

from attempts import Findings, Outcome, attempted
from condal.errors import CondalError
from planted.doors import DOORS, chosen, there
from planted.planting import plant
from planted.problem import Planted

__all__ = ["SHARES", "attempt", "chosen"]
SHARES = {name: door.share for name, door in DOORS.items() if there(name)}


def planted_at(door: str, seed: int) -> Planted:
    return plant(seed, DOORS[door].profile)


def attempt(door: str, seed: int) -> Outcome:
    """Return the outcome of one problem; an exception that is not condal's own is wrong."""

    def run() -> Findings:
        planted = planted_at(door, seed)
        try:
            found = DOORS[door].enter(planted, np.random.default_rng([18, seed]))
        except CondalError as error:  # refused, with a reason
            found = Findings(type(error).__name__)
        bounded = found.said == "bound" and planted.status == "optimal"
        found.solved = not found.wrong and (bounded or found.said == planted.status)
        found.judged = found.solved or bool(found.wrong)
        if not found.judged:
            found.short.append(f"{found.said}, but it is {planted.status}")
        found.story = "; ".join(planted.story)
        return found

    return attempted("planted", door, seed, run)
