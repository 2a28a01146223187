"""The operations of API v1 that the fake knows, by the paths of the published document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from beholder.recruit.fake.answers import Refusal, Route
from beholder.recruit.fake.rules import STUDY_NEEDS

if TYPE_CHECKING:
    from beholder.recruit.fake.platform import FakeProlific


def routes(fake: FakeProlific) -> list[Route]:
    """Return every operation and who handles it."""
    account, studies, reviews = fake.account, fake.studies, fake.reviews
    bonuses, groups = fake.bonuses, fake.groups
    v1 = "/api/v1"
    return [
        Route("GET", f"{v1}/users/me/", account.me),
        Route("GET", f"{v1}/workspaces/", account.workspaces),
        Route("GET", f"{v1}/workspaces/{{workspace_id}}/balance/", account.balance),
        Route("GET", f"{v1}/workspaces/{{workspace_id}}/projects/", account.projects),
        Route(
            "POST",
            f"{v1}/study-cost-calculator/",
            account.calculate,
            ("reward", "total_available_places"),
            is_bare=True,
        ),
        Route("GET", f"{v1}/reward-recommendations/", account.recommend, ("workspace_id", "currency"), is_bare=True),
        Route("GET", f"{v1}/filters/", account.filters),
        Route("POST", f"{v1}/eligibility-count/", account.eligible, ("filters",)),
        Route("POST", f"{v1}/messages/", account.message, ("recipient_id", "body", "study_id"), is_bare=True),
        Route("POST", f"{v1}/messages/bulk/", account.messages, ("ids", "body", "study_id"), is_bare=True),
        Route("GET", f"{v1}/studies/", studies.index, is_bare=True),
        Route("POST", f"{v1}/studies/", studies.create, STUDY_NEEDS, is_bare=True),
        Route("GET", f"{v1}/projects/{{project_id}}/studies/", studies.of_project, is_bare=True),
        Route("GET", f"{v1}/studies/{{id}}/", studies.show),
        Route("PATCH", f"{v1}/studies/{{id}}/", studies.change),
        Route("DELETE", f"{v1}/studies/{{id}}/", studies.delete),
        Route("POST", f"{v1}/studies/{{id}}/transition/", studies.move, ("action",)),
        Route("POST", f"{v1}/studies/{{id}}/clone/", studies.clone),
        Route("GET", f"{v1}/studies/{{id}}/cost/", account.cost, is_bare=True),
        Route("GET", f"{v1}/studies/{{id}}/submissions/", reviews.of_study, is_bare=True),
        Route("GET", f"{v1}/studies/{{id}}/submissions/counts/", reviews.counts, is_bare=True),
        Route("GET", f"{v1}/submissions/", reviews.index, ("study",), is_bare=True),
        Route("POST", f"{v1}/submissions/bulk-approve/", reviews.bulk_approve, is_bare=True),
        Route("POST", f"{v1}/submissions/bonus-payments/", bonuses.set_up),
        Route("GET", f"{v1}/submissions/{{id}}/", reviews.show),
        Route("POST", f"{v1}/submissions/{{id}}/transition/", reviews.move, ("action",)),
        Route("POST", f"{v1}/submissions/{{id}}/request-return/", reviews.request_return, ("request_return_reasons",)),
        Route("POST", f"{v1}/bulk-bonus-payments/{{id}}/pay/", bonuses.pay),
        Route("GET", f"{v1}/participant-groups/", groups.index),
        Route("POST", f"{v1}/participant-groups/", groups.create, ("name",)),
        Route("GET", f"{v1}/participant-groups/{{id}}/", groups.show),
        Route("DELETE", f"{v1}/participant-groups/{{id}}/", groups.delete),
        Route("GET", f"{v1}/participant-groups/{{id}}/participants/", groups.members),
        Route("POST", f"{v1}/participant-groups/{{id}}/participants/", groups.put_in),
        Route("DELETE", f"{v1}/participant-groups/{{id}}/participants/", groups.take_out),
    ]


class Router:
    """Finds the operation that a request means, by its exact path."""

    def __init__(self, known: Sequence[Route]) -> None:
        self._known = [(re.compile(re.sub(r"\{[a-z_]+\}", "([^/]+)", one.template)), one) for one in known]

    def find(self, method: str, path: str) -> tuple[Route, tuple[str, ...]]:
        """Return the operation and the ids of its path, or raise Refusal."""
        found = [(route, match.groups()) for pattern, route in self._known if (match := pattern.fullmatch(path))]
        if not found:
            raise Refusal("There is no such page.", 404)
        fitting = [(route, ids) for route, ids in found if route.method == method]
        if not fitting:
            raise Refusal(f"Method {method} not allowed.", 405)
        return fitting[0]
