"""Queries to a PostgreSQL store."""

from __future__ import annotations

from typing import Any

import asyncpg


async def sql(url: str, statement: str) -> list[Any]:
    connection = await asyncpg.connect(url)
    try:
        return [tuple(row) for row in await connection.fetch(statement)]
    finally:
        await connection.close()
