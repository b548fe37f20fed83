"""`python -m truth FAMILY SEED [COUNT]`: report on one problem, or one line per problem."""

from __future__ import annotations

import sys
from collections import Counter

from truth.trial import ATTEMPTS, attempt


def main(family: str, first: int, count: int) -> None:
    statuses: Counter[str] = Counter()
    for seed in range(first, first + count):
        for name in ATTEMPTS if family == "all" else [family]:
            outcome = attempt(name, seed)
            statuses[outcome.status] += 1
            statuses["judged"] += outcome.judged
            statuses["short"] += bool(outcome.short)
            statuses["slow"] += outcome.seconds > 5
            if count == 1 or outcome.wrong or outcome.short:
                print(f"{name} {seed} [{outcome.method or 'default'}] {outcome.status} ", end="")
                print(f"{outcome.seconds:.2f} s, judged {outcome.judged}: {outcome.story}")
                for line in (*outcome.wrong, *outcome.short):
                    print(f"    {line}")
    print(dict(statuses))


if __name__ == "__main__":
    given = sys.argv[1:]
    if not 1 <= len(given) <= 3 or given[0] not in (*ATTEMPTS, "all"):
        sys.exit(f"python -m truth FAMILY SEED [COUNT], of the families {', '.join(ATTEMPTS)}")
    main(given[0], int(given[1]) if len(given) > 1 else 0, int(given[2]) if len(given) > 2 else 1)
