"""The commands on ranks: convert, and --distributed of solve and resume."""
