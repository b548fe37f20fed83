"""Graphs as folders of shards: ranges of rows of W = W', which any number of ranks read in parts.

* `manifest`: what a folder holds: the rows, entries, bytes and digest of each shard
* `shard`: the file of one shard, a container of one file in pieces with their own digests
* `folder`: read some rows, or the whole matrix
* `writing`: write a matrix that is in memory
* `convert`: convert a file of any format in bounded memory
"""
