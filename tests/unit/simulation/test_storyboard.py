"""Robots in real browsers: a picture of every step, and the answers that they would give over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

import beholder
from beholder.aio import block_on
from beholder.errors import UserError
from beholder.store.open import open_store
from beholder.testing import write_study
from beholder.types import Json

SHORT = {"participants": 4, "trials": 2, "per_trial": 2, "seed": 3}
BEFORE = [{"id": "field", "text": "Do you know video?", "type": "single", "options": ["yes", "no"], "correct": ["no"]}]


def trial_answers(store: Path) -> dict[str, Json]:
    async def read() -> dict[str, Json]:
        async with open_store(store, write=False) as opened:
            return {row["key"]: row["answer"] async for row in opened.rows("answers") if row["key"][:6] == "trial:"}

    return block_on(read())


@pytest.mark.browser
def test_a_robot_at_a_browser_answers_as_over_http_and_every_step_is_in_a_picture(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny, design=SHORT, before=BEFORE)
    storyboard = beholder.simulate(study, participants=1, browser=True, store=str(tmp_path / "seen"))
    beholder.simulate(study, participants=1, store=str(tmp_path / "sent"))
    answers = trial_answers(tmp_path / "seen")
    assert list(answers) == ["trial:1", "trial:2"]
    assert answers == trial_answers(tmp_path / "sent")
    (sitting,) = storyboard.sittings
    assert sitting.code
    assert [picture.file for picture in sitting.pictures] == [
        "01-consent.png", "02-questions-before.png", "03-questions-before-answered.png", "04-text-instructions.png",
        "05-trial-1.png", "06-trial-1-answered.png", "07-trial-2.png", "08-trial-2-answered.png", "09-end.png",
    ]  # fmt: skip
    page = storyboard.page.read_text("utf-8")
    for picture in sitting.pictures:
        assert f'src="robot-1/{picture.file}"' in page
        assert (storyboard.page.parent / "robot-1" / picture.file).stat().st_size > 1000
    assert not (tmp_path / "study" / "store").exists()


def test_a_cheat_that_sends_something_else_has_no_place_at_a_browser(tmp_path: Path, tiny: Path) -> None:
    with pytest.raises(UserError) as caught:
        beholder.simulate(write_study(tmp_path, tiny), participants=2, raters="honest,skips", browser=True)
    assert str(caught.value) == (
        "--raters  has skips, and a real page sends what it should. Allowed: kinds that only rate. "
        "Leave out --browser, or these kinds."
    )


def test_without_a_chromium_it_says_what_to_install(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = write_study(tmp_path / "study", tiny)
    monkeypatch.delenv("BEHOLDER_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError) as caught:
        beholder.simulate(study, participants=1, browser=True)
    assert str(caught.value) == (
        "--browser  needs a Chromium, and none was found. Install one as chromium, or name it in BEHOLDER_CHROMIUM."
    )
