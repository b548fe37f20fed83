"""`python -m truth FAMILY SEED [COUNT]`: report on one problem, or one line per problem."""

from __future__ import annotations

import sys
from collections import Counter

from truth.trial import ATTEMPTS, attempt


def main(family: str, first: int, count: int) -> None:
    statuses: Counter[str] = Counter()
    for seed in range(first, first + count):
        for name in ATTEMPTS if family == "all" else [family]:
            found = attempt(name, seed)
            statuses[found.status] += 1
            statuses["judged"] += found.judged
            statuses["short"] += bool(found.short)
            statuses["slow"] += found.seconds > 5
            if count == 1 or found.wrong or found.short:
                print(f"{name} {seed} [{found.method or 'default'}] {found.status} ", end="")
                print(f"{found.seconds:.2f} s, judged {found.judged}: {found.story}")
                for line in (*found.wrong, *found.short):
                    print(f"    {line}")
    print(dict(statuses))


if __name__ == "__main__":
    given = sys.argv[1:]
    if not 1 <= len(given) <= 3 or given[0] not in (*ATTEMPTS, "all"):
        sys.exit(f"python -m truth FAMILY SEED [COUNT], of the families {', '.join(ATTEMPTS)}")
    main(given[0], int(given[1]) if len(given) > 1 else 0, int(given[2]) if len(given) > 2 else 1)
