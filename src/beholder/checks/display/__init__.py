"""display: help with setting up the display (reference: checks 5).

Leaving it out cost correlation with the laboratory, so everybody reads it once on each device.
"""

from __future__ import annotations

from collections.abc import Mapping

from numpy.random import Generator
from pydantic import Field

from beholder.checks.contract import Verdict
from beholder.checks.page_contract import (
    Attempt,
    BrowserPage,
    CheckContext,
    CheckTask,
    PageCheck,
    RobotAbilities,
)
from beholder.study.parts import Validity
from beholder.study.qualification import ACTIONS, Action, CheckOptions
from beholder.types import Json

SYSTEMS = ("windows", "macos", "linux", "chromeos", "android", "ios")
BOXES = ("screen", "steady")
"""What can be ticked: the screen is set up; nothing changes it automatically."""


class Display(PageCheck):
    """Help with setting up the screen, for each system. What was done is declared, never judged."""

    name = "display"
    title = "Set-up of the display"
    summary = "Help with the display."
    stage = "setup"
    order = 210
    scope = "device"
    seconds = 30
    is_of_device = True
    is_costly = False

    class Options(CheckOptions):
        """Help with setting up the display, for each system."""

        action: Action = Field(default="record", description=ACTIONS)
        attempts: int = Field(default=1, ge=1, le=20, description="How often it is shown.")
        valid: Validity | None = Field(default="30 d", description="How long it counts on the same device.")

    options: Options

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        return CheckTask({"systems": list(SYSTEMS), "system": likely_system(context.device)})

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        read: dict[str, Json] = {}
        for box in BOXES:
            ticked = answer.get(box)
            if not isinstance(ticked, bool):
                raise self.refuse(box, "not_said_whether_done", "true or false")
            read[box] = ticked
        if answer.get("system") not in SYSTEMS:
            raise self.refuse("system", "unknown_system", ", ".join(SYSTEMS))
        return {**read, "system": answer["system"]}

    def judge(self, attempt: Attempt) -> Verdict:
        done: Json = {box: attempt.answer[box] for box in BOXES}
        needed: Json = dict.fromkeys(BOXES, True)
        is_done = done == needed
        return self.verdict(
            "pass" if is_done else "unknown", "" if is_done else "skipped", measured=done, needed=needed,
            system=attempt.answer["system"],
        )  # fmt: skip

    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        return {**dict.fromkeys(BOXES, robot.can(self.name)), "system": task.public["system"]}

    @classmethod
    async def take(cls, page: BrowserPage) -> None:
        boxes = [name for name in BOXES if page.answer[name]]
        for name in boxes:
            await page.tick(f"#display-{name}")
        if not boxes:
            await (await page.find("#next")).press("Enter")  # it only reminds
        await page.leave()


def likely_system(device: Mapping[str, Json]) -> str:
    """Return the likely system of a device; Windows where nothing was reported."""
    platform, is_touched = str(device.get("platform") or "").lower(), device.get("touch") is True
    if "android" in platform or ("linux arm" in platform and is_touched):
        return "android"
    # An iPad says that it is a Mac; no Mac can be touched.
    if platform.startswith(("iphone", "ipad", "ipod", "ios")) or (platform.startswith("mac") and is_touched):
        return "ios"
    for start, name in (("mac", "macos"), ("chrome", "chromeos"), ("cros", "chromeos"), ("linux", "linux")):
        if platform.startswith(start):
            return name
    return "windows"
