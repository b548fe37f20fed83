"""The checkpoint of many ranks: a folder with one manifest and one file of rows per rank."""
