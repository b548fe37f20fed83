"""The command line: parse, call, print. It needs the extra `cli`."""

from condal.cli.app import main

__all__ = ["main"]
