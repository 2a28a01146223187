"""The embedded store: SQLite of the standard library, one writer thread that groups commits."""
