"""Ratings as analyses take them: one value per participant, stimulus and question."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from beholder.analysis.ratings_table import OwnTable, TableOptions, fill_columns, load_ratings, load_table
from beholder.analysis.result import ratings_hash
from beholder.analysis.spreadsheets import is_table
from beholder.cleaning.collection import Collection
from beholder.cleaning.collection import record_look as add_look
from beholder.errors import Problem, UserError, no_answers
from beholder.files import read_cells as table_cells
from beholder.stats.intervals import LEVEL
from beholder.stats.sequential import LookCorrection, anytime_look, fixed_look, planned_look
from beholder.stimuli.relations import COMMON
from beholder.study.cleaning import Analyse
from beholder.study.markdown import plain_text
from beholder.study.model import Question, Study
from beholder.types import UNRATED_ROLES

if TYPE_CHECKING:
    from beholder.analysis.time_marks import MarkData

_T = TypeVar("_T")
KINDS = ("score", "diff", "choice", "correct", "pick")
COMPARISONS = ("diff", "choice")
"""Kinds whose sign says which of two is better."""
_REFERENCE_ROLES = ("reference", "hidden_reference")
"""Roles of the stimuli with which the others are compared."""
_KEYS = ["question", "participant", "stimulus", "content", "condition", "other_stimulus", "other_condition"]


@dataclass(frozen=True)
class RowOrder:
    """The order of rows; names that it lacks come between `conditions` and `last`, by code point."""

    conditions: Sequence[str] = ()
    last: Sequence[str] = ()
    """Conditions after all others: anchors that were made."""
    questions: Sequence[str] = ()
    asked: Sequence[Question] = ()
    """The questions of a study, with their labels and words; none of a table."""
    references: frozenset[str] = frozenset()
    """Conditions with which the others are compared."""
    settings: Analyse = field(default_factory=Analyse)
    """What the study asks of its ratings: contrasts, and how tests are corrected."""
    looks: tuple[int, ...] = ()
    """After how many participants the study is to be looked at; empty where once, at its end."""
    looks_taken: tuple[int, ...] | None = None
    """After how many it was looked at before; None where that is not recorded, and as planned."""
    is_over: bool = False
    """Whether everybody has come who was to come, and nobody was kept away because of what was seen."""
    share: float = 1.0
    """Of the error rate that the studies of a chain have together."""


@dataclass(frozen=True)
class Ratings:
    """Used ratings, repetitions averaged, with the order of conditions and questions."""

    table: pd.DataFrame
    """question, participant, stimulus, content, condition, other_stimulus, other_condition, value.

    A comparison of two conditions under test is in it twice, once for each of them, with both signs.
    """
    votes: pd.DataFrame
    """The same with every comparison once: for the earlier condition, or the one that is not the reference."""
    conditions: tuple[str, ...]
    questions: tuple[str, ...]
    kinds: Mapping[str, str]
    """The kind of rating by question."""
    methods: Mapping[str, str]
    """The method by question; empty where the table does not have it."""
    counts: dict[str, int]
    """rows, used, not_used, missing, other_kinds, repeated"""
    used: pd.DataFrame
    """Every used rating as the table has it, all columns, repetitions apart; `question` as in `table`."""
    references: frozenset[str] = frozenset()
    """Conditions with which the others are compared."""
    anchors: frozenset[str] = frozenset()
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    """Every rating, used or not."""
    order: RowOrder = field(default_factory=RowOrder)
    turned: tuple[str, ...] = ()
    """Reversed questions: every value of theirs is the lowest plus the highest of the scale minus what was answered."""
    session_reasons: Mapping[str, str] = field(default_factory=dict)
    """The reasons of each session, as `check:reason; check:reason`, also those that cost nothing."""
    session_failures: Mapping[str, str] = field(default_factory=dict)
    """Everything that a rule or check says each session failed, written the same way, also what is only recorded."""
    look: LookCorrection | None = None
    """What intervals and p-values are corrected for where the study is looked at more than once."""
    related: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    """Every rating, used or not, of stimuli that are for some people alone, by what they are to these."""
    marks: MarkData | None = None
    """What was marked while it played; None where nobody could mark anything."""
    _known: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def level(self) -> float:
        """The level at which an interval holds at 95 %, however often the study is looked at."""
        return LEVEL if self.look is None else self.look.level

    @property
    def look_note(self) -> str:
        """What a table says of looks at the study, with a space before; nothing where there is one, at the end."""
        return "" if self.look is None else self.look.note

    @property
    def labels(self) -> Mapping[str, str]:
        """What people read in place of a question's id; the id where the study has no label."""
        given = {one.id: one.name_of_scores(is_turned=one.id in self.turned) for one in self.order.asked}
        named = {
            name: given.get(name) or (f"{name} (turned)" if name in self.turned else name) for name in self.questions
        }
        shared = [label for label in named.values() if list(named.values()).count(label) > 1]
        return {name: f"{label} ({name})" if label in shared else label for name, label in named.items()}

    def cached(self, key: Hashable, compute: Callable[[], _T]) -> _T:
        """Return what was computed under a key, so that two tables that rest on the same fit share it."""
        if key not in self._known:
            self._known[key] = compute()
        return cast("_T", self._known[key])

    def is_cached(self, key: Hashable) -> bool:
        """Return whether something was computed under a key."""
        return key in self._known

    def is_mirrored(self, question: str) -> bool:
        """Return whether every comparison of a question counts for both conditions."""
        is_mine = self.table["question"] == question
        return int(is_mine.sum()) > int((self.votes["question"] == question).sum())

    def is_matched(self, question: str) -> bool:
        """Return whether a question asks what fits: its own companion against a foreign one."""
        mine = self.used[self.used["question"] == question]
        return self.kinds[question] == "diff" and len(mine) > 0 and bool((mine["role"] == "matched").all())


def as_ratings(data: pd.DataFrame | Ratings) -> Ratings:
    """Return a data frame of ratings as analyses take it; it needs participant, content, condition and value."""
    return data if isinstance(data, Ratings) else tidy(_without_other_relation(fill_columns(data)))


def tidy(table: pd.DataFrame, order: RowOrder | None = None) -> Ratings:
    """Return the ratings that are used, averaged over repetitions (reference: statistics 2.1).

    Scores of a reversed question are turned round, so that more is always more of what the other questions measure.
    What can be ticked is a question of its own, `<question>: <tick>`; the words of a transcript are not, and what one
    participant marked of a stimulus is the share of its words. All ratings of a question are of one kind; where
    a table mixes them, the first counts. Stimuli that are for some people alone are kept apart, in `related`.
    """
    order = order or RowOrder()
    table, related = _split_by_relation(table)
    table, turned = _turn_scores(table.assign(question=_asked(table)))
    first = table.groupby("question", sort=False)["kind"].first()
    is_rating = table["kind"].isin(KINDS) & (table["kind"] == table["question"].map(first))
    is_rating &= ~table["role"].isin(UNRATED_ROLES)
    # A condition that was compared with itself says nothing of how it differs.
    is_rating &= ~(table["kind"].isin(COMPARISONS) & (table["condition"] == table["other_condition"]))
    has_value = table["value"].notna()
    kept = table[is_rating & has_value & table["use"]]
    compared = kept[kept["kind"].isin(COMPARISONS) & (kept["other_condition"] != "")]
    named = pd.concat([kept["condition"], compared["other_condition"]])
    conditions = _ordered(named, order.conditions, order.last)
    votes = (
        orient_comparisons(kept, conditions, order.references).groupby(_KEYS, sort=True)["value"].mean().reset_index()
    )
    kinds = {str(name): str(kind) for name, kind in first.items()}
    whole = _mirrored(votes, kinds, order.references)
    counts = {
        "rows": len(table),
        "used": len(kept),
        "not_used": int((~table["use"]).sum()),
        "missing": int((table["use"] & is_rating & ~has_value).sum()),
        "other_kinds": int((~is_rating).sum()),
        # The words of one answer are no repetitions of each other.
        "repeated": rating_count(kept) - len(votes),
    }
    questions = _ordered(votes["question"], order.questions)
    methods = table.groupby("question", sort=False)["method"].first()
    people = votes["participant"].nunique()
    return Ratings(
        whole,
        votes,
        conditions,
        questions,
        {name: kinds[name] for name in questions},
        {name: str(methods[name]) for name in questions},
        counts,
        kept,
        order.references | set(kept[kept["role"].isin(_REFERENCE_ROLES)]["condition"]),
        frozenset(kept[kept["role"] == "anchor"]["condition"]),
        table,
        order,
        tuple(name for name in questions if name in turned),
        look=_planned_look(people, order),
        related=related,
    )


def _split_by_relation(table: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Return the ratings of stimuli that are for everybody, and the others by what they are to their people."""
    is_kept = is_common(table)
    if is_kept.all():
        return table, {}
    others = table[~is_kept].groupby("relation")
    related = {str(word): some.drop(columns="relation") for word, some in others}
    return table[is_kept].drop(columns="relation"), related


def _without_other_relation(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of one's own, without a column `relation` that says something else than ours."""
    is_other = "relation" in table and COMMON not in set(table["relation"].fillna("").astype(str))
    return table.drop(columns="relation") if is_other else table


def is_common(table: pd.DataFrame) -> pd.Series:
    """Return of each rating whether it is of a stimulus that is for everybody, and for no person alone."""
    if "relation" not in table:
        return pd.Series(data=True, index=table.index)
    return table["relation"].fillna("").astype(str).isin(("", COMMON))


def ratings_of(ratings: Ratings, chosen: Sequence[bool] | NDArray[np.bool_]) -> Ratings:
    """Return the ratings in some rows, all of them as used, with the columns alone that tell ratings apart.

    Groups of rows are many, and most columns are not needed of any.
    """
    return tidy(_told_apart(ratings)[np.asarray(chosen, bool)].assign(use=True), ratings.order)


def with_use(ratings: Ratings, use: pd.Series) -> Ratings:
    """Return the ratings with another choice of what is used, with the columns that conditions are compared by."""
    return tidy(_told_apart(ratings).assign(use=use), ratings.order)


_TOLD_BY = (
    "session", "value", "raw_value", "keyed", "scale_min", "scale_max", "kind", "method", "role", "word",
)  # fmt: skip


def _told_apart(ratings: Ratings) -> pd.DataFrame:
    """Return every rating with the columns that tell it apart. Ticks have the name of their question already."""
    return ratings.rows[[name for name in (*_KEYS, *_TOLD_BY) if name in ratings.rows]].assign(unit="")


def _turn_scores(table: pd.DataFrame) -> tuple[pd.DataFrame, frozenset[str]]:
    """Return the table with reversed scores turned round, as its column `keyed` has them, and the questions of these.

    The answers as they were given stay in `raw_value`, where the table has it.
    """
    if "keyed" not in table:
        return table, frozenset()
    keyed = pd.to_numeric(table["keyed"], errors="coerce")
    is_turned = (table["kind"] == "score") & keyed.notna() & (keyed != table["value"])
    if not is_turned.any():
        return table, frozenset()
    turned = frozenset(map(str, table["question"][is_turned].unique()))
    return table.assign(value=table["value"].where(~is_turned, keyed)), turned


def _planned_look(people: int, order: RowOrder) -> LookCorrection | None:
    """Return the correction for the looks of the plan; None without any."""
    if not people or not order.looks:
        return None
    return planned_look(people, order.looks, order.looks_taken, is_over=order.is_over)


def orient_comparisons(rows: pd.DataFrame, conditions: Sequence[str], references: frozenset[str]) -> pd.DataFrame:
    """Return the rows with every comparison from the side of the earlier condition: tables of winners are not."""
    is_against = (rows["kind"] == "diff") & rows["other_condition"].isin(references)
    is_two = rows["kind"].isin(COMPARISONS) & (rows["other_condition"] != "") & ~is_against
    if not is_two.any():
        return rows
    place = {name: at for at, name in enumerate(conditions)}
    is_later = is_two & (rows["condition"].map(place) > rows["other_condition"].map(place))
    if not is_later.any():
        return rows
    swapped = {
        one: rows[one].where(~is_later, rows[other])
        for pair in (("condition", "other_condition"), ("stimulus", "other_stimulus"))
        for one, other in (pair, pair[::-1])
    }
    return rows.assign(value=rows["value"].where(~is_later, 0.0 - rows["value"]), **swapped)


def _asked(table: pd.DataFrame) -> pd.Series:
    """Return the question of each rating; for what was ticked, with the text of the tick."""
    is_pick = (table["kind"] == "pick") & (table["unit"] != "") & ~is_word(table)
    return table["question"].where(~is_pick, table["question"] + ": " + table["unit"])


def is_word(table: pd.DataFrame) -> pd.Series:
    """Return of each rating whether it is about one word of a transcript."""
    if "word" not in table:
        return pd.Series(data=False, index=table.index)
    return (table["kind"] == "pick") & (table["unit"] != "") & (table["word"] != "")


def is_counted(table: pd.DataFrame) -> pd.Series:
    """Return of each row whether it counts as a rating: of all words of one answer, the first."""
    return ~is_word(table) | (table["unit"] == "1") if "word" in table else ~is_word(table)


def rating_count(table: pd.DataFrame) -> int:
    """Return how many ratings there are; all words of a transcript that somebody judged are one."""
    return int(is_counted(table).sum())


def _mirrored(votes: pd.DataFrame, kinds: Mapping[str, str], references: frozenset[str]) -> pd.DataFrame:
    """Return the votes, and those between two conditions under test also from the side of the other."""
    kind = votes["question"].map(kinds)
    is_against = (kind == "diff") & votes["other_condition"].isin(references)
    turned = votes[kind.isin(COMPARISONS) & ~is_against & (votes["other_condition"] != "")]
    if turned.empty:
        return votes
    other = turned.assign(
        value=-turned["value"],
        condition=turned["other_condition"],
        stimulus=turned["other_stimulus"],
        other_condition=turned["condition"],
        other_stimulus=turned["stimulus"],
    )
    return pd.concat([votes, other], ignore_index=True).sort_values(_KEYS, kind="stable", ignore_index=True)


def _ordered(names: pd.Series, first: Sequence[str], last: Sequence[str] = ()) -> tuple[str, ...]:
    present = set(names.unique())
    known = [name for name in first if name in present]
    final = [name for name in last if name in present and name not in known]
    return (*known, *sorted(present.difference(known, final)), *final)


# Ratings from a study's folder or from a table


@dataclass(frozen=True)
class LoadedRatings:
    """Ratings as analyses take them, and where they are from."""

    ratings: Ratings
    table: pd.DataFrame
    """As it was read: every rating, used or not."""
    path: Path
    population: str = ""
    """people or robots; empty where unknown."""
    study: Study | None = None
    """None for a table without a study."""
    run: int | None = None
    """Of the study; None where unknown."""
    collection: Collection | None = None
    """How people's ratings came together; None of robots, and of a table without a study."""
    sha256: str = ""
    """Of the file of ratings, as results keep it."""
    wordings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Every text in which a question was asked to those who are used; none of a table without a study."""
    own: OwnTable | None = None
    """How a table without a study was read, and what is odd in it."""

    @property
    def folder(self) -> Path:
        """The folder for results."""
        return self.study.outputs if self.study is not None else self.path.parent


def open_ratings(source: str | Path | Study, options: TableOptions | None = None) -> LoadedRatings:
    """Return the clean ratings of a study, or those of a table, of which `options` say what is not evident."""
    if options is not None:
        options.refuse_for(source)
    if not isinstance(source, Study) and is_table(source):
        return _table(Path(source), options)
    from beholder.analysis.time_marks import read_time_marks
    from beholder.methods import load_study

    study = source if isinstance(source, Study) else load_study(Path(source))
    clean = study.outputs / "clean"
    path = clean / "ratings.csv"
    if not path.is_file():
        store = study.folder / "store"
        if not store.is_dir():
            raise UserError(no_answers(str(store), ", or name a store with `beholder clean --store`"))
        raise UserError(Problem(str(path), "is not there", "", "Run `beholder clean` first."))
    account = json.loads((clean / "account.json").read_text(encoding="utf-8"))
    collected = Collection.read(account["collection"]) if "collection" in account else None
    share = collected.chain.share if collected is not None and collected.chain is not None else 1.0
    is_over = collected is not None and collected.ended in ("complete", "date")
    order = replace(row_order(study, account.get("roles", {})), share=share, is_over=is_over)
    table = load_ratings(path)
    # Robots come as they are sent: looks at them cost nothing.
    of_people = collected if account["population"] == "people" else None
    ratings = tidy(table, order if of_people is None else _with_looks(order, of_people))
    return LoadedRatings(
        replace(
            ratings,
            session_reasons=_session_reasons(clean),
            session_failures=_session_failures(clean),
            look=ratings.look if of_people is None else look_of(ratings, of_people),
            marks=read_time_marks(clean, study.analyse.marks),
        ),
        table,
        path,
        account["population"],
        study,
        account.get("run"),
        of_people,
        ratings_hash(path),
        wordings_of(account.get("texts", ())),
    )


def wordings_of(texts: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Return every text in which each question was asked, from the study texts of the account of the cleaning."""
    asked: dict[str, dict[str, None]] = {}
    for text in texts:
        for question in text["questions"] if text["used_sessions"] else ():
            asked.setdefault(str(question["id"]), {})[str(question["text"])] = None
    return {name: tuple(words) for name, words in asked.items()}


def _with_looks(order: RowOrder, collected: Collection) -> RowOrder:
    """Return the order with the looks that were recorded, in place of those of the plan."""
    recorded = {look.participants for look in collected.earlier_looks}
    return replace(order, looks_taken=tuple(sorted(recorded))) if recorded else order


def look_of(ratings: Ratings, collected: Collection) -> LookCorrection | None:
    """Return for which looks ratings of people are corrected: for any where no plan tells when people stop coming."""
    people = ratings.votes["participant"].nunique()
    is_planned = ratings.look is not None and not collected.changes_after_look
    if is_planned or not people:
        return ratings.look
    if not collected.may_depend_on_results:
        return fixed_look(people) if collected.earlier_looks else None
    return anytime_look(people, max(2, collected.first_participants))


def record_look(loaded: LoadedRatings, command: str, store: str | None = None) -> LoadedRatings:
    """Record in the ledger that people's ratings were looked at by a command; return them with all looks so far.

    A second look at the same ratings is not recorded. `store` is where they are from, if `clean` does not say it.
    """
    collected = loaded.collection
    if collected is None:
        return loaded
    folder = loaded.study.folder if loaded.study is not None else loaded.path.parent.parent
    url = store or (str(folder / "store") if collected.store == "store/" else collected.store)
    kept = loaded.table[loaded.table["use"]]
    people = int(kept["participant"].nunique())
    looked = add_look(collected, url, participants=people, ratings_sha256=loaded.sha256, command=command)
    return replace(loaded, collection=looked)


def row_order(study: Study, roles: Mapping[str, str]) -> RowOrder:
    """Return the order of a study's conditions and questions; `roles` are those of its conditions."""
    from beholder.methods import find
    from beholder.methods.contract import all_questions

    asked = all_questions(study, find(study.method))
    return RowOrder(
        conditions=tuple(condition.name for condition in study.conditions),
        last=tuple(str(name) for name in study.options.get("anchors") or ()),
        questions=_question_names(asked),
        asked=asked,
        references=frozenset(name for name, role in roles.items() if role == "reference"),
        settings=study.analyse,
        looks=study.design.looks,
    )


def _table(path: Path, options: TableOptions | None) -> LoadedRatings:
    own = load_table(path, options)
    table = own.table
    order = RowOrder(references=frozenset(table[table["role"] == "reference"]["condition"]))
    ratings, collected = tidy(_without_other_relation(table), order), _collected_beside(path)
    if collected is None:
        return LoadedRatings(ratings, table, path, own=own)
    ratings = replace(ratings, look=look_of(ratings, collected))
    return LoadedRatings(ratings, table, path, "people", collection=collected, sha256=ratings_hash(path), own=own)


def _collected_beside(path: Path) -> Collection | None:
    """Return how the ratings of people in the folder clean/ of a study came together; None of any other table."""
    account = path.parent / "account.json"
    if path.name != "ratings.csv" or not account.is_file():
        return None
    noted = json.loads(account.read_text(encoding="utf-8"))
    is_of_people = isinstance(noted, dict) and noted.get("population") == "people" and "collection" in noted
    return Collection.read(noted["collection"]) if is_of_people else None


def _session_reasons(clean: Path) -> dict[str, str]:
    """Return what is noted of each session, also what costs nothing."""
    path = clean / "sessions.csv"
    if not path.is_file():
        return {}
    table = table_cells(path)
    return dict(zip(table["session"], table["reasons"], strict=True))


def _session_failures(clean: Path) -> dict[str, str]:
    """Return every failed verdict of each session, also of checks that only record."""
    path = clean / "verdicts.csv"
    if not path.is_file():
        return {}
    table = table_cells(path)
    failed = table[table["verdict"] == "fail"]
    reasons = failed["check"] + ":" + failed["reason"]
    return {str(session): "; ".join(some) for session, some in reasons.groupby(failed["session"], sort=False)}


def _question_names(questions: Iterable[Question]) -> tuple[str, ...]:
    """Return what results call the questions: a question with ticks is one for each tick."""
    return tuple(
        name for one in questions for name in ([f"{one.id}: {plain_text(tick)}" for tick in one.ticks] or [one.id])
    )
