"""The entries of graph files in chunks, for files that are larger than the memory.

Each module has the stream of some formats, built on the parsers of their readers, so a file is
accepted or refused, with the same message, as `condal.formats.read_graph` does.
"""
