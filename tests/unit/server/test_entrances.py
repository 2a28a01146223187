"""The entrance of each mode: who arrives, with which code and address they go back, and how long they hold a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import pytest

from beholder.errors import Refused
from beholder.server import tokens
from beholder.server.entrances import ENTRANCES, Entrance, entrance_of, identify
from beholder.server.participants import BlockList, seat_token
from beholder.study.model import Study
from beholder.study.recruitment import Mode, RecruitMode

SECRET = b"s" * 32


def entrance(recruit: Mapping[str, Any]) -> Entrance:
    base = {"beholder": 1, "name": "a", "title": "A", "method": "acr", "stimuli": "s"}
    return entrance_of(Study.model_validate({**base, "recruit": dict(recruit)}), SECRET)


def test_a_lease_on_prolific_outlives_the_platforms_own_time_limit() -> None:
    def minutes(**keys: Any) -> float:
        return entrance(keys).lease.total_seconds() / 60

    assert minutes() == 60
    assert minutes(time_limit="100 min") == 100
    assert minutes(mode="prolific", minutes=10) == 29 + 10
    assert minutes(mode="prolific", minutes=10, time_limit="50 min") == 50 + 10
    assert minutes(mode="prolific") == 60 + 10


def test_every_mode_has_an_entrance() -> None:
    assert set(ENTRANCES) == set(get_args(Mode)) - {"imported"}
    for mode in get_args(RecruitMode):
        assert type(entrance({"mode": mode})) is ENTRANCES[mode]


@pytest.mark.parametrize(
    ("recruit", "params", "platform", "id_"),
    [
        ({}, {"participant": "ann"}, "link", "ann"),
        ({}, {"PROLIFIC_PID": "ann"}, "prolific", "ann"),
        ({"single_use": True}, {"invited": tokens.invitation(SECRET, "7")}, "number", "7"),
        ({"mode": "panel", "id_parameter": "pid"}, {"pid": "ann", "key": tokens.panel_key(SECRET)}, "panel", "ann"),
        ({"mode": "lab"}, {"seat": seat_token(SECRET, 3)}, "lab", "3"),
        (
            {"mode": "prolific"},
            {"PROLIFIC_PID": "ann", "STUDY_ID": "here", "SESSION_ID": "s1"},
            "prolific",
            "ann",
        ),
    ],
)
def test_who_arrives_is_read_by_the_entrance_of_the_mode(
    recruit: dict[str, Any], params: dict[str, str], platform: str, id_: str
) -> None:
    here = entrance(recruit)
    identity = identify(params, here, BlockList(here.study))
    assert (identity.mode, identity.platform, identity.platform_id) == (here.mode, platform, id_)
    assert identity.participant == tokens.pseudonym(SECRET, platform, id_)
    robot = identify({"robot": "r", "signature": tokens.robot_signature(SECRET, "r")}, here, BlockList(here.study))
    assert (robot.mode, robot.platform) == ("robot", "")
    preview = identify({"preview": tokens.preview_secret(SECRET), "list": "2"}, here, BlockList(here.study))
    assert (preview.mode, preview.preview) == ("preview", 2)


@pytest.mark.parametrize("mode", get_args(RecruitMode))
def test_who_comes_back_is_known_by_a_signed_session_and_a_stranger_only_at_an_open_link(mode: str) -> None:
    here = entrance({"mode": mode})
    token = tokens.session_token(SECRET, "a", "0123")
    for name in ("again", "resume"):
        identity = identify({name: token}, here, BlockList(here.study))
        assert (identity.session, identity.wants_more) == ("0123", name == "again")
    if mode == "link":
        assert identify({}, here, BlockList(here.study)).participant
        return
    with pytest.raises(Refused) as refused:
        identify({}, here, BlockList(here.study))
    assert refused.value.code == ("lab" if mode == "lab" else "no_id")


def test_the_way_back_is_that_of_the_mode() -> None:
    back = {"completed": "https://panel.example/?c={code}&who={id}"}
    panel = entrance({"mode": "panel", "codes": {"completed": "C7"}, "return_to": back})
    assert panel.code("s", "completed") == "C7"
    assert panel.return_url("C7", "completed", "a b") == "https://panel.example/?c=C7&who=a%20b"
    assert panel.return_url("C7", "completed", None) is None
    assert (panel.needs_id, panel.home) == (True, None)
    prolific = entrance({"mode": "prolific"})
    code = prolific.code("s", "withdrawn")
    assert code == prolific.shared_codes()["no_consent"]
    assert prolific.return_url(code, "withdrawn", "ann") == f"{prolific.home}submissions/complete?cc={code}"
    link, lab = entrance({}), entrance({"mode": "lab"})
    assert link.code("s", "completed") == tokens.completion_code(SECRET, "s", "completed")
    assert [link.code("s", outcome) for outcome in ("technical", "no_consent")] == [None, None]
    assert (lab.code("s", "completed"), link.return_url("C", "completed", "ann")) == (None, None)
