"""`python -m audit`: the checks, one after the other; exit code 1 if something is wrong."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

from audit.checks import besides, offline
from audit.checks import found as installed
from audit.lock import LOCK, read

SECONDS = 300


def main() -> int:
    """The checks without a network, and then the known vulnerabilities, where they can be asked."""
    wrong = 0
    for said, found in offline():
        print(f"{'WRONG' if found else 'ok':>7}  {said}")
        for line in found:
            print(f"         {line}")
        wrong += bool(found)
    more = besides(read(LOCK.read_text()), installed())
    if more:
        print(f"   note  not in the lock, by somebody's own hand: {', '.join(more)}")
    return 1 if wrong + _vulnerable() else 0


def _vulnerable() -> int:
    """1 if pip-audit knows of a vulnerability; it is said where it could not be asked."""
    if find_spec("pip_audit") is None:
        print("SKIPPED  known vulnerabilities: pip install pip-audit, which asks a service")
        return 0
    asked = [sys.executable, "-m", "pip_audit", "--disable-pip", "--progress-spinner", "off"]
    try:
        ended = subprocess.run(
            [*asked, "--require-hashes", "--requirement", str(LOCK)],
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        print("SKIPPED  known vulnerabilities: the service gave no answer")
        return 0
    if ended.returncode == 0:
        print("     ok  no known vulnerabilities (pip-audit)")
        return 0
    if not ended.stdout.strip():  # it found nothing out: the last line says why
        print(f"SKIPPED  known vulnerabilities: {(ended.stderr.strip().splitlines() or ['?'])[-1]}")
        return 0
    print("  WRONG  known vulnerabilities (pip-audit)")
    print(ended.stdout.rstrip())
    return 1


if __name__ == "__main__":
    sys.exit(main())
