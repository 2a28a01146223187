"""Where a study belongs on Prolific: its workspace, its project, and the currency of both."""

from __future__ import annotations

from typing import NamedTuple

from beholder.errors import RecruitError
from beholder.recruit.prolific.client import Client
from beholder.study.model import Study
from beholder.study.money import Sum, money


class Account(NamedTuple):
    """Whose money pays, and in which project the study is kept."""

    workspace: str
    project: str
    currency: str


class _Project(NamedTuple):
    workspace: str
    id: str
    title: str


async def account_of(study: Study, client: Client) -> Account:
    """Return where the study belongs: its `recruit.project`, or the only project there is; all else is told."""
    projects = [
        _Project(str(workspace["id"]), str(project["id"]), str(project["title"]))
        for workspace in (await client.get("/api/v1/workspaces/"))["results"]
        for project in (await client.get(f"/api/v1/workspaces/{workspace['id']}/projects/"))["results"]
    ]
    found = _chosen(study, projects)
    balance = await client.get(f"/api/v1/workspaces/{found.workspace}/balance/")
    account = Account(found.workspace, found.id, str(balance["currency_code"]))
    _same_currency(study, account)
    return account


async def balance_of(account: Account, client: Client) -> Sum:
    """Return what there is to spend, without what open studies hold."""
    balance = await client.get(f"/api/v1/workspaces/{account.workspace}/balance/")
    return Sum(int(balance["available_balance"]), account.currency)


def _chosen(study: Study, projects: list[_Project]) -> _Project:
    wanted = study.recruit.project
    fitting = [project for project in projects if wanted in (None, project.id)]
    if len(fitting) == 1:
        return fitting[0]
    there = "; ".join(f"{project.id} ({project.title})" for project in projects)
    if not projects:
        what, fix = "finds no project on Prolific", "Make one in the workspace that pays, then launch again."
    elif wanted is None:
        what, fix = f"is left out, and there are {len(projects)} projects on Prolific", "Write the id of one of them."
    else:
        what, fix = f"is {wanted}, which this token does not reach", "Write the id of one of them."
    raise RecruitError(study.problem("recruit.project", what, there, fix))


def _same_currency(study: Study, account: Account) -> None:
    """Raise RecruitError where the study pays in another currency than its workspace."""
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
