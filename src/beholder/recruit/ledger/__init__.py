"""The ledger read: what is owed, what was sent, what is settled, and what nobody knows."""
