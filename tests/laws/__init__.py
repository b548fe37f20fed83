"""The instances that the laws are tried on: a new class is tested by being listed."""
