"""The entry of the command line: `condal`, or `python -m condal`."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from condal.runtime.extras import install


def main() -> None:
    """Run the command line, if what it needs is installed."""
    missing = [name for name in ("click", "rich") if find_spec(name) is None]
    if missing:
        needs = " and ".join(missing)
        print(
            f"condal: error: the command line needs {needs}; install with: {install('cli')}",
            file=sys.stderr,
        )
        sys.exit(2)
    try:
        from condal.cli import main as command_line

        command_line()
    except KeyboardInterrupt:  # while the imports run; later ones are the command line's
        sys.exit(130)


if __name__ == "__main__":
    main()
