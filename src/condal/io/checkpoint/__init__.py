"""Checkpoints: all that a solve needs to go on, in a file that is whole or not there."""
