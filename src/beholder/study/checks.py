"""The rules over what participants do while they rate: one part of the study with options for each."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from beholder.study.design import Near, Number
from beholder.study.parts import Fault, StudyPart, Text, raise_faults
from beholder.study.value_kinds import Allowed

Say = Literal["text", "voice"]
Share = Annotated[float, Field(ge=0, le=1)]
_SHARES = "a value and a share, such as [90, 0.15]"
_ACTION = "`flag`: silent, cleaning decides; `record`: only noted, and costs nothing."
_AT_ONCE = "`warn`: is told after the trial; `retry`: is told, and the trial comes again; " + _ACTION


class RuleOptions(StudyPart):
    """Options of every rule."""

    action: Literal["flag", "record"] = Field(default="flag", description=_ACTION)


class TrialRuleOptions(RuleOptions):
    """A rule that is judged trial by trial, so that it can act at once."""

    action: Literal["warn", "retry", "flag", "record"] = Field(  # type: ignore[assignment]
        default="flag", description=_AT_ONCE
    )
    retries: int = Field(default=1, ge=1, le=10, description="How often a trial comes again, with `retry`.")
    max_failed: int = Field(default=0, ge=0, description="So many failures are allowed in a session that is used.")
    end_after: int | None = Field(
        default=None, ge=1, description="The session ends kindly at this many failures; never when left out."
    )

    @property
    def is_immediate(self) -> bool:
        """Whether the rule acts before cleaning."""
        return self.action in ("warn", "retry") or self.end_after is not None


class AskingOptions(TrialRuleOptions):
    """A stimulus that asks for a certain answer itself."""

    per_session: int = Field(default=1, ge=1, le=50, description="How many in a session.")
    tolerance: float | None = Field(
        default=None, ge=0, description="How far the answer may be off; 3 in 100 of a slider, 0 elsewhere."
    )
    say: Say | None = Field(
        default=None, description="`text` over the picture or `voice`; `voice` for sounds, else `text`."
    )
    words: Text | None = Field(
        default=None, description="What it says, with {value} or {label} in it; our own words when left out."
    )
    clips: int = Field(default=100, ge=1, le=10_000, description="At most so many are made, and shared by the lists.")
    reject_after: int | None = Field(
        default=2, ge=1, description="From this many failures on not paying is proposed; never when `null`."
    )

    @model_validator(mode="after")
    def _known_places(self) -> AskingOptions:
        unknown = [name for name in re.findall(r"\{([^{}]*)\}", self.words or "") if name not in ("value", "label")]
        if unknown:
            raise_faults([Fault(f"has {{{unknown[0]}}}", "{value} and {label} for the answer", "", ("words",))])
        return self


class Attention(AskingOptions):
    """Attention checks (HEMVIP): a stimulus of a page says to which number its slider is to be set."""

    per_session: int = Field(default=3, ge=1, le=50, description="How many in a session, one on a page at most.")
    targets: Annotated[tuple[float, float], Allowed("two numbers, such as [5, 95]")] = Field(
        default=(5, 95), description="The lowest and the highest number that a slider is asked for."
    )
    end_after: int | None = Field(
        default=2, ge=1, description="The session ends kindly at this many failures; never when `null`."
    )
    protect: tuple[Text, ...] = Field(
        default=(), description="Conditions that are never replaced, besides `design.always`, references and anchors."
    )

    @model_validator(mode="after")
    def _grow(self) -> Attention:
        low, high = self.targets
        if low >= high:
            raise_faults([Fault(f"is {low:g}, {high:g}", "the lower number first", "", ("targets",))])
        return self


class Trap(AskingOptions):
    """Trapping clips (P.910): an ordinary clip whose middle asks for a certain answer."""

    clips: int = Field(default=10, ge=1, le=10_000, description="At most so many are made, and shared by the lists.")


class GoldItem(StudyPart):
    """One gold stimulus, where there is no manifest with a line for it."""

    file: Text = Field(description="A file in the study folder, or an https address.")
    content: Text | None = Field(default=None, description="What it shows; the name of the file when left out.")
    condition: Text | None = Field(default=None, description="Its condition; `gold` when left out.")
    expected: Number = Field(default=None, description="The right answer, of every question or by question.")
    tolerance: Near = Field(default=None, description="How far from it an answer may be; as the rule when left out.")


class Gold(TrialRuleOptions):
    """Gold stimuli: the right answer is known."""

    per_session: int = Field(default=1, ge=1, le=50, description="How many in a session.")
    tolerance: float | None = Field(
        default=None, ge=0, description="How far an answer may be off; a quarter of the scale when left out."
    )
    items: tuple[GoldItem, ...] = Field(
        default=(), description="The stimuli, where they are no manifest; after its own where they are."
    )
    _within: float | None = PrivateAttr(default=None)

    @property
    def within(self) -> float | None:
        """The tolerance of cleaning, in place of the planned one; None keeps that of the plan."""
        return self._within


class Statement(StudyPart):
    """One statement that is obviously true or false."""

    text: Text = Field(description="What participants read.")
    agree: bool = Field(description="Whether everybody agrees with it. Never sent to the browser.")


class TrapItem(TrialRuleOptions):
    """Trap items in surveys: statements that are obviously true or false."""

    per_trial: int = Field(default=1, ge=1, le=5, description="How many in a trial.")
    max_failed: int = Field(default=1, ge=0, description="So many failures are allowed in a session that is used.")
    items: tuple[Statement, ...] = Field(default=(), description="The bank; our own in English when left out.")


class Repeat(TrialRuleOptions):
    """Repeats: the same item or stimulus again, with about the same answer."""

    items_per_trial: int = Field(default=0, ge=0, le=5, description="Items of a survey that come again in a trial.")
    per_session: int | None = Field(
        default=None, ge=0, le=50, description="Trials that come again; 3 when no items are repeated."
    )
    tolerance: float | None = Field(
        default=None, ge=0, description="How far apart two answers may be; a quarter of the scale when left out."
    )
    share: Share = Field(default=1 / 3, description="The session fails when more of at least 3 repeats disagree.")

    @property
    def trials(self) -> int:
        """Number of repeated trials in a session."""
        return (0 if self.items_per_trial else 3) if self.per_session is None else self.per_session


class Variance(RuleOptions):
    """Straight-lining: nearly the same answer throughout."""

    min: float = Field(default=0.15, ge=0, description="Least variance of the answers, as on five points.")
    share: Share = Field(default=0.5, description="So many pages with one answer only are straight-lining as well.")


class Ratio(TrialRuleOptions):
    """How long playing took, against how long it should take."""

    range: Annotated[tuple[float, float], Allowed("two numbers, such as [0.95, 1.15]")] = Field(
        default=(0.95, 1.15), description="Of a whole session."
    )
    trial: Annotated[tuple[float, float], Allowed("two numbers, such as [0.95, 1.5]")] = Field(
        default=(0.95, 1.5), description="Of one trial; outside, that trial alone is not used."
    )

    @model_validator(mode="after")
    def _grow(self) -> Ratio:
        raise_faults(
            [
                Fault(f"is {low:g}, {high:g}", "the lower number first", "", (key,))
                for key, (low, high) in (("range", self.range), ("trial", self.trial))
                if low >= high
            ]
        )
        return self


class Smooth(TrialRuleOptions):
    """Dropped frames and stalls: such a trial is not used."""

    dropped: Share = Field(default=0.1, description="Share of frames that may be dropped.")
    stall_s: float = Field(default=0.5, ge=0, description="Seconds that playing may stand still.")
    share: Share = Field(default=0.2, description="A session with a larger share of such trials fails.")


class Focus(TrialRuleOptions):
    """The window was left while something played: such a trial is not used."""

    share: Share = Field(default=0.2, description="A session with a larger share of such trials fails.")


class Speed(TrialRuleOptions):
    """Answered faster than people can. Never a reason not to pay."""

    click_s: float = Field(default=0.3, ge=0, description="Seconds that each click takes at least.")
    slider_s: float = Field(default=0.5, ge=0, description="Seconds that each slider takes at least.")
    judgement_s: float = Field(default=1.0, ge=0, description="Seconds a judgement that a session takes at least.")
    share: Share = Field(default=0.2, description="A session with a larger share of such trials fails.")


class Agreement(RuleOptions):
    """Agreement with the others: rank correlation with their mean, without one's own votes."""

    action: Literal["flag", "record"] = Field(default="record", description=_ACTION)
    min: float = Field(default=0.5, ge=-1, le=1, description="Least rank correlation.")
    stimuli: int = Field(default=10, ge=3, description="Fewer shared stimuli tell nothing.")
    warn: float = Field(default=0.75, ge=-1, le=1, description="A lower median over all raters is told in the report.")


class Consistency(RuleOptions):
    """Consistency: votes that scatter round those of the others much more than is usual among the raters."""

    z: float = Field(default=2.5, gt=0, description="So many robust standard deviations above the median are too many.")
    ratings: int = Field(default=8, ge=2, description="Fewer ratings of a person, over all sessions, tell nothing.")


class Postscreen(RuleOptions):
    """Post-screening (BS.1534): the hidden reference rated low, or an anchor rated high, too often."""

    hidden_reference: Annotated[tuple[float, Share], Allowed(_SHARES)] = Field(
        default=(90, 0.15), description="Rated below this value, on 0 to 100, in more than this share of the pages."
    )
    anchor: Annotated[tuple[float, Share], Allowed(_SHARES)] = Field(
        default=(90, 0.15), description="Rated above this value, on 0 to 100, in more than this share of the pages."
    )
    spare: Share = Field(
        default=0.25,
        description="Where more than this share of the people rate an anchor of a content so high, nobody is judged "
        "by it.",
    )


class Quota(RuleOptions):
    """How many sessions of one person count."""

    sessions: int = Field(default=1, ge=1, le=1000, description="Later ones are not used.")


class Checks(StudyPart):
    """Rules over what people do while they rate: each `true`, `false` or its options."""

    attention: Attention | bool = Field(default=False, description="Stimuli that ask for an answer, among the others.")
    trap: Trap | bool = Field(default=False, description="Trials of their own that ask for an answer.")
    gold: Gold | bool = Field(default=False, description="Trials whose right answer is known.")
    trap_item: TrapItem | bool = Field(default=False, description="Statements that are obviously true or false.")
    repeat: Repeat | bool = Field(default=False, description="Items or trials that come again.")
    variance: Variance | bool = Field(default=Variance(), description="Not nearly the same answer throughout.")
    ratio: Ratio | bool = Field(default=False, description="Playing took as long as it should.")
    smooth: Smooth | bool = Field(default=False, description="Playing was smooth.")
    focus: Focus | bool = Field(default=False, description="The window was not left while something played.")
    speed: Speed | bool = Field(default=False, description="Answers took time.")
    agreement: Agreement | bool = Field(default=False, description="Answers agree with those of the others.")
    consistency: Consistency | bool = Field(default=False, description="Answers do not scatter more than is usual.")
    postscreen: Postscreen | bool = Field(default=False, description="References and anchors are told apart.")
    quota: Quota | bool = Field(default=Quota(), description="One person counts once.")

    @field_validator("*", mode="after")
    @classmethod
    def _filled(cls, value: RuleOptions | bool, field: ValidationInfo) -> RuleOptions | bool:
        """Return the default options of a rule that is switched on by `true`."""
        return CHECKS[field.field_name or ""]() if value is True else value

    def rule(self, name: str) -> RuleOptions | None:
        """Return the options of a rule, defaults filled; None where it is switched off."""
        return getattr(self, name) or None


CHECKS: dict[str, type[RuleOptions]] = {
    "attention": Attention, "trap": Trap, "gold": Gold, "trap_item": TrapItem, "repeat": Repeat, "variance": Variance,
    "ratio": Ratio, "smooth": Smooth, "focus": Focus, "speed": Speed, "agreement": Agreement,
    "consistency": Consistency, "postscreen": Postscreen, "quota": Quota,
}  # fmt: skip
"""In the order of reports."""
PLANNED_RULES = ("attention", "trap", "gold", "trap_item", "repeat")
"""Rules that need something in the lists of a plan."""
