"""Check the packages installed for development against the lock: `make audit`.

All checks except the last work offline; `make test` runs those too.
"""
