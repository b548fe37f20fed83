"""User-supplied pieces of a problem: guarded while a solve runs, and checked on request."""
