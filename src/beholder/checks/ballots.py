"""Rules against votes that are not somebody's own: `stuffing`, `copied` and `side_pattern`.

They read comparisons of two stimuli on a page, over all sessions of a person. None of them knows whether somebody is
honest: each says how unlikely such votes are, and holds the share of honest people among those it finds. So they are
only noted, shown in the report and on the board of an arena, and no vote is taken out unless the study says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from beholder.checks.contract import (
    NOT_MET,
    AnsweredTrial,
    ComparedRating,
    ComparedSession,
    RuleResult,
    SessionEvidence,
    SessionRule,
    Verdict,
)
from beholder.formats import listed, plain_count, plural
from beholder.study.checks import After
from beholder.types import UNRATED_ROLES, Json

if TYPE_CHECKING:
    from beholder.stats.ballots import Ballots

_COMPARED = ("choice", "diff")
FEWEST_PEOPLE = 10
"""What is usual cannot be told from fewer."""
SURE = 0.01
"""The p value, corrected for all conditions, from which on too many people gave one condition every vote."""


class VoteFinding(NamedTuple):
    """What was found of one person: q, and its numbers; `reason` where there are too few votes."""

    q: float | None
    reason: str = ""
    numbers: Mapping[str, Json] = {}


class BallotRule(SessionRule):
    """Base of the rules over votes: people are compared, and the share of honest ones among those found is held."""

    is_told_when_off: ClassVar[bool] = False
    threshold_model: ClassVar[tuple[str, str]] = ("UseVotes", "Thresholds of a rule over votes on two stimuli.")
    needs: ClassVar[str]
    """The reason of an unknown where somebody's votes are too few for it."""
    finds: ClassVar[str]
    """The reason of a failure."""

    class Options(SessionRule.Options):
        """A rule over votes on two stimuli."""

        action: Literal["flag", "record"] = Field(
            default="record", description="`flag`: silent, cleaning decides; `record`: only noted, and costs nothing."
        )
        false_share: Annotated[float, After()] = Field(
            default=0.05, gt=0, le=0.5, description="So many of those who are found may be honest people."
        )
        votes: Annotated[int, After("Fewer votes tell nothing.")] = Field(
            default=8, ge=4, description="Fewer votes tell nothing."
        )

    options: Options

    @classmethod
    def implied(cls, study: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return that an arena has it: anybody may come there, and come for a friend."""
        design = study.get("design")
        return {} if isinstance(design, Mapping) and design.get("arena") is not None else None

    def prepare(self, sessions: Sequence[ComparedSession]) -> Sequence[SessionEvidence]:
        """Return the evidence with what was found of each person, over all of their sessions."""
        found = self.find(sessions)
        return [
            replace(one.evidence, prepared={**one.evidence.prepared, self.name: found.get(one.participant)})
            for one in sessions
        ]

    def find(self, sessions: Sequence[ComparedSession]) -> Mapping[str, VoteFinding]:
        """Return what was found of each person who voted."""
        raise NotImplementedError

    def judge(self, evidence: SessionEvidence) -> Verdict:
        found = evidence.prepared.get(self.name)
        if not isinstance(found, VoteFinding):
            return self.verdict("unknown", NOT_MET, needed=self.options.false_share)
        if found.q is None:
            return self.verdict("unknown", found.reason, needed=self.options.false_share, **found.numbers)
        reason = self.finds if found.q <= self.options.false_share else ""
        return self.pass_or_fail(reason, measured=_rounded(found.q), needed=self.options.false_share, **found.numbers)


class Stuffing(BallotRule):
    """stuffing: nobody votes for one condition far more often than its strength and people's tastes explain."""

    name: ClassVar[str] = "stuffing"
    title: ClassVar[str] = "Votes for one condition"
    order: ClassVar[int] = 122
    compared: ClassVar[int | None] = 40
    compares_ratings: ClassVar[bool] = True
    summary: ClassVar[str] = "Votes do not all go to one condition."
    needs: ClassVar[str] = "too_few_votes"
    finds: ClassVar[str] = "favours"
    reasons: ClassVar[Mapping[str, str]] = {"favours": "Votes for one condition far more often than others explain"}

    class Options(BallotRule.Options):
        """Vote-stuffing: somebody votes for one condition far more often than its strength explains."""

        votes: Annotated[int, After("Fewer votes on a condition tell nothing.")] = Field(
            default=8, ge=4, description="Fewer votes of a person on a condition tell nothing."
        )

    options: Options

    def sentence(self) -> str:
        return (
            f"With {self.options.votes} votes or more on a condition, somebody gives it no more of them than its "
            "strength and the tastes of people explain (the share of honest people among those found is "
            f"{self.options.false_share:g} at most)."
        )

    def find(self, sessions: Sequence[ComparedSession]) -> Mapping[str, VoteFinding]:
        from beholder.stats.ballots import favours, unanimous

        people, conditions, votes = _votes(sessions, by_question=False)
        if len(people) < FEWEST_PEOPLE:
            return dict.fromkeys(people, VoteFinding(None, "too_few_people"))
        found = favours(votes, self.options.votes, self.options.false_share)
        groups = unanimous(found)
        friends = [place for place in range(len(conditions)) if groups.p[place] <= SURE]
        findings = {}
        for number, person in enumerate(people):
            most = int(found.q[number].argmin())
            every, won = found.votes[number], found.won[number]
            mine = [place for place in friends if every[place] == won[place] >= FEWEST_OF_FRIEND]
            together: dict[str, Json] = {
                conditions[place]: {
                    "people": int(groups.people[place]), "expected": round(float(groups.expected[place]), 1)
                }
                for place in mine
            }  # fmt: skip
            group: dict[str, Json] = {"unanimous": together} if together else {}
            if every.max() < self.options.votes:
                findings[person] = VoteFinding(None, self.needs, group)
                continue
            numbers: dict[str, Json] = {
                "condition": conditions[most],
                "votes": int(every[most]),
                "won": _rounded(float(won[most])),
                "expected": round(float(found.expected[number, most]), 1),
            }
            findings[person] = VoteFinding(float(found.q[number, most]), "", {**numbers, **group})
        return findings

    def account(self, results: Sequence[RuleResult]) -> dict[str, Json]:
        """Return in sentences who favours what: single people, and conditions with too many friends."""
        failed = [one.verdict for one in results if one.verdict.verdict == "fail"]
        by_condition: dict[str, int] = defaultdict(int)
        for verdict in failed:
            by_condition[str(verdict.evidence["condition"])] += 1
        sentences = []
        if failed:
            whom = listed([f"{name} ({count})" for name, count in sorted(by_condition.items())])
            sentences.append(
                f"{plain_count(len(failed), 'session')} voted for one condition far more often than its strength "
                f"explains: {whom}."
            )
        groups: dict[str, Any] = {}
        for one in results:
            together = one.verdict.evidence.get("unanimous")
            groups.update(together if isinstance(together, Mapping) else {})
        for name, numbers in sorted(groups.items()):
            sentences.append(
                f"{numbers['people']} people gave {name} every vote, {FEWEST_OF_FRIEND} or more each, where about "
                f"{numbers['expected']:g} would: its friends may have voted."
            )
        return {"found": " ".join(sentences)} if sentences else {}


FEWEST_OF_FRIEND = 3
"""Who gave a condition every vote gave it so many at least."""


class Copied(BallotRule):
    """copied: no two people vote alike on the same comparisons far more often than others do."""

    name: ClassVar[str] = "copied"
    title: ClassVar[str] = "Copied votes"
    order: ClassVar[int] = 124
    compared: ClassVar[int | None] = 41
    compares_ratings: ClassVar[bool] = True
    summary: ClassVar[str] = "Votes are not those of somebody else."
    needs: ClassVar[str] = "too_few_shared"
    finds: ClassVar[str] = "copied"
    reasons: ClassVar[Mapping[str, str]] = {"copied": "Votes on the same pairs are those of somebody else"}

    class Options(BallotRule.Options):
        """Copied votes: somebody votes on the same pairs just as somebody else does."""

        votes: Annotated[int, After("Fewer comparisons in common tell nothing.")] = Field(
            default=12, ge=4, description="Fewer comparisons that two people have in common tell nothing."
        )

    options: Options

    def sentence(self) -> str:
        return (
            f"With {self.options.votes} comparisons or more in common, no two people vote alike far more often than "
            "others do (the share of honest pairs among those found is "
            f"{self.options.false_share:g} at most)."
        )

    def find(self, sessions: Sequence[ComparedSession]) -> Mapping[str, VoteFinding]:
        from beholder.stats.ballots import copies

        people, _, votes = _votes(sessions, by_question=True)
        if len(people) < FEWEST_PEOPLE:
            return dict.fromkeys(people, VoteFinding(None, "too_few_people"))
        found = copies(votes, self.options.votes)
        findings = dict.fromkeys(people, VoteFinding(None, self.needs))
        for place in sorted(range(len(found.q)), key=lambda place: -found.q[place]):
            numbers: dict[str, Json] = {
                "shared": int(found.shared[place]),
                "alike": int(found.alike[place]),
                "expected": round(float(found.expected[place]), 1),
            }
            one, other = people[found.one[place]], people[found.other[place]]
            for person, twin in ((one, other), (other, one)):
                findings[person] = VoteFinding(float(found.q[place]), "", {"other": twin, **numbers})
        return findings

    def account(self, results: Sequence[RuleResult]) -> dict[str, Json]:
        """Return in a sentence how many sessions hold the votes of somebody else."""
        failed = sum(one.verdict.verdict == "fail" for one in results)
        if not failed:
            return {}
        return {
            "found": f"{plain_count(failed, 'session')} {plural(failed, 'holds', 'hold')} the same votes on the same "
            "pairs as that of somebody else, far more of them than others share."
        }


class SidePattern(BallotRule):
    """side_pattern: choices do not follow the side on which a stimulus stands, such as left, right, left, right."""

    name: ClassVar[str] = "side_pattern"
    title: ClassVar[str] = "Pattern of sides"
    order: ClassVar[int] = 126
    compared: ClassVar[int | None] = 42
    summary: ClassVar[str] = "Choices do not follow a pattern of sides."
    needs: ClassVar[str] = "too_few_votes"
    finds: ClassVar[str] = "by_side"
    reasons: ClassVar[Mapping[str, str]] = {"by_side": "Choices follow a pattern of sides, whatever is shown"}

    class Options(BallotRule.Options):
        """Choices by a pattern of sides: one side, or one that comes again after two to four pages."""

        votes: Annotated[int, After("Fewer choices tell nothing.")] = Field(
            default=12, ge=4, description="Fewer choices of a person tell nothing."
        )

    options: Options

    def sentence(self) -> str:
        return (
            f"With {self.options.votes} choices or more, they do not follow a pattern of sides that comes again after "
            "four pages or fewer (the share of honest people among those found is "
            f"{self.options.false_share:g} at most)."
        )

    def find(self, sessions: Sequence[ComparedSession]) -> Mapping[str, VoteFinding]:
        import numpy as np

        from beholder.stats.ballots import side_pattern
        from beholder.stats.tests import benjamini_hochberg

        sides: dict[str, list[Any]] = defaultdict(list)
        for one in sessions:
            chosen = [side for trial in one.evidence.trials if (side := _side(trial)) is not None]
            if chosen:
                sides[one.participant].append(np.array(chosen))
        every = [side for sessions_of in sides.values() for one in sessions_of for side in one]
        usual = 1 - fmean(every) if every else 0.5
        patterns = {person: side_pattern(own, usual) for person, own in sides.items()}
        enough = [person for person, pattern in patterns.items() if pattern.choices >= self.options.votes]
        q = dict(zip(enough, benjamini_hochberg([patterns[person].p for person in enough]), strict=True))
        findings = {}
        for person, pattern in patterns.items():
            if person not in q:
                findings[person] = VoteFinding(None, self.needs, {"choices": pattern.choices})
                continue
            numbers: dict[str, Json] = {
                "choices": pattern.choices, "share": round(pattern.share, 3), "every": pattern.lag
            }  # fmt: skip
            findings[person] = VoteFinding(float(q[person]), "", numbers)
        return findings


def _votes(sessions: Sequence[ComparedSession], *, by_question: bool) -> tuple[list[str], list[str], Ballots]:
    """Return the people, the conditions and the votes on pages with two stimuli of different conditions.

    Several questions on one page are one vote, their mean, as they are not independent; `by_question`: one each.
    """
    import numpy as np

    from beholder.stats.ballots import Ballots

    people: dict[str, int] = {}
    conditions: dict[str, int] = {}
    tasks: dict[tuple[str, ...], int] = {}
    rows: list[tuple[int, int, int, int, float]] = []
    for one in sessions:
        for (first, second, pair), wins in _wins(one.ratings).items():
            votes = wins.items() if by_question else [("", fmean(wins.values()))]
            for question, won in votes:
                numbers = (
                    people.setdefault(one.participant, len(people)),
                    conditions.setdefault(first, len(conditions)),
                    conditions.setdefault(second, len(conditions)),
                    tasks.setdefault((*pair[1:], question), len(tasks)),
                )
                rows.append((*numbers, won))
    voter, above, below, task = (np.array([row[place] for row in rows], np.intp) for place in range(4))
    share = np.array([row[4] for row in rows], float)
    return [*people], [*conditions], Ballots(voter, above, below, task, share, len(people), len(conditions))


def _wins(ratings: Iterable[ComparedRating]) -> Mapping[tuple[str, str, tuple[str, str, str]], Mapping[str, float]]:
    """Return for each page with two stimuli, and by question, whether the first won, in the order of their names."""
    wins: dict[tuple[str, str, tuple[str, str, str]], dict[str, float]] = defaultdict(dict)
    pages: dict[str, set[str]] = defaultdict(set)
    for one in ratings:
        if not one.use or one.kind not in _COMPARED or one.value is None or one.other_stimulus is None:
            continue
        if one.other_condition is None or one.condition == one.other_condition:
            continue
        sides = [(one.stimulus, one.condition), (one.other_stimulus, one.other_condition)]
        won = 0.5 * (1 + (one.value > 0) - (one.value < 0))
        if sides[1] < sides[0]:
            sides, won = sides[::-1], 1 - won
        (stimulus, condition), (other, other_condition) = sides
        wins[condition, other_condition, (one.trial, stimulus, other)][one.question] = won
        pages[one.trial] |= {stimulus, other}
    return {key: won for key, won in wins.items() if len(pages[key[2][0]]) == 2}


def _side(answered: AnsweredTrial) -> int | None:
    """Return which of the two places of a page was chosen; None where neither was, or there are not two."""
    places = [slot.id for slot in answered.trial.slots if slot.role not in UNRATED_ROLES]
    if len(places) != 2:
        return None
    for one in answered.judgements:
        if one.kind in _COMPARED and one.value and one.slot in places and one.other_slot in places:
            chosen = one.slot if one.value > 0 else one.other_slot
            return places.index(str(chosen))
    return None


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
