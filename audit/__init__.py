"""What is installed for development, held against the lock: `make audit`.

All but the last of its checks need no network. `make test` runs these too.
"""
