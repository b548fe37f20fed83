"""The process: arguments, the meter of work and time, signals, optional imports, text, versions."""
