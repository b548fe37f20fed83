"""Where a result may be saved: a new folder, or that of an earlier result."""

from __future__ import annotations

from condal.io.container.target import FolderKind
from condal.io.results.record import NAMES, OWNER, RECORD, RESULT

RESULT_FOLDER = FolderKind(RESULT, RECORD, "result", OWNER, NAMES.__contains__)
check_target = RESULT_FOLDER.check_target
check_earlier = RESULT_FOLDER.check_earlier
