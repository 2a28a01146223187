"""The entrance of each mode: who arrives, with which code and address they go back, and how long they hold a list.

A study has the entrance of its mode, chosen when the server starts; robots and previews have entrances of their own. A
session that began before the mode of the study was changed comes in again by `ENTRANCES` of its own mode.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from copy import copy
from datetime import datetime, timedelta
from functools import cached_property
from typing import ClassVar, NamedTuple
from urllib.parse import quote, urlencode

from beholder.errors import Refused
from beholder.recent_entries import MOST_SESSIONS, RecentEntries
from beholder.server import tokens
from beholder.server.participants import LAB, NUMBERED, OPERATOR, BlockList, Identity, lab_key, read_seat_token
from beholder.study.model import Study
from beholder.study.parts import duration
from beholder.study.recruitment import PANEL_KEY, Mode, has_visit_per_session, longest_minutes
from beholder.types import Outcome
from beholder.words import LanguageWords, read_words

CODED: tuple[Outcome, ...] = (
    "completed", "screened_out", "wrong_device", "no_consent", "failed_checks", "technical",
)  # fmt: skip
"""Outcomes with a code; a withdrawal uses the code of no_consent."""
WITHOUT_OWN_CODE = ("no_consent", "withdrawn")
"""Outcomes without an individual code: only a code that is the same for everybody is given."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PLACEHOLDER = re.compile(r"\{\{|\{.+\}|%.+%|<.+>|\[.+\]")
"""Placeholders that a platform or mail program should have replaced, such as {{id}}, ${ID}, %SURVEY_CODE% or [ID]."""
RETURNING = ("again", "resume")
"""The parameters of a link to a session: for a further one of the same participant, and for this one."""
SONA = "sona_id"
"""The parameter under which SONA passes a person's number, with a placeholder of its own."""
_CODES = {"not_launched": "other_posting", "nothing_left": "finished", "ended": "finished"}
"""Codes that browsers get where several refusals mean the same to them."""


class _PlatformIds(NamedTuple):
    """The ids of a participant, posting and submission on a platform."""

    platform: str
    id: str
    posting: str = ""
    submission: str = ""


class Entrance:
    """How participants of one mode come in and go back, and how long they hold a list."""

    mode: ClassVar[Mode]
    has_secret_visits: ClassVar[bool] = False
    """Whether only the participant and the platform know the id of a visit, so that it shows who comes."""
    has_platform: ClassVar[bool] = False
    """Whether a platform sends participants: it lists every visit, also refused ones, and takes a code in any case."""

    signature_parameter: ClassVar[str] = ""
    """The parameter with the platform's signature on the ids in the address; empty where it signs none."""

    def __init__(self, study: Study, secret: bytes) -> None:
        self.study, self.secret = study, secret
        self._platform_ids: RecentEntries[str, str] = RecentEntries(MOST_SESSIONS)

    @cached_property
    def words(self) -> LanguageWords:
        return read_words(self.study.language)

    def in_language(self, study: Study) -> Entrance:
        """Return the same entrance with the words of the study in another language."""
        same = copy(self)
        same.__dict__.pop("words", None)
        same.study = study
        return same

    @property
    def lease(self) -> timedelta:
        """How long a lease lasts without activity."""
        return duration(self.study.recruit.time_limit or "60 min")

    @property
    def home(self) -> str | None:
        """The platform's home page, for participants who are refused; None where it is unknown."""
        return None

    @property
    def needs_id(self) -> bool:
        """Whether a return address contains the platform id."""
        return False

    @property
    def is_offered_before_return(self) -> bool:
        """Whether a further session is offered before the participant returns to the platform."""
        return False

    # Coming in

    def identify(self, params: Mapping[str, str], blocked: BlockList) -> Identity | None:
        """Return who arrives by the parameters of the address; None where nobody is named, else raise Refused."""
        raise NotImplementedError

    def identify_stranger(self) -> Identity:
        """Return a new participant who has no id, or raise Refused."""
        raise self.refusal("no_id")

    @classmethod
    def is_shown_again(cls, identity: Identity) -> bool:
        """Return whether a participant of this mode who has finished sees the last page again, and is not refused."""
        return False

    def start_address(self, url: str) -> str:
        """Return where participants begin, with placeholders that a platform fills in."""
        return f"{url.rstrip('/')}/s/{self.study.name}"

    def addresses(self, url: str) -> dict[str, str]:
        """Return the addresses of the operator and of every station, by name; empty outside of a laboratory."""
        return {}

    def refusal(
        self, code: str, where: str = "", *, at: datetime | None = None, platform_id: str | None = None
    ) -> Refused:
        """Return the refusal with this code, with the address to return to."""
        words = self.words[code]
        more = {}
        if at is not None:
            words = self.words.say(code, time=self.words.time(at))
            more["at"] = at.isoformat()
        back = self.home
        if code in ("full", "enough", "no_room") or (code == "closed" and platform_id):
            back = self.return_url(self.shared_codes().get("technical"), "technical", platform_id) or back
        if back is not None:
            more["return_url"] = back
        return Refused(words, where=where, code=_CODES.get(code, code), status=403, more=more)

    def _identity(self, ids: _PlatformIds | None, blocked: BlockList, *, is_proven: bool = False) -> Identity | None:
        """Return the identity on the platform that sent the participant; a blocked one raises Refused."""
        if ids is None:
            return None
        if blocked.has(ids.id):
            raise self.refusal("blocked")
        participant = tokens.pseudonym(self.secret, ids.platform, ids.id)
        return Identity(
            self.mode,
            participant,
            platform=ids.platform,
            platform_id=ids.id,
            posting=ids.posting,
            submission=ids.submission,
            is_proven=is_proven,
        )

    def _invited(self, text: str) -> str:
        """Return the id in a personal link; a forged one raises Refused."""
        invited = tokens.read_invitation(self.secret, text.strip())
        if invited is None:
            raise self.refusal("no_id", "invited")
        return invited

    def _passed_ids(
        self, params: Mapping[str, str], names: Sequence[str | None], *, are_all_needed: bool = False
    ) -> _PlatformIds | None:
        """Return the ids of participant, posting and visit that the platform passed; a malformed id raises Refused."""
        values = [params.get(name, "").strip() if name else "" for name in names]
        if any(map(_PLACEHOLDER.search, values)):
            raise self.refusal("placeholder")
        if not values[0] or (are_all_needed and not all(values)):
            return None
        for name, value in zip(names, values, strict=True):
            if value and not _ID.fullmatch(value):
                raise self.refusal("odd_id", name or "")
        return _PlatformIds(self.mode, *values)

    # Going back

    def shared_codes(self) -> Mapping[Outcome, str]:
        """Return the codes that are the same for everybody; empty where each session has its own or there are none."""
        return {}

    def code(self, session: str, outcome: Outcome) -> str | None:
        """Return the completion code of a session with this outcome; None without one."""
        kind = _coded_outcome(outcome)
        shared = self.shared_codes().get(kind)
        if shared is not None or outcome in WITHOUT_OWN_CODE:
            return shared
        return tokens.completion_code(self.secret, session, kind)

    def return_url(self, code: str | None, outcome: Outcome, platform_id: str | None) -> str | None:
        """Return the return address; None where the study has none, or a value in it is unknown."""
        return None

    def platform_id(self, participant: str) -> str | None:
        """Return the platform id of a participant, if it is remembered."""
        return self._platform_ids.get(participant)

    def remember(self, platform_ids: Mapping[str, str]) -> None:
        """Remember the platform ids of participants: after a withdrawal the store no longer has them."""
        self._platform_ids |= platform_ids


class LinkEntrance(Entrance):
    """Whoever has the address, also by a personal link."""

    mode = "link"
    _PLATFORMS: ClassVar = {"participant": "link", "PROLIFIC_PID": "prolific"}
    """Parameters of an open link that carry a participant's id, and the platform of that id."""

    def identify(self, params: Mapping[str, str], blocked: BlockList) -> Identity | None:
        if "invited" in params:
            platform = NUMBERED if self.study.recruit.people is None else self.mode
            ids = _PlatformIds(platform, self._invited(params["invited"]))
            return self._identity(ids, blocked, is_proven=True)
        return None if self.study.recruit.single_use else self._identity(self._ids(params), blocked)

    def identify_stranger(self) -> Identity:
        if self.study.recruit.single_use:
            raise self.refusal("no_id")
        return Identity(self.mode, tokens.pseudonym(self.secret, "anonymous", secrets.token_hex(16)))

    def _ids(self, params: Mapping[str, str]) -> _PlatformIds | None:
        """Return the platform and the id in an open link; a placeholder, which all would share, is refused."""
        for name, platform in self._PLATFORMS.items():
            if value := params.get(name, "").strip():
                if _PLACEHOLDER.fullmatch(value.lstrip("$")):
                    raise self.refusal("placeholder", name)
                return _PlatformIds(platform, value)
        return None

    def code(self, session: str, outcome: Outcome) -> str | None:
        return None if outcome == "technical" else super().code(session, outcome)


class PanelEntrance(Entrance):
    """Invited people, or any platform that passes an id and takes a code."""

    mode = "panel"
    has_platform = True

    def identify(self, params: Mapping[str, str], blocked: BlockList) -> Identity | None:
        recruit = self.study.recruit
        if "invited" in params:
            ids = _PlatformIds(self.mode, self._invited(params["invited"]))
            return self._identity(ids, blocked, is_proven=True)
        passed = self._passed_ids(params, (recruit.id_parameter, None, recruit.visit_parameter))
        if passed is not None and not tokens.is_panel_key(self.secret, params.get(PANEL_KEY, "")):
            raise self.refusal("no_key", PANEL_KEY)
        return self._identity(passed, blocked)

    def start_address(self, url: str) -> str:
        recruit, address = self.study.recruit, super().start_address(url)
        if recruit.id_parameter is None:
            return address
        address += f"?{PANEL_KEY}={tokens.panel_key(self.secret)}&{recruit.id_parameter}="
        if recruit.id_parameter == SONA:
            return f"{address}%SURVEY_CODE%"
        visit = f"&{recruit.visit_parameter}={{{{visit}}}}" if recruit.visit_parameter else ""
        return f"{address}{{{{id}}}}{visit}"

    @classmethod
    def is_shown_again(cls, identity: Identity) -> bool:
        return not identity.submission

    def shared_codes(self) -> Mapping[Outcome, str]:
        written = self.study.recruit.codes.model_dump(exclude_none=True)
        return {outcome: str(written[outcome]) for outcome in CODED if outcome in written}

    def return_url(self, code: str | None, outcome: Outcome, platform_id: str | None) -> str | None:
        address: str | None = getattr(self.study.recruit.return_to, _coded_outcome(outcome))
        if address is None:
            return None
        for name, value in (("{code}", code), ("{id}", platform_id)):
            if name in address:
                if not value:
                    return None
                address = address.replace(name, quote(value, safe=""))
        return address

    @property
    def needs_id(self) -> bool:
        addresses = self.study.recruit.return_to.model_dump(exclude_none=True).values()
        return any("{id}" in address for address in addresses)


class LabEntrance(Entrance):
    """The seats of a laboratory, without codes and addresses to return to."""

    mode = "lab"

    def identify(self, params: Mapping[str, str], blocked: BlockList) -> Identity | None:
        if not params.keys().isdisjoint(RETURNING):
            return None
        seat = read_seat_token(self.secret, params.get("seat", ""))
        if seat is None:
            raise Refused(self.words["lab"], where="seat", code="lab", status=403)
        participant = tokens.pseudonym(self.secret, LAB, str(seat))
        return Identity(self.mode, participant, platform=LAB, platform_id=str(seat), is_proven=True)

    def addresses(self, url: str) -> dict[str, str]:
        stations = [str(number) for number in range(1, self.study.recruit.stations + 1)]
        operator = {"Operator": f"{url}/lab?key={lab_key(self.secret, OPERATOR)}"}
        return operator | {f"Station {name}": f"{url}/lab/{name}?key={lab_key(self.secret, name)}" for name in stations}

    def code(self, session: str, outcome: Outcome) -> str | None:
        return None


class ProlificEntrance(Entrance):
    """Participants whom Prolific sends."""

    mode = "prolific"
    has_platform = has_secret_visits = True
    APP: ClassVar = "https://app.prolific.com"
    """Where participants return to; a rehearsal sets the environment variable BEHOLDER_PROLIFIC_APP."""
    PARAMETERS: ClassVar = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
    """Prolific's parameters for the participant, the posting and the submission."""
    signature_parameter = "prolific_token"
    _RESERVED: ClassVar = timedelta(minutes=10)
    """How long Prolific reserves a place for a participant who has not begun."""

    @property
    def lease(self) -> timedelta:
        """At least the platform's limit and its reservation."""
        recruit = self.study.recruit
        longest = timedelta(minutes=longest_minutes(recruit.minutes)) if recruit.minutes else timedelta()
        return max(super().lease if recruit.time_limit or not longest else longest, longest) + self._RESERVED

    @property
    def home(self) -> str:
        return f"{self._app()}/"

    @property
    def is_offered_before_return(self) -> bool:
        return not has_visit_per_session(self.study.recruit)

    def identify(self, params: Mapping[str, str], blocked: BlockList) -> Identity | None:
        return self._identity(self._passed_ids(params, self.PARAMETERS, are_all_needed=True), blocked)

    def shared_codes(self) -> Mapping[Outcome, str]:
        of = f"{self.study.name}/{self.study.run}"
        return {outcome: tokens.completion_code(self.secret, of, outcome).replace("-", "") for outcome in CODED}

    def return_url(self, code: str | None, outcome: Outcome, platform_id: str | None) -> str | None:
        return f"{self._app()}/submissions/complete?{urlencode({'cc': code})}" if code else None

    def _app(self) -> str:
        return os.environ.get("BEHOLDER_PROLIFIC_APP", self.APP).rstrip("/")


class RobotEntrance(Entrance):
    """Simulated participants, by a signed name."""

    mode = "robot"

    def identify(self, params: Mapping[str, str], blocked: BlockList) -> Identity | None:
        if "robot" not in params:
            return None
        robot = params["robot"]
        signature = tokens.robot_signature(self.secret, robot)
        if not hmac.compare_digest(params.get("signature", "").encode(), signature.encode()):
            raise Refused(self.words["unknown_token"], where="signature", code="unknown_token", status=401)
        return Identity(self.mode, tokens.pseudonym(self.secret, "robot", robot), is_proven=True)


class PreviewEntrance(Entrance):
    """The researcher, who looks at any list and leaves nothing behind."""

    mode = "preview"

    def identify(self, params: Mapping[str, str], blocked: BlockList) -> Identity | None:
        if "preview" not in params:
            return None
        if not hmac.compare_digest(params["preview"].encode(), tokens.preview_secret(self.secret).encode()):
            raise Refused(self.words["unknown_token"], where="preview", code="unknown_token", status=401)
        number = params.get("list", "1")
        return Identity(self.mode, preview=int(number) if number.isdecimal() and len(number) < 10 else 0)


ENTRANCES: Mapping[Mode, type[Entrance]] = {
    one.mode: one
    for one in (LinkEntrance, PanelEntrance, LabEntrance, ProlificEntrance, RobotEntrance, PreviewEntrance)
}


def entrance_of(study: Study, secret: bytes) -> Entrance:
    """Return the entrance of a study."""
    return ENTRANCES[study.recruit.mode](study, secret)


def shared_codes(study: Study, secret: bytes) -> Mapping[Outcome, str]:
    """Return the codes that are the same for everybody; empty where each session has its own or there are none."""
    return entrance_of(study, secret).shared_codes()


def identify(params: Mapping[str, str], entrance: Entrance, blocked: BlockList) -> Identity:
    """Return who arrives: a preview, a robot, a participant by an id or by an earlier session; else raise Refused."""
    study, secret = entrance.study, entrance.secret
    for each in (PreviewEntrance(study, secret), RobotEntrance(study, secret), entrance):
        if (identity := each.identify(params, blocked)) is not None:
            return identity
    for name in RETURNING:
        if name in params:
            session = tokens.read_token(secret, study.name, params[name]).session
            return Identity(entrance.mode, session=session, wants_more=name == "again")
    return entrance.identify_stranger()


def _coded_outcome(outcome: Outcome) -> Outcome:
    """Return the outcome whose code and address are used: a withdrawal counts as no consent."""
    return "no_consent" if outcome == "withdrawn" else outcome
