"""The process: arguments, cancellation, signals, ranks, optional imports, text and versions."""
