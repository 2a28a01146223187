"""Money on Prolific: bonuses, completion codes that pay, quotes, and the account that pays.

Amounts are in hundredths everywhere except in `bonus_csv`, where Prolific expects a decimal point.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from beholder.errors import RecruitError
from beholder.recruiting.contract import MOST_ROWS, Batch, BonusRow, Job, PlatformRefused, Quote
from beholder.recruiting.manual import highest_bonuses
from beholder.recruiting.prolific.client import ProlificClient
from beholder.study.model import Study
from beholder.study.recruitment import Sum, hourly, money
from beholder.types import Outcome


async def set_up_bonuses(posting: str, rows: Sequence[BonusRow], currency: str, client: ProlificClient) -> Batch:
    """Return a bonus payment as Prolific understood it; raise PlatformRefused if that differs from the rows."""
    _check_rows(rows, currency)
    body = {"study_id": posting, "csv_bonuses": bonus_csv(rows)}
    created = await client.send_idempotent("POST", "/api/v1/submissions/bonus-payments/", body)
    planned = sum(row.amount.minor for row in rows)
    fees = round(created.get("fees") or 0) + round(created.get("vat") or 0)
    understood = (
        round(created["amount"]) if created.get("amount") is not None else round(created["total_amount"]) - fees
    )
    if understood != planned:
        raise PlatformRefused(
            f"it understood bonuses of {Sum(understood, currency)} where {Sum(planned, currency)} were meant, so that "
            "they are not paid"
        )
    return Batch(str(created["id"]), Sum(planned, currency), Sum(round(created["total_amount"]), currency))


def bonus_csv(rows: Sequence[BonusRow]) -> str:
    """Return rows as Prolific expects them: a submission and an amount in pounds or dollars, `1.50`."""
    return "\n".join(f"{row.submission},{row.amount.minor // 100:d}.{row.amount.minor % 100:02d}" for row in rows)


def _check_rows(rows: Sequence[BonusRow], currency: str) -> None:
    problems = []
    if not 1 <= len(rows) <= MOST_ROWS:
        problems.append(f"{len(rows)} rows, where 1 to {MOST_ROWS} are taken at once")
    if len({row.submission for row in rows}) < len(rows):
        problems.append("a submission twice, and nobody could tell its two amounts apart afterwards")
    if any(row.amount.minor < 1 for row in rows):
        problems.append("an amount of nothing or less")
    if other := {row.amount.currency for row in rows} - {currency}:
        problems.append(f"amounts in {', '.join(sorted(other))}, where the workspace pays in {currency}")
    if problems:
        raise PlatformRefused(f"these bonuses have {'; '.join(problems)}")


# Completion codes: one for each outcome of a session, with the actions of Prolific


SCREEN_OUT = "FIXED_SCREEN_OUT_PAYMENT"
_SCREEN_OUT_TYPE = "SCREENED_OUT"  # the document also lists FIXED_SCREENOUT; what is published uses this one
_REVIEW = {"action": "MANUALLY_REVIEW"}
_KINDS: Mapping[Outcome, tuple[str, str | None]] = {
    "completed": ("COMPLETED", None),
    "screened_out": (_SCREEN_OUT_TYPE, "Did not fit what this study needs"),
    "wrong_device": ("INCOMPATIBLE_DEVICE", "The device does not fit this study"),
    "no_consent": ("NO_CONSENT", "Withdrew consent"),
    "failed_checks": ("FAILED_ATTENTION_CHECK", None),
    "technical": ("OTHER", None),
}
"""The code's type, and the reason for requesting a return; None means a manual review."""


def slots_for(places: int) -> int:
    """Return how many paid screen-outs are possible until the study pauses: half of its places."""
    return math.ceil(places / 2)


def completion_codes(
    codes: Mapping[Outcome, str], *, places: int, screen_out: Sum | None, group: str | None
) -> list[dict[str, Any]]:
    """Return the completion codes with their actions. No code approves or rejects by itself.

    `screen_out` is paid by the code of participants who do not fit; without it they are asked to return, and paid by
    a bonus. Everybody joins `group`, which other studies of the family exclude.
    """
    joins = [] if group is None else [{"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": group}]
    entries = []
    for outcome, (kind, reason) in _KINDS.items():
        if outcome not in codes:
            continue
        action: dict[str, Any] = _REVIEW if reason is None else {"action": "REQUEST_RETURN", "return_reason": reason}
        if outcome == "screened_out" and screen_out is not None:
            action = _screen_out_action(screen_out.minor, slots_for(places))
        entries.append({"code": codes[outcome], "code_type": kind, "actions": [action, *joins]})
    return entries


def _screen_out_action(reward: int, slots: int) -> dict[str, Any]:
    """Return the action that pays a screen-out to at most `slots` participants."""
    return {"action": SCREEN_OUT, "fixed_screen_out_reward": reward, "slots": slots}


def screen_out_of(study: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the completion code that pays a screen-out, of a study as Prolific shows it; None if it has none."""
    for entry in study.get("completion_codes") or ():
        if any(action.get("action") == SCREEN_OUT for action in entry.get("actions") or ()):
            return dict(entry)
    return None


def with_slots(entry: Mapping[str, Any], slots: int) -> dict[str, Any]:
    """Return a completion code with another number of slots; it is complete, as Prolific's schema demands."""
    actions = [
        _screen_out_action(action["fixed_screen_out_reward"], slots) if action["action"] == SCREEN_OUT else dict(action)
        for action in entry["actions"]
    ]
    return {"code": entry["code"], "code_type": entry["code_type"], "actions": actions}


def slots_of(entry: Mapping[str, Any]) -> int:
    """Return the number of slots of a code that pays a screen-out."""
    return next(int(action["slots"]) for action in entry["actions"] if action["action"] == SCREEN_OUT)


def reward_of(entry: Mapping[str, Any]) -> int:
    """Return what a code pays for a screen-out, in hundredths."""
    return next(int(action["fixed_screen_out_reward"]) for action in entry["actions"] if action["action"] == SCREEN_OUT)


# Quotes: the highest possible cost, from Prolific's own calculator


_FALLBACK: Mapping[str, tuple[int, int]] = {"GBP": (600, 900), "USD": (800, 1200)}
"""The least and the recommended hourly pay if the API has none: Prolific's help pages of 2026."""


class HourlyRates(NamedTuple):
    """The least and the recommended hourly pay; None in a currency without rates."""

    floor: Sum | None
    advice: Sum | None


async def quote_of(
    study: Study, job: Job, lists: int, account: ProlificAccount, client: ProlificClient, *, slots: int = 0
) -> Quote:
    """Return the cost of a job's places with fees, tax, and the highest possible screen-outs and bonuses.

    `lists` is the number of sessions in the plan, `slots` the number of paid screen-outs that are published already.
    """
    if job.reward.minor < 1:
        raise RecruitError(
            study.problem("recruit.reward", "is left out, and on Prolific everybody is paid", "such as 2.00 GBP")
        )
    body = {"reward": job.reward.minor, "total_available_places": job.places}
    calculated = await client.send_idempotent("POST", "/api/v1/study-cost-calculator/", body)
    cost, rewards = math.ceil(round(calculated["total_cost"], 4)), job.reward.minor * job.places
    factor = Fraction(cost, rewards)
    screen_outs = job.screen_out.minor * max(slots, slots_for(job.places)) if job.screen_out else 0
    # Further sessions that are submissions of their own take places and are part of the rewards.
    bonuses = highest_bonuses(study, job, lists if study.recruit.further == "bonus" else job.places)
    with_fees = [math.ceil(amount * factor) for amount in (screen_outs, bonuses.minor)]
    rates = await rates_of(account, client)

    def amount(minor: int) -> Sum:
        return Sum(minor, account.currency)

    return Quote(
        places=job.places,
        minutes=job.minutes,
        reward=job.reward,
        rewards=amount(rewards),
        fees=amount(cost - rewards),
        screen_outs=amount(with_fees[0]),
        bonuses=amount(with_fees[1]),
        total=amount(cost + sum(with_fees)),
        balance=await _balance_of(account, client),
        hourly=hourly(job.reward, job.minutes),
        floor=rates.floor,
        advice=rates.advice,
    )


async def rates_of(account: ProlificAccount, client: ProlificClient) -> HourlyRates:
    """Return the hourly rates that Prolific recommends now, or those of its help pages."""
    floor, advice = _FALLBACK.get(account.currency, (0, 0))
    if floor:
        try:
            query = {"workspace_id": account.workspace, "currency": account.currency}
            rates = await client.get("/api/v1/reward-recommendations/", **query)
        except PlatformRefused:
            rates = []
        if rates:
            floor = int(rates[0].get("min_reward_per_hour") or floor)
            advice = int(rates[0].get("recommended_reward_per_hour") or advice)
    return HourlyRates(*(Sum(rate, account.currency) if rate else None for rate in (floor, advice)))


# Account


class ProlificAccount(NamedTuple):
    """The workspace that pays, its currency, and the project of the study."""

    workspace: str
    project: str
    currency: str


class _Project(NamedTuple):
    workspace: str
    id: str
    title: str


async def account_of(study: Study, client: ProlificClient) -> ProlificAccount:
    """Return the account of `recruit.project`, or of the only project; raise RecruitError if that is not clear."""
    projects = [
        _Project(str(workspace["id"]), str(project["id"]), str(project["title"]))
        for workspace in (await client.get("/api/v1/workspaces/"))["results"]
        for project in (await client.get(f"/api/v1/workspaces/{workspace['id']}/projects/"))["results"]
    ]
    chosen = _choose_project(study, projects)
    balance = await client.get(f"/api/v1/workspaces/{chosen.workspace}/balance/")
    account = ProlificAccount(chosen.workspace, chosen.id, str(balance["currency_code"]))
    _check_currency(study, account)
    return account


async def _balance_of(account: ProlificAccount, client: ProlificClient) -> Sum:
    """Return the available balance, without what open studies reserve."""
    balance = await client.get(f"/api/v1/workspaces/{account.workspace}/balance/")
    return Sum(int(balance["available_balance"]), account.currency)


def _choose_project(study: Study, projects: list[_Project]) -> _Project:
    project_id = study.recruit.project
    fitting = [project for project in projects if project_id in (None, project.id)]
    if len(fitting) == 1:
        return fitting[0]
    listed = "; ".join(f"{project.id} ({project.title})" for project in projects)
    if not projects:
        what, fix = "finds no project on Prolific", "Make one in the workspace that pays, then launch again."
    elif project_id is None:
        what, fix = f"is left out, and there are {len(projects)} projects on Prolific", "Write the id of one of them."
    else:
        what, fix = f"is {project_id}, which this token does not reach", "Write the id of one of them."
    raise RecruitError(study.problem("recruit.project", what, listed, fix))


def _check_currency(study: Study, account: ProlificAccount) -> None:
    """Raise RecruitError if the study pays in another currency than its workspace."""
    written = {
        "recruit.reward": study.recruit.reward,
        "recruit.screen_out": study.recruit.screen_out,
        "budget": study.budget,
    }
    problems = [
        study.problem(key, f"is {amount}, and the workspace on Prolific pays in {account.currency}", account.currency)
        for key, amount in written.items()
        if amount is not None and money(amount).currency != account.currency
    ]
    if problems:
        raise RecruitError(problems)
