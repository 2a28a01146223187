"""Cleaning: from the facts of a store to ratings, with a verdict and a reason for everything that is excluded.

facts          sessions, answers and stimuli, read back from the store
texts          the study texts that participants met; masks of addresses and ids
qualification  attempts at checks with a page, judged again
sessions       one session judged: ratings, training, verdicts
decisions      accept and use, from the verdicts
screening      every session: alone, against the other raters, and by all sessions of its rater
ratings        the tidy rating row
time_marks     marks.csv and viewings.csv
payouts        whom to pay, whom not, and who gets a bonus
shortfall      votes that are missing, and the lists that would bring them
collection     how far a run is, how its size came about, and when its results were looked at
account        counts, CONSORT flow and rules; account_page: the same as account.md
devices        devices.csv
stimuli        stimuli.csv: what was shown, and what its files hold
tables         all other tables of the folder clean/
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from beholder.formats import count
from beholder.result_view import ResultView, ShownResult

if TYPE_CHECKING:
    from beholder.study.model import Study

__all__ = ["Cleaned", "ExclusionCount", "clean", "rehearsal_of"]


@dataclass(frozen=True)
class ExclusionCount:
    """What one reason excluded: all sessions and ratings that have it, and sessions that have no other.

    `kept` of the sessions are used all the same: the reason is only noted, or cost single ratings.
    """

    rule: str
    reason: str
    words: str
    sessions: int
    only: int
    kept: int
    ratings: int
    costs: bool = True
    """Whether a session with this reason is not used."""

    @property
    def label(self) -> str:
        """The words, and that sessions stay where they do."""
        return self.words + ("" if self.costs else " (single ratings)" if self.ratings else " (only noted)")


@dataclass(frozen=True, repr=False)
class Cleaned(ShownResult):
    """The result of `clean`: who took part, who is used, and what each rule excluded."""

    folder: Path
    population: Literal["people", "robots"]
    counts: Mapping[str, int]
    """participants, sessions, completed, used_participants, used_sessions, ratings, used_ratings, other_plans;
    accepted_sessions, rejected_sessions, look_sessions, few_used_raters, mostly_unused_raters, taken_in_sessions;
    short_votes (stimuli with fewer used votes than planned, by question), planned_votes, missing_sessions, bonuses"""
    lost: tuple[ExclusionCount, ...]
    bonus: str = ""
    """What all bonuses come to, as `3.20 GBP`; empty where there are none."""
    run: int = 1

    def _view(self) -> ResultView:
        import pandas as pd

        n = self.counts
        robots = ["Simulated: these ratings come from robots."] if self.population == "robots" else []
        words = (
            f"{count(n['completed'], 'session')} finished, {n['used_sessions']:,} used: {n['used_ratings']:,} of "
            f"{count(n['ratings'], 'rating')}, by {count(n['used_participants'], 'participant')}."
        )
        lost = pd.DataFrame([{"excluded": one.label, "sessions": one.sessions} for one in self.lost])
        counts = pd.DataFrame({"count": list(n), "value": list(n.values())})
        account = f"The whole account: {self.folder / 'account.md'}"
        return ResultView([*robots, words, account], lost, {"counts": counts})


def clean(
    study: str | Path | Study = "study.yaml",
    *,
    store: str | None = None,
    robots: bool = False,
    run: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Cleaned:
    """Judge every session of a run and write `clean/`; return the counts of what was used and excluded.

        print(beholder.clean("study.yaml"))

    What most studies need:
        study           the study file, or the study. People are looked at where there are any, else robots
        robots          True looks at a rehearsal again, and writes to rehearsal/clean/ once a person has come

    Rarely:
        run             an earlier run, as 1; that of study.yaml when left out
        store           where answers are kept, if not in store/ beside the study
        progress        a function that gets the number of sessions that are judged, and of all
    """
    from beholder.cleaning.tables import clean_folder

    return clean_folder(study, store=store, robots=robots, run=run, progress=progress)


def rehearsal_of(study: str | Path | Study) -> Study:
    """Return the study with the outputs of its robots: in rehearsal/ where `clean` wrote there, else as they are."""
    from beholder.methods import load_study

    loaded = load_study(study) if isinstance(study, str | Path) else study
    rehearsed = loaded.in_rehearsal()
    return rehearsed if (rehearsed.outputs / "clean" / "account.json").is_file() else loaded
