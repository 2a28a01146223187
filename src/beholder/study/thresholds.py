"""The thresholds of cleaning: for each rule those that participants do not meet while rating."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from pydantic import Field, model_validator

from beholder.study.checks import Gold, RuleOptions, Share
from beholder.study.parts import Fault, StudyPart, raise_faults
from beholder.study.value_kinds import Allowed

_AS = "As in `checks` when left out."
_ACTION = f"`flag`: costs the use; `record`: only noted. {_AS}"
_MAX_FAILED = f"So many failures are allowed in a session that is used. {_AS}"
Pair = Annotated[tuple[float, float], Allowed("two numbers, such as [0.95, 1.15]")]
Limit = Annotated[tuple[float, Share], Allowed("a value and a share, such as [90, 0.15]")]
_Rule = TypeVar("_Rule", bound=RuleOptions)


class Thresholds(StudyPart):
    """By what a rule is judged afterwards; what is left out is as in `checks`."""

    action: Literal["flag", "record"] | None = Field(default=None, description=_ACTION)

    def over(self, rule: _Rule) -> _Rule:
        """Return the rule with these thresholds in place of its own."""
        return rule.model_copy(update={key: value for key, value in self if value is not None})


class UseTrial(Thresholds):
    """Thresholds of a rule that is judged trial by trial."""

    max_failed: int | None = Field(default=None, ge=0, description=_MAX_FAILED)


class UseNear(UseTrial):
    """Thresholds of a rule that compares answers."""

    tolerance: float | None = Field(default=None, ge=0, description=f"How far an answer may be off. {_AS}")


class UseGold(UseNear):
    """Thresholds of `gold`."""

    def over(self, rule: _Rule) -> _Rule:
        """Return the rule with these thresholds; a tolerance applies to every gold stimulus, whatever was planned."""
        judged = super().over(rule)
        if isinstance(judged, Gold):
            judged._within = self.tolerance
        return judged


class UseRepeat(UseNear):
    """Thresholds of `repeat`."""

    share: Share | None = Field(default=None, description=f"The largest share of repeats that may disagree. {_AS}")


class UseVariance(Thresholds):
    """Thresholds of `variance`."""

    min: float | None = Field(default=None, ge=0, description=f"Least variance of the answers. {_AS}")
    share: Share | None = Field(default=None, description=f"Share of pages with one answer only. {_AS}")


class UseRatio(Thresholds):
    """Thresholds of `ratio`."""

    range: Pair | None = Field(default=None, description=f"Of a whole session. {_AS}")
    trial: Pair | None = Field(default=None, description=f"Of one trial. {_AS}")

    @model_validator(mode="after")
    def _grow(self) -> UseRatio:
        pairs = (("range", self.range), ("trial", self.trial))
        raise_faults(
            [
                Fault(f"is {pair[0]:g}, {pair[1]:g}", "the lower number first", "", (key,))
                for key, pair in pairs
                if pair is not None and pair[0] >= pair[1]
            ]
        )
        return self


class UseOften(UseTrial):
    """Thresholds of `focus`."""

    share: Share | None = Field(default=None, description=f"A session with a larger share of such trials fails. {_AS}")


class UseSmooth(UseOften):
    """Thresholds of `smooth`."""

    dropped: Share | None = Field(default=None, description=f"Share of frames that may be dropped. {_AS}")
    stall_s: float | None = Field(default=None, ge=0, description=f"Seconds that playing may stand still. {_AS}")


class UseSpeed(UseOften):
    """Thresholds of `speed`."""

    click_s: float | None = Field(default=None, ge=0, description=f"Seconds that each click takes at least. {_AS}")
    slider_s: float | None = Field(default=None, ge=0, description=f"Seconds that each slider takes at least. {_AS}")
    judgement_s: float | None = Field(default=None, ge=0, description=f"Seconds a judgement, of a session. {_AS}")


class UseAgreement(Thresholds):
    """Thresholds of `agreement`."""

    min: float | None = Field(default=None, ge=-1, le=1, description=f"Least rank correlation. {_AS}")
    stimuli: int | None = Field(default=None, ge=3, description=f"Fewer shared stimuli tell nothing. {_AS}")
    warn: float | None = Field(default=None, ge=-1, le=1, description=f"A lower median is told in the report. {_AS}")


class UseConsistency(Thresholds):
    """Thresholds of `consistency`."""

    z: float | None = Field(default=None, gt=0, description=f"So many robust standard deviations are too many. {_AS}")
    ratings: int | None = Field(default=None, ge=2, description=f"Fewer ratings of a person tell nothing. {_AS}")


class UsePostscreen(Thresholds):
    """Thresholds of `postscreen`."""

    hidden_reference: Limit | None = Field(default=None, description=f"Below this value on so many pages. {_AS}")
    anchor: Limit | None = Field(default=None, description=f"Above this value on so many pages. {_AS}")
    spare: Share | None = Field(default=None, description=f"Contents whose anchor fools more spare everybody. {_AS}")


class UseQuota(Thresholds):
    """Thresholds of `quota`."""

    sessions: int | None = Field(default=None, ge=1, le=1000, description=f"How many of one person count. {_AS}")


class Use(StudyPart):
    """By which thresholds a session is used: `true`, `false` or options for each rule; as in `checks` when left out."""

    attention: UseNear | bool | None = Field(default=None, description="Stimuli that ask for an answer.")
    trap: UseNear | bool | None = Field(default=None, description="Trials that ask for an answer.")
    gold: UseGold | bool | None = Field(default=None, description="Trials whose right answer is known.")
    trap_item: UseTrial | bool | None = Field(default=None, description="Obvious statements.")
    repeat: UseRepeat | bool | None = Field(default=None, description="Items or trials that come again.")
    variance: UseVariance | bool | None = Field(default=None, description="Not nearly the same answer throughout.")
    ratio: UseRatio | bool | None = Field(default=None, description="Playing took as long as it should.")
    smooth: UseSmooth | bool | None = Field(default=None, description="Playing was smooth.")
    focus: UseOften | bool | None = Field(default=None, description="The window was not left.")
    speed: UseSpeed | bool | None = Field(default=None, description="Answers took time.")
    agreement: UseAgreement | bool | None = Field(default=None, description="Answers agree with the others.")
    consistency: UseConsistency | bool | None = Field(default=None, description="Answers do not scatter unusually.")
    postscreen: UsePostscreen | bool | None = Field(default=None, description="References and anchors told apart.")
    quota: UseQuota | bool | None = Field(default=None, description="One person counts so often.")
