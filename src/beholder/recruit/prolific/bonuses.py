"""Bonuses: the one place where money is written with a decimal point, because Prolific reads it so."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.recruit.contract import MOST_ROWS, Batch, Bonus, PlatformRefused
from beholder.recruit.prolific.client import Client
from beholder.study.money import Sum


async def set_up(posting: str, rows: Sequence[Bonus], currency: str, client: Client) -> Batch:
    """Return a bonus payment as Prolific understood it; where that is not what the rows say, raise PlatformRefused."""
    _fits(rows, currency)
    body = {"study_id": posting, "csv_bonuses": bonus_csv(rows)}
    made = await client.repeat("POST", "/api/v1/submissions/bonus-payments/", body)
    planned = sum(row.amount.minor for row in rows)
    fees = round(made.get("fees") or 0) + round(made.get("vat") or 0)
    understood = round(made["amount"]) if made.get("amount") is not None else round(made["total_amount"]) - fees
    if understood != planned:
        raise PlatformRefused(
            f"it understood bonuses of {Sum(understood, currency)} where {Sum(planned, currency)} were meant, so that "
            "they are not paid"
        )
    return Batch(str(made["id"]), Sum(planned, currency), Sum(round(made["total_amount"]), currency))


def bonus_csv(rows: Sequence[Bonus]) -> str:
    """Return rows as Prolific reads them: a submission, and an amount in whole pounds or dollars, `1.50`."""
    return "\n".join(f"{row.submission},{row.amount.minor // 100:d}.{row.amount.minor % 100:02d}" for row in rows)


def _fits(rows: Sequence[Bonus], currency: str) -> None:
    wrong = []
    if not 1 <= len(rows) <= MOST_ROWS:
        wrong.append(f"{len(rows)} rows, where 1 to {MOST_ROWS} are taken at once")
    if len({row.submission for row in rows}) < len(rows):
        wrong.append("a submission twice, and nobody could tell its two amounts apart afterwards")
    if any(row.amount.minor < 1 for row in rows):
        wrong.append("an amount of nothing or less")
    if other := {row.amount.currency for row in rows} - {currency}:
        wrong.append(f"amounts in {', '.join(sorted(other))}, where the workspace pays in {currency}")
    if wrong:
        raise PlatformRefused(f"these bonuses have {'; '.join(wrong)}")
