"""display: help with setting up the screen, for each system; what was done is declared, never judged.

Leaving it out cost correlation with the laboratory (reference: checks 5), so everybody reads it once on each device.
"""

from __future__ import annotations

from collections.abc import Mapping

from numpy.random import Generator

from beholder.checks.contract import Attempt, Known, Posed, Robot, Step, refuse
from beholder.checks.verdict import Verdict
from beholder.study import qualification as rules
from beholder.types import Json

SYSTEMS = ("windows", "macos", "linux", "chromeos", "android", "ios")
BOXES = ("screen", "steady")
"""What can be ticked: the screen is set up; nothing changes it by itself."""


class Display(Step[rules.Display]):
    name = "display"
    stage = "setup"
    bound = "device"
    seconds = 30
    is_lost = False

    def pose(self, rng: Generator, known: Known) -> Posed:
        return Posed({"systems": list(SYSTEMS), "system": system(known.device)})

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        read: dict[str, Json] = {}
        for box in BOXES:
            ticked = answer.get(box)
            if not isinstance(ticked, bool):
                raise refuse(box, "It is not said whether this was done", "true or false")
            read[box] = ticked
        if answer.get("system") not in SYSTEMS:
            raise refuse("system", "This system is not among those we know", ", ".join(SYSTEMS))
        return {**read, "system": answer["system"]}

    def judge(self, attempt: Attempt) -> Verdict:
        done: Json = {box: attempt.answer[box] for box in BOXES}
        needed: Json = dict.fromkeys(BOXES, True)
        is_done = done == needed
        return self.verdict(
            "pass" if is_done else "unknown", "" if is_done else "skipped", measured=done, needed=needed,
            system=attempt.answer["system"],
        )  # fmt: skip

    def respond(self, posed: Posed, robot: Robot, rng: Generator) -> Json:
        return {**dict.fromkeys(BOXES, robot.can(self.name)), "system": posed.public["system"]}


def system(device: Mapping[str, Json]) -> str:
    """Return which of the systems a device seems to have; Windows where nothing was told."""
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
