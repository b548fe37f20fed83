"""Readers under Atheris, for long runs out of CI: `make fuzz SECONDS=300`."""
