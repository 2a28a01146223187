"""Rehearsals in memory: the ratings that robots would give over HTTP, without a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beholder.cleaning.facts import AnswerRecord, SessionRecord, ShownStimulus
from beholder.cleaning.ratings import COLUMNS, RELATION, Rating, rating_rows
from beholder.columns import names_of
from beholder.errors import StudyError
from beholder.files import csv_blocks, write_all
from beholder.formats import count
from beholder.methods import find, load_study
from beholder.methods.choices import NOISE, choice_values
from beholder.methods.contract import Method
from beholder.methods.differences import Differences
from beholder.methods.scores import score_values
from beholder.planning import open_plan
from beholder.planning.digest import study_digest
from beholder.planning.message_trials import load_stimuli
from beholder.planning.model import Plan, PlannedList, no_collection
from beholder.result_view import ResultView, ShownResult
from beholder.server.script import ServedStudy
from beholder.simulation.oracle import Oracle
from beholder.simulation.participants import (
    ChanceDraws,
    Floats,
    PerceptNoise,
    Progress,
    draw_by_name,
    draw_from_stream,
    percept_of,
    robot_name,
)
from beholder.simulation.raters import assign_kinds, read_mixture
from beholder.simulation.rating_sheet import Bools, Ints, RatingSheet, sheet_of
from beholder.simulation.truth import Population, Truth, truth_of
from beholder.simulation.variance import PopulationSource
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.relations import COMMON
from beholder.study.model import Study

if TYPE_CHECKING:
    from pandas import DataFrame


_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


_SHOWN = ("participant", "content", "condition", "question", "value")
"""Columns of ratings that one reads first."""


@dataclass(frozen=True, repr=False)
class MemoryRehearsal(ShownResult):
    """A rehearsal in memory: the truth, the kinds of the robots, and their ratings."""

    truth: Truth
    kinds: Sequence[str]
    ratings: DataFrame
    """With the columns of ratings.csv. Checks are not judged: all ratings are used except those of drop-outs."""
    path: Path | None = None
    """The CSV file, if written."""

    def _view(self) -> ResultView:
        where = [f"Written to {self.path}."] if self.path is not None else []
        words = f"{count(len(self.kinds), 'robot')} gave {count(len(self.ratings), 'rating')}, in memory."
        shown = [name for name in _SHOWN if name in self.ratings]
        return ResultView([words, *where], self.ratings[shown].head(), {"ratings": self.ratings})


class SimulatedAnswers(NamedTuple):
    """A value for each judgement that was made."""

    sheet: RatingSheet
    """The sheet of these people: one list each."""
    participant: Ints
    """From 0."""
    entry: Ints
    """The judgement, an entry of the sheet."""
    value: Floats
    """Of a comparison, above zero in favour of the judged stimulus."""
    stayed: Bools
    """Whether each person stayed to the end."""


def rehearse(
    study: Study,
    catalogue: Catalogue,
    method: Method,
    plan: Plan,
    *,
    participants: int,
    raters: str = "honest",
    seed: int = 1,
    people: Population | None = None,
    means: Mapping[str, float] | None = None,
    digest: str = "",
    at_once: bool = True,
    progress: Progress | None = None,
) -> MemoryRehearsal:
    """Return the ratings of robots: the same that they give over HTTP with this seed.

    They are computed as arrays where the method allows it, otherwise trial by trial; without `at_once` always so.
    Whoever finished a session comes back for the next one, as often as a participant may.
    """
    import pandas as pd

    people = people or Population()
    truth = truth_of(study, catalogue, method, seed, people, means)
    kinds = assign_kinds(read_mixture(raters), participants, seed, study.run)
    names = [robot_name(seed, number, study.run) for number in range(1, participants + 1)]
    tables: list[DataFrame] = []
    gone: set[str] = set()
    visits = lists_by_visit(plan.lists, study.design.sessions_per_participant)
    for visit, lists in enumerate(visits, 1):
        sheet = sheet_of(lists, study, catalogue, method, truth) if at_once else None
        if sheet is not None:
            answers = simulate_sheet(sheet, truth, people, kinds, seed, run=study.run, progress=progress)
            table = _answers_table(answers, catalogue, list(truth.questions), names)
        else:
            groups = [planned.group for planned in lists] if study.design.between else []
            served = ServedStudy(study, digest, catalogue, method, [planned.entries for planned in lists], "", groups)
            table = _trial_by_trial(Oracle(served, b"", truth, seed, people), names, kinds, progress)
        if visit > 1:
            gone |= {name for place, name in enumerate(names) if place % len(visits[0]) >= len(lists)}
            table = table[~table["participant"].isin(gone)]
            table = table.assign(session=table["participant"].astype(object) + f"-{visit}")
        gone |= set(table["participant"][~table["use"].astype(bool)])
        tables.append(_ratings_table(table, study, catalogue, lists, digest))
    return MemoryRehearsal(truth, kinds, tables[0] if len(tables) == 1 else pd.concat(tables, ignore_index=True))


def lists_by_visit(lists: Sequence[PlannedList], sessions: int) -> list[list[PlannedList]]:
    """Return the lists of everybody's first session, of their second and so on, by the order in which people come.

    The lists of one person stand one after the other among those of their group, and share no stimulus. Who has fewer
    than the others comes last.
    """
    by_group: dict[object, list[PlannedList]] = {}
    for planned in lists:
        by_group.setdefault(planned.group_key, []).append(planned)
    chains = [own[first : first + sessions] for own in by_group.values() for first in range(0, len(own), sessions)]
    chains.sort(key=lambda chain: (-len(chain), chain[0].number))
    visits = [[chain[visit] for chain in chains if len(chain) > visit] for visit in range(sessions)]
    return [lists for lists in visits if lists]


def _trial_by_trial(oracle: Oracle, names: Sequence[str], kinds: Sequence[str], progress: Progress | None) -> DataFrame:
    """Return the ratings of robots trial by trial, as rows; `list` is the number of the robot, from 0."""
    import pandas as pd

    served, rows = oracle.served, []
    oracle.claims |= {name: number % len(served.lists) + 1 for number, name in enumerate(names)}
    stimuli = {
        (served.digest, one.id): ShownStimulus(one.content, one.condition, None, {}, one.role, one.medium)
        for one in served.catalogue.stimuli
    }
    for number, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        for rating in _ratings(oracle, name, kind, stimuli):
            rows.append((number, *rating))
        if progress is not None:
            progress(number + 1, len(names))
    return pd.DataFrame(rows, columns=["list", *Rating._fields])


def _ratings(
    oracle: Oracle, name: str, kind: str, stimuli: Mapping[tuple[str, str], ShownStimulus]
) -> Iterator[Rating]:
    """Yield the ratings of one robot."""
    served, method = oracle.served, oracle.method
    responder, trials = oracle.responder(kind, name), oracle.trials(name)
    answered = responder.answers(name)
    session = SessionRecord(
        session=name, participant=name, digest=served.digest, run=served.study.run, mode="robot", visit=1, at=_NEVER,
        outcome=None, ended_at=None, is_erased=False, trials=trials, answers={},
    )  # fmt: skip
    for position, trial in enumerate(trials[:answered], 1):
        read: Any = method.read(trial, responder.answer(name, f"trial:{position}"))
        record = AnswerRecord(f"trial:{position}", read, {}, 0.0, 0.0, "robot", _NEVER)
        for rating in rating_rows(served.study, session, position, record, method.judgements(trial, read), stimuli):
            yield rating._replace(use=answered == len(trials))


# Answers to all judgements of a plan as arrays


def simulate_sheet(
    sheet: RatingSheet,
    truth: Truth,
    people: Population | None = None,
    kinds: Sequence[str] | None = None,
    seed: int = 1,
    *,
    repetition: int | None = None,
    run: int = 1,
    progress: Progress | None = None,
) -> SimulatedAnswers:
    """Return the answers of one person for each of `kinds`, who take the lists in turn; by default one honest each.

    The same seed gives the same answers as robots over HTTP. With a `repetition` all random numbers come from one
    stream, which is much faster and has the same distribution.
    """
    people = people or Population()
    kinds = ["honest"] * sheet.lists if kinds is None else kinds
    own_sheet = sheet.for_participants(len(kinds))
    if repetition is None:
        chance = draw_by_name(own_sheet, truth, people, kinds, seed, run, progress)
    else:
        chance = draw_from_stream(own_sheet, people, kinds, np.random.default_rng([seed, repetition]))
    entry = np.flatnonzero(own_sheet.position <= chance.trials[own_sheet.list])
    values = _answer_values(own_sheet, truth, people, chance, np.random.default_rng([seed, repetition or 0, _WORDS]))
    return SimulatedAnswers(own_sheet, own_sheet.list[entry], entry, values[entry], chance.trials == own_sheet.trials)


_WORDS = 11
"""The random stream of words."""


def _answer_values(
    sheet: RatingSheet, truth: Truth, people: Population, chance: ChanceDraws, words: np.random.Generator
) -> Floats:
    """Return the answer to each entry of a sheet, from the random draws."""
    progress = (sheet.position - 1) / np.maximum(1, sheet.trials[sheet.list] - 1)
    carried = people.carry * _carry_over(sheet, truth) if people.carry else 0.0

    def strength(rows: Ints, noise: PerceptNoise) -> Floats:
        quality = truth.quality[rows, sheet.question]
        return percept_of(chance.person, people, quality, noise, carried=carried, progress=progress)

    judged = strength(sheet.stimulus, chance.judged)
    if chance.other is None:
        return _score(sheet, np.where(chance.is_recognised, 1.0, judged), words)
    other = strength(sheet.other, chance.other)
    if sheet.differences is not None:
        return _differ(sheet, sheet.differences, judged, other)
    is_second = np.where(sheet.slot > sheet.other_slot, 1.0, -1.0)
    return is_second * _choose(sheet, is_second * (judged - other) + NOISE * chance.doubt) + 0.0


def _carry_over(sheet: RatingSheet, truth: Truth) -> Floats:
    """Return for each entry how far the previous trial was above the average of all stimuli; 0 for a first trial."""
    of_row = truth.quality.mean(axis=1)
    both = [sheet.stimulus, sheet.other] if sheet.is_compared else [sheet.stimulus]
    quality = np.mean([of_row[rows] for rows in both], axis=0)
    counts = np.bincount(sheet.trial)
    means = np.bincount(sheet.trial, weights=quality) / np.maximum(1, counts)
    first = sheet.trial[sheet.starts[:-1][np.diff(sheet.starts) > 0]]
    before = np.concatenate([[0.0], means - of_row.mean()])[:-1]
    before[first] = 0.0
    return np.asarray(before[sheet.trial], dtype=np.float64)


def _score(sheet: RatingSheet, strength: Floats, words: np.random.Generator) -> Floats:
    if sheet.words.any():
        inside = np.clip(strength, 0.0, 1.0)
        share = words.binomial(sheet.words, np.where(sheet.is_reversed, 1 - inside, inside)) / sheet.words
        low, high = (np.array([getattr(one, end) for one in sheet.scales])[sheet.scale] for end in ("min", "max"))
        return np.asarray(low + (high - low) * share, np.float64)
    if sheet.page_scores is not None:
        inside = np.clip(strength, 0.0, 1.0)
        return sheet.page_scores(np.where(sheet.is_reversed, -inside, inside), sheet.page)
    values = np.zeros(len(sheet))
    for place, scale in enumerate(sheet.scales):
        here = sheet.scale == place
        values[here] = score_values(scale, strength[here], is_reversed=sheet.is_reversed[here])
    return values


def _differ(sheet: RatingSheet, differences: Differences, judged: Floats, other: Floats) -> Floats:
    values = np.zeros(len(sheet))
    for place, scale in enumerate(sheet.scales):
        here = sheet.scale == place
        values[here] = differences(scale, judged[here], other[here], sheet.is_reversed[here])
    return values


def _choose(sheet: RatingSheet, difference: Floats) -> Floats:
    values = np.zeros(len(sheet))
    turned = np.where(sheet.is_reversed, -difference, difference)
    for place, scale in enumerate(sheet.scales):
        here = sheet.scale == place
        values[here] = choice_values(scale, turned[here])
    return values


# Tables with the columns of ratings.csv


_LEFT = "complete:not_finished"
"""The reason in cleaning for not using the ratings of a drop-out."""
_EMPTY = ("colour", "plays", "watched_ms", "coverage", "response_ms", "answered_at")
"""What only a browser knows."""


def _answers_table(
    answers: SimulatedAnswers, catalogue: Catalogue, questions: Sequence[str], names: Sequence[str]
) -> DataFrame:
    """Return answers as rows, without constant columns; `list` is the number of the person, from 0.

    Names are categories, so that a million rows need little memory.
    """
    import pandas as pd

    sheet, entry, value = answers.sheet, answers.entry, answers.value
    stimuli = [one.id for one in catalogue.stimuli]
    scale = sheet.scale[entry]
    low, high = np.array(sheet.limits).reshape(-1, 2)[scale].T
    raw = np.where(sheet.slot[entry] > sheet.other_slot[entry], value, -value) + 0.0
    keyed = np.where(sheet.is_reversed[entry], low + high - value, value)
    participant = _categories(answers.participant, names)
    return pd.DataFrame(
        {
            "list": answers.participant,
            "participant": participant,
            "session": participant,
            "trial": _numbered_categories(sheet.position[entry], "trial:"),
            "position": sheet.position[entry],
            "question": _categories(sheet.question[entry], questions),
            "kind": sheet.kind,
            "content": _categories(sheet.content[entry], sheet.contents),
            "condition": _categories(sheet.condition[entry], sheet.conditions),
            "stimulus": _categories(sheet.stimulus[entry], stimuli),
            "role": _categories(sheet.role[entry], sheet.roles),
            "other_condition": _categories(sheet.other_condition[entry], sheet.conditions),
            "other_stimulus": _categories(sheet.other[entry], stimuli),
            "unit": None,
            "word": None,
            "said": None,
            "heard": None,
            "value": value,
            "raw_value": raw if sheet.is_compared else value,
            "keyed": None if sheet.is_compared else keyed,
            "scale_min": low,
            "scale_max": high,
            "missing": None,
            "slot": _numbered_categories(sheet.slot[entry], "s"),
            "use": answers.stayed[answers.participant],
        }
    )


def _ratings_table(
    table: DataFrame, study: Study, catalogue: Catalogue, lists: Sequence[PlannedList], digest: str
) -> DataFrame:
    """Return rows with all columns of ratings.csv, including factors of stimuli and between participants."""
    import pandas as pd

    same: dict[str, Any] = {
        "study": study.name, "digest": digest, "run": study.run, "mode": "robot", "repetition": 1,
        "method": study.method, "input": "robot",
    }  # fmt: skip
    table = table.assign(**same, **dict.fromkeys(_EMPTY), reasons=np.where(table["use"], "", _LEFT))
    columns = names_of(COLUMNS)
    table = table.assign(**{name: None for name in columns if name not in table})
    factors_of = {one.id: one.factors for one in catalogue.stimuli}
    of_stimuli = sorted({name for factors in factors_of.values() for name in factors})
    factors: dict[str, Any] = {name: _factor(table["stimulus"], factors_of, name) for name in of_stimuli}
    for name in dict.fromkeys(name for planned in lists for name in planned.group):
        levels = np.array([planned.group.get(name) for planned in lists], dtype=object)
        factors[name] = levels[table["list"].to_numpy(dtype=np.int64) % len(lists)]
    more: dict[str, Any] = {}
    if any(planned.person for planned in lists):
        shown = zip(table["list"].to_numpy(dtype=np.int64) % len(lists), table["stimulus"], strict=True)
        more[RELATION.name] = [lists[number].relations.get(stimulus, COMMON) for number, stimulus in shown]
    more |= {f"factor_{name}": factors[name] for name in sorted(factors)}
    if bool(table["other_stimulus"].notna().any()):
        more |= {f"other_factor_{name}": _factor(table["other_stimulus"], factors_of, name) for name in of_stimuli}
    return pd.concat([table[list(columns)], pd.DataFrame(more, index=table.index)], axis=1)


def _factor(stimuli: Any, factors_of: Mapping[str, Mapping[str, str]], name: str) -> Any:
    return stimuli.map({stimulus: factors.get(name) for stimulus, factors in factors_of.items()})


def _categories(codes: Any, names: Sequence[str]) -> Any:
    """Return names by their positions, -1 meaning none, as categories."""
    import pandas as pd

    return pd.Categorical.from_codes(codes, categories=pd.Index(list(names)))


def _numbered_categories(numbers: Any, word: str) -> Any:
    return _categories(numbers, [f"{word}{number}" for number in range(int(numbers.max(initial=0)) + 1)])


# The folder rehearsal/


_FOLDER = "rehearsal"


def people_of(lists: Sequence[PlannedList], study: Study) -> int:
    """Return how many participants it takes to finish all lists."""
    return -(-len(lists) // study.design.sessions_per_participant)


def rehearse_folder(
    study: str | Path | Study,
    *,
    participants: int | None,
    raters: str,
    seed: int,
    source: PopulationSource,
    progress: Progress | None = None,
) -> MemoryRehearsal:
    """Return a rehearsal of a study, its ratings written to rehearsal/ratings.csv."""
    loaded = load_study(study) if isinstance(study, str | Path) else study
    if loaded.design.active is not None:
        what = "is active: what is compared follows from answers, for which robots need a server"
        raise StudyError(loaded.problem("design.pairs", what, "", "Leave --memory out."))
    method = find(loaded.method)
    catalogue = load_stimuli(loaded, method)
    with no_collection():
        plan = open_plan(loaded, catalogue)
        rehearsal = rehearse(
            loaded, catalogue, method, plan, raters=raters, seed=seed,
            participants=participants or people_of(plan.lists, loaded),
            people=source.people, means=source.means, digest=study_digest(loaded, catalogue), progress=progress,
        )  # fmt: skip
        table = rehearsal.ratings.astype(object)
        columns = [table[name].where(table[name].notna(), None).tolist() for name in table]
        lines = zip(*columns, strict=True)
        write_all(loaded.folder / _FOLDER, {"ratings.csv": csv_blocks([str(name) for name in table], lines)})
    return replace(rehearsal, path=loaded.folder / _FOLDER / "ratings.csv")
