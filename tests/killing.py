"""Child processes that are killed before a given line of some files."""

import os
import sys
from collections.abc import Callable, Collection

import pytest

KILLED, DONE = 9, 0
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def killed_at(line: int, work: Callable[[], object], code: Collection[str]) -> int:
    """Run the work in a child that ends by os._exit before the given executed line of these files;
    return its exit code."""
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
