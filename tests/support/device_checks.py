"""Device checks, the answers of their pages, and their feedback."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np

from beholder.checks.contract import Verdict
from beholder.checks.device import Device
from beholder.checks.media import Media
from beholder.checks.network import Network
from beholder.checks.page_contract import Attempt, CheckContext, CheckTask, Needs, PageCheck
from beholder.checks.page_registry import check_texts
from beholder.checks.refresh import Refresh
from beholder.checks.remote import Remote
from beholder.checks.screen import Screen
from beholder.server.page_checks import PageChecks, device_rows, verdict_evidence
from beholder.server.script import CONSENT, PlannedStep, Script
from beholder.store.contract import StoredVerdict
from beholder.types import Json

NOW = datetime(2026, 1, 1, tzinfo=UTC)


CODEC = 'video/mp4; codecs="avc1.4D4015"'


NEEDS = Needs((CODEC,), "video", 25.0, fullscreen=True, first_bytes=4_000_000)


KNOWN = CheckContext({"screen": [1920, 1080], "dpr": 1}, needs=NEEDS)


DEVICE, SCREEN, REFRESH = Device(Device.Options()), Screen(Screen.Options()), Refresh(Refresh.Options())


def posed(check: PageCheck, known: CheckContext = KNOWN) -> CheckTask:
    return check.pose(np.random.default_rng(1), known)


def judged(check: PageCheck, answer: Mapping[str, Json], known: CheckContext = KNOWN, number: int = 1) -> Verdict:
    private = posed(check, known).private
    return check.judge(Attempt(private, check.read(private, answer), known, number))


def stored(
    check: PageCheck, verdict: Verdict, number: int = 1, answer: Mapping[str, Json] | None = None
) -> StoredVerdict:
    step = PlannedStep(f"check:{check.name}", "check", check=check).as_attempt(number)
    kept = verdict_evidence(verdict, answer or {}, check, step)
    return StoredVerdict("s", step.key, check.name, verdict.verdict, verdict.reason, kept, NOW)


def words(check: PageCheck, verdict: Verdict) -> str:
    """Return the feedback of the server on a verdict."""
    return PageChecks(NEEDS, b"secret", check_texts("en")).text(check, stored(check, verdict))


def window(width: float, height: float, dpr: float = 1, zoom: float = 1) -> dict[str, Json]:
    inner: Json = [1000, 700]
    return {"screen": [width, height], "dpr": dpr, "inner": inner, "outer": [1000 * zoom, 800]}


MEDIA, NETWORK, REMOTE = Media(Media.Options()), Network(Network.Options()), Remote(Remote.Options())


PLAYS: dict[str, Json] = {
    "playable": {CODEC: True}, "fullscreen": True, "sound": True, "decoded": True, "plays": [[25, 0]],
}  # fmt: skip


def line(mbps: float, seconds: float = 2) -> dict[str, Json]:
    return {"bytes": round(mbps * 1e6 / 8 * seconds), "ms": 1000 * seconds, "whole": False}


MOUSE: dict[str, Json] = {
    "pointer": "fine", "hover": True, "fine": True, "touches": 0, "mobile": False, "system": "Windows",
    "screen": [1920, 1080],
}  # fmt: skip


STEPS: tuple[PageCheck, ...] = (DEVICE, SCREEN, REFRESH, MEDIA, NETWORK, REMOTE)


def rows(*verdicts: StoredVerdict, here: str, steps: tuple[PageCheck, ...] = STEPS) -> dict[str, tuple[Json, Json]]:
    """Return the list as a person sees it: state and words of each row."""
    script = Script((CONSENT, *(PlannedStep(f"check:{check.name}", "check", check=check) for check in steps)))
    examiner = PageChecks(NEEDS, b"secret", check_texts("en"))
    at = script.find(here)
    assert at is not None
    device_list = device_rows(
        script,
        {one.key: one for one in verdicts},
        at,
        lambda check, one: {"text": "" if one is None else examiner.short_text(check, one)},
    )
    return {str(row["name"]): (row["state"], row["text"]) for row in device_list if isinstance(row, Mapping)}


HERE: dict[str, Json] = {"remote": False, "software": False, "depth": False, "bursts": None, "reduced_motion": False}
