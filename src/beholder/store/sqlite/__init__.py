"""The SQLite store: `store` (the class), `files` (opening and locks), `sessions`, `study`, and `writer` (commits)."""
