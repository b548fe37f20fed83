"""The commands that the laboratory adds: bench, experiment and sweep."""
