"""Run the checker as a user does, on proof files of small problems with known optima."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from locations import ROOT

CHECKER = ROOT / "checker" / "check.py"
WITHOUT_CONDAL = "import sys; sys.modules['condal'] = None; sys.argv = sys.argv[1:]; "
WITHOUT_CONDAL += "import runpy; runpy.run_path(sys.argv[0], run_name='__main__')"


def checked(problem: object, proof: object, checker: Path = CHECKER) -> tuple[int, str]:
    """Return the exit status and the output of a checker that cannot import condal."""
    command = [sys.executable, "-I", "-c", WITHOUT_CONDAL, str(checker), str(problem), str(proof)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.stderr == ""
    return run.returncode, run.stdout


def proved_bound(output: str) -> float:
    """Return the bound that the checker printed."""
    line = next(line for line in output.splitlines() if line.startswith("proved"))
    return float(line.split()[-1])
