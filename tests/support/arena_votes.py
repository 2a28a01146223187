"""Simulated arenas: votes of people whose taste varies, as the board reads them and as a table of ratings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from beholder.leaderboard.votes import Votes
from beholder.stats.clustered import Codes, Floats


def arena(
    rng: np.random.Generator,
    quality: Sequence[float],
    *,
    people: int = 60,
    each: int = 10,
    contents: int = 8,
    taste: float = 0.3,
    content_sd: float = 0.0,
    ties: float = 0.0,
    position: float = 0.0,
    joins: Sequence[int] = (),
) -> Votes:
    """Return the votes of people who meet random pairs; `joins` says from which person on each condition is there.

    `taste` and `content_sd` are in logits: how far people, and contents, differ in each condition.
    """
    size, n = len(quality), people * each
    start = np.array(list(joins) or [0] * size)
    person = np.repeat(np.arange(people), each)
    draws = rng.random((n, size)) + (start[None, :] > person[:, None])
    pairs = draws.argsort(axis=1)[:, :2].astype(np.intp)
    content = rng.integers(0, contents, n)
    felt = np.asarray(quality)[None, :] + taste * rng.normal(size=(people, size))
    on = content_sd * rng.normal(size=(contents, size))
    order = rng.choice([-1.0, 1.0], n)
    one, other = pairs.T
    apart = felt[person, one] - felt[person, other] + on[content, one] - on[content, other] + position * order
    return votes_from(size, one, other, order, signs(rng, apart, ties), person, content)


def signs(rng: np.random.Generator, apart: Floats, ties: float = 0.0) -> Floats:
    """Return who is preferred at these differences; `ties` is the share of ties among equals."""
    nu = 2 * ties / (1 - ties)
    win, loss = np.exp(apart / 2), np.exp(-apart / 2)
    u = rng.random(apart.shape) * (win + loss + nu)
    return np.where(u < win, 1.0, np.where(u < win + nu, 0.0, -1.0))


def votes_from(
    size: int, one: Codes, other: Codes, order: Floats, sign: Floats, person: Codes, content: Codes
) -> Votes:
    """Return votes with names and times; conditions are numbered as they are."""
    n = len(one)
    at = np.datetime64("2026-11-01T08:00", "us") + np.arange(n) * np.timedelta64(60_000_000, "us")
    return Votes(
        "better", tuple(f"c{number}" for number in range(size)), {},
        tuple(f"k{number}" for number in range(int(content.max(initial=0)) + 1)),
        tuple(f"p{number}" for number in range(int(person.max(initial=0)) + 1)), one, other, order, sign,
        person.astype(np.intp), content.astype(np.intp), at, np.full(n, 4000.0), np.full(n, np.nan), {},
    )  # fmt: skip


def as_ratings(votes: Votes) -> pd.DataFrame:
    """Return votes as a table of ratings, as `clean` writes them."""
    names = np.array(votes.conditions, object)
    contents = np.array(votes.contents, object)[votes.content]
    table = pd.DataFrame(
        {
            "participant": np.array(votes.people, object)[votes.person], "session": "s", "question": votes.question,
            "kind": "choice", "content": contents, "condition": names[votes.one],
            "stimulus": contents + "/" + names[votes.one], "other_condition": names[votes.other],
            "other_stimulus": contents + "/" + names[votes.other], "value": votes.sign,
            "raw_value": np.where(votes.order > 0, -votes.sign, votes.sign), "scale_min": -1.0, "scale_max": 1.0,
            "slot": np.where(votes.order > 0, "s1", "s2"), "response_ms": votes.response_ms,
            "answered_at": [f"{moment}Z" for moment in votes.at], "use": True, "draw_probability": votes.draw,
        }
    )  # fmt: skip
    for name, (one, other) in votes.factors.items():
        table[f"factor_{name}"], table[f"other_factor_{name}"] = one, other
    return table


def write_votes(folder: Path, *, people: int = 30, drop: int = 0) -> Path:
    """Write a table of votes with all that a board can show."""
    rng = np.random.default_rng(1)
    votes = arena(rng, [1.0, 0.3, -0.2, -1.1], people=people, each=8, contents=6, ties=0.1, position=0.2)
    languages, seconds = np.array(["English", "German"], object), rng.normal(20, 4, (4, 6)).round(1)
    language = languages[votes.content % 2]
    votes = votes._replace(
        draw=rng.uniform(0.1, 0.3, votes.size),
        factors={
            "language": (language, language),
            "seconds": (
                seconds[votes.one, votes.content].astype(object), seconds[votes.other, votes.content].astype(object),
            ),
        },
    )  # fmt: skip
    path = folder / "votes.csv"
    as_ratings(votes).iloc[: votes.size - drop].to_csv(path, index=False)
    return path


# Two conditions, thousands of arenas at once


class Pair:
    """Sums of the votes between two conditions, of many arenas at once: what a look needs of everybody so far."""

    def __init__(self, arenas: int, each: int) -> None:
        self.each = each
        self.people = 0
        self.wins, self.squares = np.zeros(arenas), np.zeros(arenas)

    def add(self, wins: Floats) -> None:
        """Add one more person to every arena, who preferred the first so many times."""
        self.people += 1
        self.wins += wins
        self.squares += wins**2

    def look(self) -> tuple[Floats, Floats, Floats]:
        """Return difference, standard error and degrees of freedom, as `difference_errors` has them on one content."""
        n = self.people * self.each
        p = self.wins / n
        with np.errstate(divide="ignore", invalid="ignore"):
            unit = 1 / (n * p * (1 - p))
            score = self.squares - 2 * p * self.each * self.wins + self.people * (self.each * p) ** 2
            variance = np.maximum(score * unit**2 * self.people / (self.people - 1), unit)
            difference = np.log(p / (1 - p))
        return difference, np.sqrt(variance), np.full(len(p), self.people - 1.0)
