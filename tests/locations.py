"""The paths of the project, its tests and the shared data."""

from pathlib import Path

import condal

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
DATA = ROOT.parent / "shared" / "data"
SOURCE = Path(condal.__file__).resolve().parent
