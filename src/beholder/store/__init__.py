"""The store of a study: sessions, answers, verdicts and the ledger, in SQLite or PostgreSQL behind one contract.

`contract` says what a store promises, and `beholder.testing.check_store` proves it. `open` opens one, `tables` converts
between facts and rows, `rules` holds what both databases refuse and their migrations. `sqlite` and `postgresql` are
the two databases, each with `store` (the class), `sessions`, `study` and `writer`; `schema` holds their SQL.
"""
