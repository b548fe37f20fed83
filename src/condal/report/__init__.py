"""Pages to look at: results as one HTML file that needs nothing else."""

from condal.report.pages import page, write

__all__ = ["page", "write"]
