"""`python -m truth NAME SEED [COUNT]`: report on one problem, or on the wrong ones of COUNT."""

from attempts import main

if __name__ == "__main__":
    main("truth")
