"""Children that are killed before any line that they run of some files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection

import pytest

KILLED, DONE = 9, 0
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def killed_at(line: int, work: Callable[[], object], code: Collection[str]) -> int:
    """How a child ends that does the work, and that is ended without notice, by os._exit, before
    the given line that it runs of these files."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = line

    def tracer(frame, event, arg):
        nonlocal left
        if frame.f_code.co_filename not in code:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                os._exit(KILLED)
        return tracer

    try:
        sys.settrace(tracer)
        work()
    except BaseException:
        os._exit(1)
    os._exit(DONE)
