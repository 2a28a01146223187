"""pay/by_hand.csv: whom a person has to find on a platform that we do not speak to, by the id that they have there."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.clean.tables import table_bytes
from beholder.recruit.deciding.rows import Row
from beholder.recruit.desk import Desk
from beholder.recruit.private import write_private

FILE = "pay/by_hand.csv"
COLUMNS = ("id", "submission", "pay", "words", "category", "message")
_BY_HAND = ("reject", "return", "look")


def write_by_hand(desk: Desk, rows: Sequence[Row]) -> list[str]:
    """Write who is to be rejected, asked back or looked at, and return it in words; nothing where there is nobody."""
    if desk.study.recruit.mode != "panel":
        return []
    path = desk.study.folder / FILE
    mine = [row for row in rows if row.platform_id and row.decided.pay in _BY_HAND]
    if not mine:
        path.unlink(missing_ok=True)
        return []
    write_private(path, table_bytes(COLUMNS, (_cells(row) for row in mine)))
    who = "1 person" if len(mine) == 1 else f"{len(mine)} people"
    return [f"{FILE} has the ids of {who} to reject, ask back or look at on the platform. Keep it to yourself."]


def _cells(row: Row) -> dict[str, object]:
    return {"id": row.platform_id, **{name: getattr(row.decided, name) for name in COLUMNS if name != "id"}}
