"""A solve as it runs, in a browser on the same machine: see it, and stop it."""

from condal.watch.watch import Watch

__all__ = ["Watch"]
