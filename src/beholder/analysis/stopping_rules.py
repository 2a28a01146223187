"""Stopping rules: whether a study has found out what it asks at a look, or can no longer (`design.stop`).

The rules look at the table of pairs, whose intervals and p-values hold for all looks together (stats.sequential), and
at the claim of the study: beyond these contents, or on them. A study may always go on where a rule says stop: what is
found stays as sure. The budget is left to whoever knows what people cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from beholder.analysis.result import records
from beholder.analysis.tests import ALPHA, UNNAMED, Claim
from beholder.formats import listed, nonzero_percent, plain, plain_count, plural, precise_percent
from beholder.stats.sequential import Floats, LookCorrection, conditional_power, planned_look
from beholder.study.design import Design

Reason = Literal["", "decided", "precise", "futile", "last"]

CLAIM_WORDS: Mapping[Claim, str] = {"beyond": "beyond these contents", "these": "on these contents"}
"""What a study claims, as it is read."""

_COLUMNS: Mapping[Claim, tuple[str, str, str]] = {
    "beyond": ("ci_low", "ci_high", "p_holm"),
    "these": ("these_low", "these_high", "these_p_holm"),
}
"""Interval and corrected p-value of each claim in the table of pairs."""
_NOT_ASKED = (UNNAMED, "anchor: ", "hidden reference: ")
"""What is noted of a pair that the study is not about."""


_DECIMALS = 9
"""Widths that are equal on paper may differ in the last bits."""


class LookContrasts(NamedTuple):
    """The contrasts that a study is about, as they look now: a row for each of several studies of one design."""

    difference: Floats
    reach: Floats
    """How far the interval reaches to the side on which it reaches further."""
    se: Floats
    people_share: Floats
    """How much of the squared error is of people, and falls with their number."""
    p: Floats
    """Corrected for looks and for the number of contrasts; NaN where there is no test."""


def stop_reasons(found: LookContrasts, look: LookCorrection, design: Design) -> NDArray[np.str_]:
    """Return for each study why it stops at this look; nothing where it goes on."""
    stop, none = design.stop, np.zeros(len(found.p), bool)
    is_asked = found.p.shape[1] > 0
    clear = found.p < ALPHA
    decided = {"all": clear.all(axis=1), "any": clear.any(axis=1), "none": none}[stop.decided]
    precise = none if stop.precision is None else (found.reach.round(_DECIMALS) <= stop.precision).all(axis=1)
    futile = none if stop.futility is None else best_chances(found, look, design) < stop.futility
    last = np.full(len(found.p), look.is_last)
    reasons: list[Reason] = ["decided", "precise", "last", "futile"]
    return np.select([decided & is_asked, precise & is_asked, last, futile], reasons, "")


def best_chances(found: LookContrasts, look: LookCorrection, design: Design) -> Floats:
    """Return for each study the best chance that any contrast that is not clear will be so at the last look.

    As strict as Holm's correction is with the smallest p-value of those that are left; NaN where none is tested.
    """
    is_left = ~(found.p < ALPHA) & ~np.isnan(found.p)
    left = np.maximum(1, is_left.sum(axis=1, keepdims=True))
    level = 1 - (1 - planned_look(look.planned, design.looks).level) / left
    there, se = min(1.0, look.participants / look.planned), np.where(is_left, found.se, 1.0)
    stays = (1 - np.where(is_left, found.people_share, 1.0)) * se**2
    chances = conditional_power(np.where(is_left, found.difference, 0.0), se, there, shared=stays, level=level)
    return np.where(is_left.any(axis=1), np.where(is_left, chances, 0.0).max(axis=1, initial=0.0), np.nan)


# One study


class StopDecision(NamedTuple):
    """Whether a study stops at a look, and why."""

    reason: Reason
    """Empty where it goes on."""
    words: str
    """Why, as the rest of a sentence: `all 3 contrasts are clear beyond these contents`."""

    @property
    def stops(self) -> bool:
        """Whether it stops."""
        return bool(self.reason)


def stop_decision(pairs: pd.DataFrame, look: LookCorrection, design: Design, claim: Claim) -> StopDecision:
    """Return whether a study with this table of pairs stops at this look."""
    is_asked = np.array([not any(why in note for why in _NOT_ASKED) for note in pairs["note"]], bool)
    asked = pairs[is_asked]
    found = _look_contrasts(asked, claim)
    reason = cast("Reason", str(stop_reasons(found, look, design)[0]))
    words = _clear_words(asked, found, claim)
    if reason == "precise":
        reach = plain(round(float(found.reach.max()), 3))
        words = f"no interval reaches further than {reach} to either side, and {plain(design.stop.precision or 0)} is "
        words += "asked for"
    elif reason == "last":
        words = f"it is the last one; {words}"
    elif reason == "futile":
        chance = nonzero_percent(float(best_chances(found, look, design)[0]))
        words = f"the chance that anything more is clear with {look.planned} people is {chance} at best; {words}"
    return StopDecision(reason, words)


def _look_contrasts(asked: pd.DataFrame, claim: Claim) -> LookContrasts:
    low, high, p = (asked[name].to_numpy(float) for name in _COLUMNS[claim])
    width, these_width = (
        asked[upper].to_numpy(float) - asked[lower].to_numpy(float) for lower, upper, _ in _COLUMNS.values()
    )
    # The table has one standard error; widths tell how large that of the other claim is.
    ratio = np.where(width > 0, np.minimum(1.0, these_width / np.where(width > 0, width, 1.0)), 1.0)
    difference, se = asked["mean_difference"].to_numpy(float), asked["se"].to_numpy(float)
    reach = np.maximum(high - difference, difference - low)
    mine = (se, ratio**2) if claim == "beyond" else (se * ratio, np.ones_like(se))
    return LookContrasts(*(column[np.newaxis] for column in (difference, reach, *mine, p)))


def _clear_words(asked: pd.DataFrame, found: LookContrasts, claim: Claim) -> str:
    """Return how many contrasts are clear."""
    total, clear = len(asked), int((found.p < ALPHA).sum())
    if not total:
        return "no contrast is asked about"
    # One content says nothing of others, whatever is claimed.
    where = CLAIM_WORDS[claim] if asked["contents"].max() > 1 else "on this content"
    if total == 1:
        one = records(asked)[0]
        return f"{one['condition']} − {one['other_condition']} is {'' if clear else 'not '}clear {where}"
    if clear in (0, total):
        return f"{'all' if clear else 'none of'} {total} contrasts {plural(clear or 1, 'is', 'are')} clear {where}"
    return f"{clear} of {total} contrasts {plural(clear, 'is', 'are')} clear {where}"


# What the notes of an analysis say of its look


def look_note(pairs: pd.DataFrame, look: LookCorrection, design: Design, claim: Claim) -> dict[str, Any]:
    """Return the look at which an analysis is, as JSON."""
    note: dict[str, Any] = {
        "kind": look.kind,
        "participants": look.participants,
        "planned": look.planned,
        "level": look.level,
        "citation": look.citation,
    }
    if look.kind != "planned":
        return note
    decision = stop_decision(pairs, look, design, claim)
    words = look_words(look, decision)
    return note | {
        "number": look.number, "looks": look.looks, "is_last": look.is_last, "stops": decision.stops,
        "reason": decision.reason, "words": words, "rule": rule_words(design, claim),
    }  # fmt: skip


def rule_words(design: Design, claim: Claim) -> str:
    """Return when a study was to stop, as the rest of a sentence in the past; nothing where nothing would stop it."""
    stop, where = design.stop, CLAIM_WORDS[claim]
    which = {"all": "all contrasts were", "any": "any contrast was"}
    rules = [f"{which[stop.decided]} clear {where}"] if stop.decided in which else []
    if stop.precision is not None:
        rules.append(f"no interval of a contrast reached further than {plain(stop.precision)} to either side")
    if stop.futility is not None:
        rules.append(f"the chance that any further contrast would be clear was below {precise_percent(stop.futility)}")
    if stop.budget is not None:
        rules.append(f"more people would have cost more than {stop.budget}")
    return listed(rules)


def look_words(look: LookCorrection, decision: StopDecision) -> str:
    """Return a sentence on a look: `Look 2 of 3, 40 people: it stops, as all 3 contrasts are clear …`."""
    people, does = plain_count(look.participants, "person", "people"), "stops" if decision.stops else "goes on"
    return f"Look {look.number} of {look.looks}, {people}: it {does}, as {decision.words}."
