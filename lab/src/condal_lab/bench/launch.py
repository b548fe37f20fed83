"""Run and measure a command from a small process.

The peak memory of a process includes what it inherits, so a large process cannot measure it. This
is a script without condal: launch.py SECONDS WALL BYTES REPORT COMMAND...
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time


def main(seconds: float, limit: float, memory: int, report: str, command: list[str]) -> None:
    """Run the command with limits on CPU time, wall time and memory; its output goes to `log`."""
    began = time.perf_counter()
    child = os.fork()
    if child == 0:
        try:
            whole = int(seconds) + 1  # RLIMIT_CPU counts whole seconds
            resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 5))
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
            log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.execvp(command[0], command)
        finally:
            os._exit(127)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, limit)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - began
    unit = 1 if sys.platform == "darwin" else 1024
    record = {
        "code": os.waitstatus_to_exitcode(status),
        "cpu": usage.ru_utime + usage.ru_stime,
        "wall": wall,
        "memory": usage.ru_maxrss * unit,
    }
    with open(report, "w", encoding="ascii") as file:  # noqa: PTH123 - pathlib would be imported
        json.dump(record, file)


if __name__ == "__main__":
    main(float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5:])
