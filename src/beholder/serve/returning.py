"""What people take back to where they came from: a code for each way in which a session ends, and an address."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import quote, urlencode

from beholder.serve import tokens
from beholder.study.model import Study
from beholder.types import Outcome

CODED: tuple[Outcome, ...] = (
    "completed", "screened_out", "wrong_device", "no_consent", "failed_checks", "technical",
)  # fmt: skip
"""Outcomes with a code of their own; whoever withdraws takes back that of those who did not agree."""
PROLIFIC_APP = "https://app.prolific.com"
"""Where people return to on Prolific; the environment variable BEHOLDER_PROLIFIC_APP puts a rehearsal in its place."""
LEFT = ("no_consent", "withdrawn")
"""Outcomes of those who did not want to take part: they get no code of their own, only what the study gives all."""


def codes_of(study: Study, secret: bytes) -> Mapping[Outcome, str]:
    """Return the codes that are the same for everybody; empty where each session has its own, or there are none."""
    if study.recruit.mode == "prolific":
        of = f"{study.name}/{study.run}"
        return {outcome: tokens.completion_code(secret, of, outcome).replace("-", "") for outcome in CODED}
    if study.recruit.mode == "panel":
        written = study.recruit.codes.model_dump(exclude_none=True)
        return {outcome: str(written[outcome]) for outcome in CODED if outcome in written}
    return {}


def code_for(study: Study, secret: bytes, session: str, outcome: Outcome) -> str | None:
    """Return the code that a session with this outcome ends with; None where there is none to take back."""
    if study.recruit.mode == "lab" or (study.recruit.mode == "link" and outcome == "technical"):
        return None
    kind = _kind(outcome)
    shared = codes_of(study, secret).get(kind)
    if shared is not None or outcome in LEFT:
        return shared
    return tokens.completion_code(secret, session, kind)


def return_url(study: Study, code: str | None, outcome: Outcome, platform_id: str | None) -> str | None:
    """Return where somebody goes back to; None where nothing is written, or the address needs what nobody knows."""
    if study.recruit.mode == "prolific":
        return f"{_app()}/submissions/complete?{urlencode({'cc': code})}" if code else None
    if study.recruit.mode != "panel":
        return None
    address: str | None = getattr(study.recruit.return_to, _kind(outcome))
    if address is None:
        return None
    for name, value in (("{code}", code), ("{id}", platform_id)):
        if name in address:
            if not value:
                return None
            address = address.replace(name, quote(value, safe=""))
    return address


def needs_id(study: Study) -> bool:
    """Return whether an address to go back to holds somebody's id."""
    addresses = study.recruit.return_to.model_dump(exclude_none=True).values()
    return any("{id}" in address for address in addresses)


def home(study: Study) -> str | None:
    """Return the platform's own page, for whoever came in vain; None where it has none that we know."""
    return f"{_app()}/" if study.recruit.mode == "prolific" else None


def _app() -> str:
    return os.environ.get("BEHOLDER_PROLIFIC_APP", PROLIFIC_APP).rstrip("/")


def _kind(outcome: Outcome) -> Outcome:
    """Return the outcome whose code and address somebody gets: withdrawing takes back an agreement."""
    return "no_consent" if outcome == "withdrawn" else outcome
