"""Facts: who arrived, what was shown, what was answered. SQLite or PostgreSQL behind one contract.

`beholder.store.open` opens a store, `beholder.store.contract` says what it promises, and
`beholder.testing.check_store` proves it.
"""
