"""Run the checks in order: `python -m audit`. The exit code is 1 if a check fails."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

from audit.checks import installed_packages, not_locked, offline
from audit.lock import LOCK, read

PIP_AUDIT_SECONDS = 300


def main() -> int:
    """Run the offline checks, then look up known vulnerabilities if possible."""
    wrong = 0
    for title, errors in offline():
        print(f"{'WRONG' if errors else 'ok':>7}  {title}")
        for line in errors:
            print(f"         {line}")
        wrong += bool(errors)
    extra = not_locked(read(LOCK.read_text()), installed_packages())
    if extra:
        print(f"   note  installed by hand, not in the lock: {', '.join(extra)}")
    return 1 if wrong + _vulnerable() else 0


def _vulnerable() -> int:
    """Return 1 if pip-audit reports a vulnerability; print a note if it could not run."""
    if find_spec("pip_audit") is None:
        print(
            "SKIPPED  known vulnerabilities: needs pip install pip-audit, which queries a service"
        )
        return 0
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--progress-spinner", "off"]
    try:
        ended = subprocess.run(
            [*command, "--require-hashes", "--requirement", str(LOCK)],
            capture_output=True,
            text=True,
            check=False,
            timeout=PIP_AUDIT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        print("SKIPPED  known vulnerabilities: the service did not answer")
        return 0
    if ended.returncode == 0:
        print("     ok  no known vulnerabilities (pip-audit)")
        return 0
    if not ended.stdout.strip():  # pip-audit did not run: its last line says why
        print(f"SKIPPED  known vulnerabilities: {(ended.stderr.strip().splitlines() or ['?'])[-1]}")
        return 0
    print("  WRONG  known vulnerabilities (pip-audit)")
    print(ended.stdout.rstrip())
    return 1


if __name__ == "__main__":
    sys.exit(main())
