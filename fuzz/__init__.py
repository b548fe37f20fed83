"""Fuzz the readers under Atheris, for long runs outside CI: `make fuzz SECONDS=300`."""
