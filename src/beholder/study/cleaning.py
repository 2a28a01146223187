"""Cleaning afterwards: by which thresholds sessions are judged, whom a rater rule leaves out, and who gets a bonus.

Nothing here changes what participants meet, and nothing of it is in the plan: it may change after the last answer.
"""

from __future__ import annotations

from pydantic import Field, field_validator, model_validator

from beholder.study.checks import CHECKS, PLACED, Asking, Checks, Rule, Share
from beholder.study.fault import Fault, raise_faults
from beholder.study.money import Money, money
from beholder.study.part import Part, Text
from beholder.study.presets import CleanPreset
from beholder.study.thresholds import Thresholds, Use


class AcceptAsking(Part):
    """From how many failures on we propose not to pay."""

    max_failed: int = Field(default=1, ge=0, description="With more failures than this, not to pay is proposed.")


class Accept(Part):
    """Failures for which we propose not to pay: only of stimuli that said themselves which answer to give."""

    attention: AcceptAsking | None = Field(default=None, description="Attention checks; as in `checks` when left out.")
    trap: AcceptAsking | None = Field(default=None, description="Trapping clips; as in `checks` when left out.")


class Rater(Part):
    """Whom to leave out as a whole: somebody of whose sessions too few are used."""

    min_used: Share = Field(default=0.6, description="With a smaller share of sessions in use, none of them is used.")
    least: int = Field(default=1, ge=0, description="Nor with fewer sessions in use than this.")
    sessions: int = Field(default=2, ge=1, description="Whoever finished fewer sessions is not looked at.")
    report_below: Share = Field(default=0.2, description="A smaller share is told in the account.")
    report_from: int = Field(default=5, ge=1, description="And that only of whoever finished so many sessions.")


class Quantity(Part):
    """For those who stayed: from so many accepted sessions on, an amount for each of them."""

    sessions: int = Field(ge=1, description="From this many accepted sessions on.")
    each: Money = Field(description="For each accepted session, such as `0.10 GBP`.")


class Quality(Part):
    """For the best: an amount for each accepted session of those who agree most with the others."""

    best: float = Field(gt=0, le=100, description="This many in a hundred of those who have enough sessions.")
    each: Money = Field(description="For each accepted session, such as `0.15 GBP`.")
    sessions: int | None = Field(
        default=None, ge=1, description="Accepted sessions that it takes; those of `quantity` when left out, else 1."
    )
    min_agreement: float = Field(default=0.7, ge=-1, le=1, description="Least rank correlation with the others.")


class Bonus(Part):
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


class Clean(Part):
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
        """Return the options of a rule that is switched on by `true`, so that whoever looks sees them."""
        return Rater() if value is True else value

    @property
    def raters(self) -> Rater | None:
        """The rule over raters; None where it is switched off."""
        return self.rater if isinstance(self.rater, Rater) else None

    def rules(self, checks: Checks) -> Checks:
        """Return the rules of a study as cleaning judges by them. A rule that puts nothing into lists may be new."""
        return checks.model_copy(update={name: self._rule(name, checks.rule(name)) or False for name in CHECKS})

    def _rule(self, name: str, rule: Rule | None) -> Rule | None:
        used = getattr(self.use, name)
        if name in self.without or used is False:
            return None
        if rule is None and used and name not in PLACED:
            rule = CHECKS[name]()
        if rule is not None and isinstance(used, Thresholds):
            rule = used.over(rule)
        accepted = getattr(self.accept, name, None)
        if isinstance(rule, Asking) and accepted is not None:
            rule = rule.model_copy(update={"reject_after": accepted.max_failed + 1})
        return rule
