"""The PostgreSQL store, shared by any number of servers: `store` (the class), `connection`, `sessions`, `study`,
`writer` (batches).
"""
