"""The tables of a board: conditions, pairs, history, slices, covariates, and every vote."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from beholder.analysis.comparisons import BRADLEY_TERRY
from beholder.analysis.result import Result
from beholder.analysis.tests import Claim
from beholder.checks.ballots import BallotRule
from beholder.leaderboard.coverage import Coverage, coverage
from beholder.leaderboard.fit import fit, founders
from beholder.leaderboard.ranks import MINIMUM_PEOPLE, Standings, standings
from beholder.leaderboard.robustness import (
    REMOVAL_CITATION,
    Covariate,
    DrawWeights,
    Removal,
    covariates,
    draw_weights,
    fewest_people,
    numbers_of,
    rater_weighted,
)
from beholder.leaderboard.suspicion import Suspicion, suspicion
from beholder.leaderboard.votes import DRAW, Votes
from beholder.stats.clustered import CITATION as CLUSTERED
from beholder.stats.clustered import Floats
from beholder.stats.sequential import ANYTIME_CITATION, CLOCK_CITATION
from beholder.stats.simultaneous import E_BH_CITATION, RANK_CITATION
from beholder.stats.tests import FALSE_DISCOVERY_CITATION

POSITION_CITATION = "Davidson and Beaver (1977), Biometrics 33"
_MOST_LOOKS, _LOOKS_OF_MANY = 24, 10
_MANY = 40
"""Conditions from which on the history has fewer points."""
_MOST_LEVELS = 12
"""Of a factor that is shown slice by slice."""


@dataclass(frozen=True)
class HistoryPoint:
    """Where all stood when so many people had voted."""

    people: int
    votes: int
    at: np.datetime64
    standing: Standings


@dataclass(frozen=True)
class Slice:
    """Where all stand by the votes on stimuli of one level of a factor."""

    factor: str
    level: str
    votes: int
    people: int
    standing: Standings | None
    """None below the least number of people."""


@dataclass(frozen=True)
class Board:
    """Everything that is known of an arena at one moment."""

    votes: Votes
    claim: Claim
    minimum: int
    founders: int
    now: Standings | None
    """None without votes."""
    here: Standings | None
    """Where all stand on these contents alone; None where `now` says no more, or there is only one content."""
    coverage: Coverage | None
    rater_weighted: Floats
    """The strengths where people weigh by how well they agree with the others."""
    drawn: DrawWeights | None
    draw_weighted: Floats | None
    removal: Removal | None
    suspicion: Suspicion | None
    covariates: tuple[Covariate, ...]
    looks: tuple[HistoryPoint, ...]
    slices: tuple[Slice, ...]

    @property
    def has_ranks(self) -> bool:
        """Whether at least two conditions have a rank."""
        return self.now is not None and int(self.now.is_ranked.sum()) > 1

    @property
    def updated_at(self) -> str:
        """When the last vote was given, in UTC; empty where that is unknown."""
        known = self.votes.at[~np.isnat(self.votes.at)]
        return f"{str(known.max())[:16].replace('T', ' ')} UTC" if len(known) else ""


def board_of(
    votes: Votes,
    *,
    claim: Claim = "beyond",
    minimum: int = MINIMUM_PEOPLE,
    rules: Mapping[str, BallotRule] | None = None,
) -> Board:
    """Return everything that is known from these votes; `rules` are those of the study over votes, by name."""
    start = max(2, founders(votes, minimum)) if votes.size else 0
    if not votes.size:
        return Board(votes, claim, minimum, 0, None, None, None, np.zeros(0), None, None, None, None, (), (), ())
    plain = fit(votes, start=start)
    now = standings(plain, claim=claim, founders=start, minimum=minimum)
    drawn = draw_weights(votes, start)
    here = None
    if claim == "beyond" and len(np.unique(votes.content)) > 1:
        here = standings(plain, claim="these", founders=start, minimum=minimum)
    return Board(
        votes, claim, minimum, start, now, here, coverage(now, drawn), rater_weighted(plain, start).strength, drawn,
        None if drawn is None else fit(votes, start=start, weight=drawn.weight, near=plain).strength,
        fewest_people(now, start), suspicion(votes, start, rules), tuple(covariates(now, start, claim, minimum)),
        tuple(_looks(now, start, claim, minimum)), tuple(_slices(votes, start, claim, minimum)),
    )  # fmt: skip


def _looks(now: Standings, start: int, claim: Claim, minimum: int) -> Iterator[HistoryPoint]:
    """Yield where all stood at moments that lie evenly between the least number of people and now."""
    votes = now.fit.votes
    total, near = len(votes.people), now.fit
    most = _MOST_LOOKS if len(votes.conditions) <= _MANY else _LOOKS_OF_MANY
    if total < minimum:
        return
    for people in np.unique(np.linspace(minimum, total, most).round().astype(int)).tolist():
        then = votes.of_first(people) if people < total else votes
        near = fit(then, start=start, near=near)
        there = now if people == total else standings(near, claim=claim, founders=start, minimum=minimum)
        yield HistoryPoint(people, then.size, then.at[-1], there)


def _slices(votes: Votes, start: int, claim: Claim, minimum: int) -> Iterator[Slice]:
    """Yield the slices of every factor whose levels are few, and the same for the two of a pair."""
    for name, (one, other) in votes.factors.items():
        is_same = (one == other) & np.array([str(cell) not in ("", "nan", "None") for cell in one])
        levels = sorted({str(level) for level in one[is_same]})
        numbers = numbers_of(np.array(levels, object))
        if np.isfinite(numbers).all():
            levels = [levels[at] for at in np.argsort(numbers)]
        if not 2 <= len(levels) <= _MOST_LEVELS or is_same.mean() < 0.5:
            continue
        for level in levels:
            mine = votes.rows(is_same & (one.astype(str) == level))
            people = len(np.unique(mine.person))
            there = None
            if people >= minimum:
                there = standings(fit(mine, start=start), claim=claim, founders=start, minimum=minimum)
            yield Slice(name, level, mine.size, people, there)


# Tables


_SEQUENCE = (
    "low and high are the ends of a 95 % confidence sequence, which holds at every look, people being the units: "
    "nobody has to say beforehand when results are looked at."
)


def tables(board: Board) -> Mapping[str, Result]:
    """Return every table of the board by the name of its file."""
    results = {"conditions": _conditions(board)}
    if board.now is not None:
        results |= {"pairs": _pairs(board, board.now), "history": _history(board)}
    if board.slices:
        results["slices"] = _slice_table(board)
    if board.covariates:
        results["covariates"] = _covariates(board)
    return results | {"votes": vote_table(board.votes, board.suspicion)}


def citations(board: Board) -> Sequence[str]:
    """Return what the methods of the board rest on."""
    now = board.now
    some = [BRADLEY_TERRY.citation]
    if now is not None and now.fit.has_ties:
        some.append(BRADLEY_TERRY.ties_citation)
    if now is not None and "position" in now.fit.effects:
        some.append(POSITION_CITATION)
    return [
        *some,
        CLUSTERED,
        ANYTIME_CITATION,
        CLOCK_CITATION,
        E_BH_CITATION,
        RANK_CITATION,
        REMOVAL_CITATION,
        FALSE_DISCOVERY_CITATION,
    ]


def _conditions(board: Board) -> Result:
    votes, now = board.votes, board.now
    rows: list[dict[str, Any]] = []
    for at in now.order if now is not None else range(len(votes.conditions)):
        name = votes.conditions[at]
        row: dict[str, Any] = {
            "condition": name, "label": votes.name[at], "is_retired": name in votes.retired, "is_ranked": False,
            "best_rank": None, "worst_rank": None, "strength": math.nan, "low": math.nan, "high": math.nan,
            "rater_weighted": math.nan, "draw_weighted": math.nan, "people": 0, "votes": 0, "effective_votes": 0.0,
            "opponents": 0, "first_vote_at": "", "these_best_rank": None, "these_worst_rank": None,
            "these_low": math.nan, "these_high": math.nan,
        }  # fmt: skip
        if now is not None and board.coverage is not None:
            mine = (votes.one == at) | (votes.other == at)
            row |= {
                "is_ranked": bool(now.is_ranked[at]),
                **_ranks(now, at),
                "strength": float(now.fit.strength[at]), "low": float(now.low[at]), "high": float(now.high[at]),
                "rater_weighted": float(board.rater_weighted[at]),
                "draw_weighted": math.nan if board.draw_weighted is None else float(board.draw_weighted[at]),
                "people": int(now.people[at]), "votes": int(mine.sum()),
                "effective_votes": round(float(now.effective_votes[at]), 1),
                "opponents": int(board.coverage.opponents[at]),
                "first_vote_at": _day(votes.at[mine].min()) if mine.any() else "",
            }  # fmt: skip
            here = board.here or now
            row |= {f"these_{key}": rank for key, rank in _ranks(here, at).items()}
            row |= {"these_low": float(here.low[at]), "these_high": float(here.high[at])}
        rows.append(row)
    ranks = ("best_rank", "worst_rank", "these_best_rank", "these_worst_rank")
    table = pd.DataFrame(rows).astype(dict.fromkeys(ranks, "Int64"))
    note = (
        "Strengths in logits; zero is the mean of the conditions that were there from the start, so that one that "
        f"joins moves nobody. {_SEQUENCE} best_rank and worst_rank: every rank that is left to it when all differences "
        "are held against their simultaneous sequences, so that all sets hold at once, at every look. rater_weighted: "
        "people weigh by how well they agree with the others; draw_weighted: votes weigh as if all pairs had been "
        "drawn equally often. effective_votes: so many independent votes would tell as much. these_: on these contents "
        "alone, whatever others may show."
    )
    return Result(table, note, "; ".join(citations(board)))


def _ranks(there: Standings, at: int) -> dict[str, int | None]:
    return {"best_rank": int(there.ranks.best[at]) or None, "worst_rank": int(there.ranks.worst[at]) or None}


def _pairs(board: Board, now: Standings) -> Result:
    votes, mine, met = board.votes, now.differences, board.votes.met()
    here = (board.here or now).differences
    order = [at for at in now.order if now.fit.votes.votes_of()[at]]
    rows = []
    for place, one in enumerate(order):
        for other in order[place + 1 :]:
            difference = float(mine.difference[one, other])
            is_one = now.fit.graph.component[one] == now.fit.graph.component[other]
            rows.append(
                {
                    "condition": votes.conditions[one], "other_condition": votes.conditions[other],
                    "votes": int(met[one, other]),
                    "difference": difference if is_one else math.nan, "se": float(mine.se[one, other]),
                    "low": float(mine.low[one, other]), "high": float(mine.high[one, other]),
                    "win_probability": float(expit(difference)) if is_one else math.nan,
                    "win_low": float(expit(mine.low[one, other])), "win_high": float(expit(mine.high[one, other])),
                    "simultaneous_low": float(mine.sure_low[one, other]),
                    "simultaneous_high": float(mine.sure_high[one, other]),
                    "log_e": float(mine.log_e[one, other]),
                    "is_found": bool(mine.is_found[one, other] or mine.is_found[other, one]),
                    "these_low": float(here.low[one, other]), "these_high": float(here.high[one, other]),
                    "these_is_found": bool(here.is_found[one, other] or here.is_found[other, one]),
                }
            )  # fmt: skip
    names = (
        "condition", "other_condition", "votes", "difference", "se", "low", "high", "win_probability", "win_low",
        "win_high", "simultaneous_low", "simultaneous_high", "log_e", "is_found",
        "these_low", "these_high", "these_is_found",
    )  # fmt: skip
    note = (
        f"Differences of strengths. {_SEQUENCE} simultaneous_: the same, so that all pairs hold at once, also those "
        "of conditions that join later. win_probability: how often condition is preferred, ties and position aside. "
        "log_e: natural logarithm of the e-value against no difference, which may be looked at at any time. is_found: "
        "e-BH over all pairs; of the pairs that are found, 5 % at most are wrong on average. these_: on these contents "
        "alone."
    )
    return Result(pd.DataFrame(rows, columns=list(names)), note, "; ".join([ANYTIME_CITATION, E_BH_CITATION]))


def _history(board: Board) -> Result:
    rows = []
    for look in board.looks:
        there = look.standing
        for at in range(len(board.votes.conditions)):
            if not np.isnan(there.low[at]):
                rows.append(
                    {
                        "people": look.people, "votes": look.votes, "at": _day(look.at),
                        "condition": board.votes.conditions[at], "strength": float(there.fit.strength[at]),
                        "low": float(there.low[at]), "high": float(there.high[at]),
                        **_ranks(there, at),
                    }
                )  # fmt: skip
    names = ["people", "votes", "at", "condition", "strength", "low", "high", "best_rank", "worst_rank"]
    table = pd.DataFrame(rows, columns=names).astype({"best_rank": "Int64", "worst_rank": "Int64"})
    note = (
        f"The board as it was when so many people had voted, without conditions that too few had compared. {_SEQUENCE}"
    )
    return Result(table, note, ANYTIME_CITATION)


def _slice_table(board: Board) -> Result:
    rows = []
    for one in board.slices:
        for at, name in enumerate(board.votes.conditions):
            there = one.standing
            if there is None or np.isnan(there.low[at]):
                continue
            rows.append(
                {
                    "factor": one.factor, "level": one.level, "condition": name, "people": int(there.people[at]),
                    "votes": int(there.fit.votes.votes_of()[at]), "strength": float(there.fit.strength[at]),
                    "low": float(there.low[at]), "high": float(there.high[at]),
                    **_ranks(there, at),
                }
            )  # fmt: skip
    names = ["factor", "level", "condition", "people", "votes", "strength", "low", "high", "best_rank", "worst_rank"]
    table = pd.DataFrame(rows, columns=names).astype({"best_rank": "Int64", "worst_rank": "Int64"})
    note = (
        "The board by the votes on stimuli of one level of a factor of the manifest, the same for both of a pair. Each "
        f"slice is held for itself: the more slices, the more of them err. {_SEQUENCE}"
    )
    return Result(table, note, ANYTIME_CITATION)


def _covariates(board: Board) -> Result:
    rows = [
        {
            "factor": one.name, "effect": one.effect, "low": one.low, "high": one.high, "log_e": one.log_e,
            "leader_when_alike": one.leader, "largest_move": one.most, "votes": one.votes,
        }
        for one in board.covariates
    ]  # fmt: skip
    note = (
        "What one unit more of a numeric factor of the manifest adds to the difference of two, conditions being equal, "
        "in logits, each factor by itself; what was measured of files is words_100, loudness_lu and duration_s. "
        f" {_SEQUENCE} largest_move: how far the strength that changes most is moved."
    )
    return Result(pd.DataFrame(rows), note, ANYTIME_CITATION)


def vote_table(votes: Votes, found: Suspicion | None = None) -> Result:
    """Return every vote in the order in which they came, people by their number in that order, times by their day."""
    names = np.array(votes.conditions, object)
    table = pd.DataFrame(
        {
            "vote": np.arange(1, votes.size + 1), "person": [f"p{number + 1}" for number in votes.person.tolist()],
            "question": votes.question, "content": np.array(votes.contents, object)[votes.content],
            "condition": names[votes.one], "other_condition": names[votes.other],
            "preferred": np.select([votes.sign > 0, votes.sign < 0], [names[votes.one], names[votes.other]], ""),
            "shown_first": np.select([votes.order > 0, votes.order < 0], [names[votes.one], names[votes.other]], ""),
            "response_ms": votes.response_ms, DRAW: votes.draw, "day": [_day(moment) for moment in votes.at],
            "flags": found.flags(votes) if found is not None else "",
        }
    )  # fmt: skip
    note = (
        "Every vote that is used, in the order in which they came. person numbers people in the order of their first "
        "vote and is no id of anything else; preferred is empty for a tie, shown_first where the order is not known; "
        f"{DRAW} is the probability with which the pair was drawn, empty where it was not recorded; flags are the "
        "rules (stuffing, copied, side_pattern) that found the votes of this person suspicious: they count too."
    )
    return Result(table, note, "")


def _day(moment: np.datetime64) -> str:
    return "" if np.isnat(moment) else str(moment)[:10]
