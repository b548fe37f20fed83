"""Certificates: proved bounds, the ledger of proofs, and the verification of saved claims."""
