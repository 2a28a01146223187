"""The grown store: PostgreSQL through asyncpg, shared by any number of server processes."""
