"""Cleaning and analysis: thresholds, the rule over raters, bonuses, contrasts and the correction of tests.

Nothing here changes what participants meet or the plan: it may change after the last answer.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from beholder.study.checks import Checks, MadePart, RuleKind, RuleOptions, Share, Thresholds, Use, make_part, use_model
from beholder.study.parts import Fault, Slug, StudyPart, Text, raise_faults
from beholder.study.presets import CleanPreset
from beholder.study.recruitment import Money, money
from beholder.study.value_kinds import Allowed


class AcceptAsking(StudyPart):
    """From how many failures on we propose not to pay."""

    max_failed: int = Field(default=1, ge=0, description="With more failures than this, not to pay is proposed.")


class Accept(MadePart):
    """Failures for which we propose not to pay: only of stimuli that said themselves which answer to give."""


@lru_cache(maxsize=32)
def accept_model(kinds: tuple[type[RuleKind], ...]) -> type[Accept]:
    """Return `clean.accept` with a key for each rule that may cost the pay."""
    fields: dict[str, Any] = {
        kind.name: (
            AcceptAsking | None, Field(default=None, description=f"{kind.title}; as in `checks` when left out."),
        )
        for kind in kinds
        if kind.asks_itself
    }  # fmt: skip
    model: type[Accept] = make_part(Accept, accept_model, (kinds,), **fields)
    return model


class Rater(StudyPart):
    """Whom to leave out as a whole: somebody of whose sessions too few are used."""

    min_used: Share = Field(default=0.6, description="With a smaller share of sessions in use, none of them is used.")
    least: int = Field(default=1, ge=0, description="Nor with fewer sessions in use than this.")
    sessions: int = Field(default=2, ge=1, description="Whoever finished fewer sessions is not looked at.")
    report_below: Share = Field(default=0.2, description="A smaller share is told in the account.")
    report_from: int = Field(default=5, ge=1, description="And that only of whoever finished so many sessions.")


class Quantity(StudyPart):
    """For those who stayed: from so many accepted sessions on, an amount for each of them."""

    sessions: int = Field(ge=1, description="From this many accepted sessions on.")
    each: Money = Field(description="For each accepted session, such as `0.10 GBP`.")


class Quality(StudyPart):
    """For the best: an amount for each accepted session of those who agree most with the others."""

    best: float = Field(gt=0, le=100, description="This many in a hundred of those who have enough sessions.")
    each: Money = Field(description="For each accepted session, such as `0.15 GBP`.")
    sessions: int | None = Field(
        default=None, ge=1, description="Accepted sessions that it takes; those of `quantity` when left out, else 1."
    )
    min_agreement: float = Field(default=0.7, ge=-1, le=1, description="Least rank correlation with the others.")


class Bonus(StudyPart):
    """Who is paid more than was promised (P.910)."""

    quantity: Quantity | None = Field(default=None, description="For those who stayed.")
    quality: Quality | None = Field(default=None, description="For the best.")

    @model_validator(mode="after")
    def _one_currency(self) -> Bonus:
        if self.quantity is None and self.quality is None:
            raise_faults([Fault("names neither quantity nor quality", "one of the two, or both")])
        if self.quantity is not None and self.quality is not None:
            paid, other = money(self.quality.each).currency, money(self.quantity.each).currency
            if paid != other:
                what = f"is in {paid}, and that of quantity in {other}"
                raise_faults([Fault(what, "one currency", "", ("quality", "each"))])
        return self


class Clean(MadePart):
    """How sessions are judged afterwards. It may change at any time; `beholder clean` judges again."""

    preset: CleanPreset | None = Field(
        default=None,
        description="Fills thresholds that are written neither here nor in `checks`; that of the study when left out.",
    )
    accept: Accept = Field(default=Accept(), description="Failures for which we propose not to pay.")
    use: Use = Field(default=Use(), description="By which thresholds a session is used.")
    without: tuple[Text, ...] = Field(default=(), description="Rules by which nobody is judged.")
    rater: Rater | bool = Field(default=False, description="Leave out whoever has too few sessions in use.")
    outliers: bool = Field(
        default=False, description="Leave out votes further than 1.5 quartile ranges from the others on a stimulus."
    )
    bonus: Bonus | None = Field(default=None, description="Who is paid more than was promised.")

    @field_validator("rater", mode="after")
    @classmethod
    def _filled(cls, value: Rater | bool) -> Rater | bool:
        """Return the default options of a rule that is switched on by `true`."""
        return Rater() if value is True else value

    @property
    def raters(self) -> Rater | None:
        """The rule over raters; None where it is switched off."""
        return self.rater if isinstance(self.rater, Rater) else None

    def rules(self, checks: Checks) -> Checks:
        """Return the rules by which cleaning judges. A rule that needs nothing in the lists may be added here."""
        judged = {kind.name: self._rule(kind, checks.rule(kind.name)) or False for kind in checks.kinds}
        return checks.model_copy(update=judged)

    def _rule(self, kind: type[RuleKind], options: RuleOptions | None) -> RuleOptions | None:
        used = getattr(self.use, kind.name, None)
        if kind.name in self.without or used is False:
            return None
        if options is None and used and not kind.is_planned:
            options = kind.Options()
        if options is not None and isinstance(used, Thresholds):
            options = options.judged_by(used.written)
        accepted = getattr(self.accept, kind.name, None)
        if options is not None and isinstance(accepted, AcceptAsking):
            options = options.model_copy(update={"reject_after": accepted.max_failed + 1})
        return options


@lru_cache(maxsize=32)
def clean_model(kinds: tuple[type[RuleKind], ...]) -> type[Clean]:
    """Return `clean` with thresholds for each rule."""
    accept, use = accept_model(kinds), use_model(kinds)
    model: type[Clean] = make_part(
        Clean,
        clean_model,
        (kinds,),
        accept=(accept, Field(default=accept(), description=Clean.model_fields["accept"].description)),
        use=(use, Field(default=use(), description=Clean.model_fields["use"].description)),
    )
    return model


# Analysis

Contrast = Annotated[tuple[Text, Text], Allowed("two conditions, such as [ours, baseline]")]
_Distance = Annotated[float, Field(gt=0)]
Margin = Annotated[
    _Distance | dict[Slug, _Distance] | None, Allowed("a number above 0, or a map from question to number")
]


class MarkAnalysis(StudyPart):
    """How time marks are analysed. Times are in seconds."""

    tolerance: float = Field(
        default=0.5, gt=0, le=10, description="Marks of two people no further apart than twice this overlap."
    )
    bandwidth: float = Field(
        default=0.3, gt=0, le=10, description="Standard deviation of the Gaussian kernel of the density."
    )
    lag: float = Field(
        default=0.0,
        ge=0,
        le=5,
        description="Taken off every mark before densities and agreement: how long people take to react.",
    )


class Analyse(StudyPart):
    """What is asked of the ratings."""

    contrasts: tuple[Contrast, ...] = Field(
        default=(),
        description="Pairs of conditions that the study is about, first minus second: only they are corrected for and "
        "called clear. All pairs when left out, but for anchors and the hidden reference of MUSHRA and SAMVIQ.",
    )
    family: Literal["question", "study"] = Field(
        default="question", description="Tests are corrected (Holm) within each `question`, or over the whole `study`."
    )
    claim: Literal["beyond", "these"] = Field(
        default="beyond",
        description="What counts as clear: what holds `beyond` these contents, for others like them, or on `these` "
        "contents, for other people. Both are told.",
    )
    margin: Margin = Field(
        default=None,
        description="The largest difference that does not matter, in points of the scale (of choices: in preference, 0 "
        "to 1), of every question or by question. With it every contrast is also tested for equivalence and for not "
        "being worse.",
    )
    crush: Literal["none", "crush", "clip"] = Field(
        default="none",
        description="Where `acr-hr` gives more than the best grade, as someone prefers it to its reference: `none` "
        "leaves it, `crush` draws it in (P.910), `clip` cuts it off.",
    )
    dmos: Text | None = Field(
        default=None,
        description="The condition that holds the originals, such as `natural`, where `acr` has them among the others: "
        "every other condition also gets a DMOS against it, in all results. `acr-hr` has it without being asked.",
    )

    marks: MarkAnalysis | None = Field(
        default=None, description="How time marks are analysed (`options.marks`); with the values below when left out."
    )

    def margin_of(self, question: str) -> float | None:
        """Return the margin of a question; None where it has none."""
        return self.margin.get(question) if isinstance(self.margin, dict) else self.margin

    @model_validator(mode="after")
    def _contrasts_are_two_and_once(self) -> Analyse:
        faults, first = [], dict[frozenset[str], int]()
        for place, pair in enumerate(self.contrasts):
            both = frozenset(pair)
            if len(both) == 1:
                what = f"holds {pair[0]} against itself"
                faults.append(Fault(what, "two conditions", "Name another one, or take it out.", ("contrasts", place)))
            elif both in first:
                what = f"holds {pair[0]} against {pair[1]}, as does contrasts.{first[both]}"
                faults.append(Fault(what, "every pair once", "Take one out.", ("contrasts", place)))
            first.setdefault(both, place)
        raise_faults(faults)
        return self
