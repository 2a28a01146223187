"""`check_step` says what is wrong with a check."""

from __future__ import annotations

import pytest
from numpy.random import Generator

from beholder.checks.brightness import Brightness
from beholder.checks.contract import Verdict
from beholder.checks.page_contract import Attempt, CheckContext, CheckTask, RobotAbilities
from beholder.testing import check_step
from beholder.types import Json


class Leaky(Brightness):
    def pose(self, rng: Generator, known: CheckContext) -> CheckTask:
        posed = super().pose(rng, known)
        return CheckTask({"hint": posed.private["counts"]}, posed.private, posed.media)


class Forgetful(Brightness):
    def judge(self, attempt: Attempt) -> Verdict:
        return super().judge(attempt) if attempt.context.device else self.verdict("unknown", "gone")


class Generous(Brightness):
    def judge(self, attempt: Attempt) -> Verdict:
        return self.verdict("pass")


class Proud(Brightness):
    def guess_rate(self) -> float:
        return 0.0001


class Speechless(Brightness):
    def judge(self, attempt: Attempt) -> Verdict:
        verdict = super().judge(attempt)
        return verdict if verdict.verdict == "pass" else self.verdict("fail", "nameless")


class Whimsical(Brightness):
    def respond(self, posed: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        return {"circles": 0, "triangles": 0, "scale": 1}


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (Leaky, "the public half of brightness depends on chance"),
        (Forgetful, "brightness judged again says"),
        (Generous, r"a robot that fails \['brightness'\] has the verdict"),
        (Proud, "a blind guess passes brightness .* of the time, above 0.0%"),
        (Speechless, "brightness has no words for 'nameless'"),
        (Whimsical, "a robot that is able has the verdict"),
    ],
)
def test_check_step_says_what_is_wrong(broken: type[Brightness], sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_step(broken(Brightness.Options()))
