"""The pictures of the docs about qualification: one walk through the checks, with a picture of some of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from playwright.async_api import Browser, Page

from beholder.methods import load_study
from beholder.testing.browser import Moment, fitting_answers, oracle_for, walk
from beholder.workflow.new import new
from docs_camera import guest, save

SMALL = 60_000
SIGHTS: dict[tuple[str, Moment], str] = {
    ("check:remote:1", "shown"): "check-device",
    ("check:colour:1", "answered"): "check-plate",
    ("check:acuity:1", "answered"): "check-ring",
    ("check:brightness:2", "answered"): "check-matrix",
    ("check:headphones:1", "answered"): "check-headphones",
    ("training:1:2", "shown"): "training-note",
}
"""By the key of a step and the moment; of a check with several screens the last one."""


async def picture_qualification(browser: Browser, folder: Path, scratch: Path) -> list[Path]:
    """Write the pictures; return their paths."""
    path = _write_study(scratch / "qualification")
    made: dict[str, Path] = {}
    async with guest(browser, path, "qualification") as (server, page):
        fails = ("check:brightness:1", "training:1:1")

        async def on_step(page: Page, key: str, moment: Moment) -> None:
            name = SIGHTS.get((key, moment))
            if name is not None:
                made[name] = await save(page, folder / f"{name}.png", largest=SMALL)

        await walk(
            page, until="training:2:1", answers=fitting_answers(load_study(path)), on_step=on_step,
            oracle=oracle_for(server, page, fails),
        )  # fmt: skip
    assert set(made) == set(SIGHTS.values()), set(SIGHTS.values()) - set(made)
    return list(made.values())


def _write_study(folder: Path) -> Path:
    """Write a study with all checks of P.910, headphones, and two examples to practise with."""
    path = new("acr", folder)
    study: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    clips = sorted(clip.relative_to(folder).as_posix() for clip in (folder / "stimuli").glob("*/*.mp4"))
    study |= {
        "preset": "p910",
        "qualification": {"headphones": {"trials": 2, "right": 2}},
        "training": {
            "items": [
                {"file": clips[0], "content": "first", "expected": 5, "anchor": "Excellent: no flaw can be seen",
                 "message": "Nothing is torn, blurred or frozen here. Most people call it excellent."},
                {"file": clips[-1], "content": "last", "expected": 1},
            ]
        },
    }  # fmt: skip
    path.write_text(yaml.safe_dump(study, sort_keys=False, allow_unicode=True), "utf-8")
    return path
