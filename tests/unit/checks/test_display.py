"""display: the help opens for the system at hand, and what was done is declared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from beholder.checks.display import Display, likely_system
from beholder.checks.page_contract import Attempt, CheckContext
from beholder.errors import Refused


@pytest.mark.parametrize(
    ("platform", "touch", "system"),
    [
        ("Windows", False, "windows"), ("Win32", True, "windows"), ("macOS", False, "macos"),
        ("MacIntel", False, "macos"), ("MacIntel", True, "ios"), ("iPhone", True, "ios"), ("iPad", True, "ios"),
        ("Linux x86_64", False, "linux"), ("Linux", True, "linux"), ("Linux armv8l", True, "android"),
        ("Android", True, "android"), ("Chrome OS", False, "chromeos"), ("", False, "windows"), (None, None, "windows"),
    ],
)  # fmt: skip
def test_the_help_opens_for_the_system_at_hand(platform: str | None, touch: bool | None, system: str) -> None:
    assert likely_system({"platform": platform, "touch": touch}) == system


@pytest.mark.parametrize(
    ("screen", "steady", "verdict"), [(True, True, "pass"), (True, False, "unknown"), (False, False, "unknown")]
)
def test_what_was_done_to_the_screen_is_declared_and_never_fails(screen: bool, steady: bool, verdict: str) -> None:
    check = Display(Display.Options())
    posed = check.pose(np.random.default_rng(1), CheckContext({"platform": "macOS"}))
    assert posed.public["system"] == "macos"
    answer = check.read(posed.private, {"screen": screen, "steady": steady, "system": "linux"})
    judged = check.judge(Attempt(posed.private, answer))
    assert (judged.verdict, judged.again, judged.measured) == (verdict, False, {"screen": screen, "steady": steady})
    assert judged.evidence == {"system": "linux"}


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        ({"screen": True, "system": "linux"}, "It is not said whether this was done"),
        ({"screen": True, "steady": True, "system": "beos"}, "This system is not among those we know"),
    ],
)
def test_an_answer_of_another_shape_is_refused(answer: dict[str, Any], what: str) -> None:
    with pytest.raises(Refused) as refused:
        Display(Display.Options()).read({}, answer)
    assert str(refused.value) == what
