"""The entry point of the command line: `condal`, or `python -m condal`."""

from __future__ import annotations

import atexit
import gc
import sys
from importlib.util import find_spec

from condal.runtime.lazy import uncollected


def main() -> None:
    """Run the command line if the libraries it needs are installed."""
    missing = [name for name in ("click", "rich") if find_spec(name) is None]
    if missing:
        from condal.runtime.extras import install

        needs = " and ".join(missing)
        print(
            f"condal: error: the command line needs {needs}; install with: {install('cli')}",
            file=sys.stderr,
        )
        sys.exit(2)
    atexit.register(gc.freeze)  # the process ends: no search for garbage
    try:
        with uncollected():
            from condal.cli import main as command_line

        command_line()
    except KeyboardInterrupt:  # during the imports; the command line handles later ones
        print("condal: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
