"""The tables of a ReSEval test as sessions: who took part, and what every response stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from beholder.importing.contract import (
    WHOLE,
    ForeignVerdict,
    ImportedSession,
    ImportedTrial,
    ImportOptions,
    Origin,
    QuestionnaireAnswers,
    Unknown,
)
from beholder.importing.reseval.experiment import QUALITY
from beholder.importing.source_folder import SourceFolder, SourceRow, number_in

if TYPE_CHECKING:
    from beholder.importing.reseval.experiment import Experiment, PrescreenItem
    from beholder.importing.reseval.samples import Samples

RESPONSES = "responses.csv"
_FILES = ("conditions.csv", "files.csv", "participants.csv", RESPONSES)
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "conditions.csv": ("condition",),
    "files.csv": ("stem", "extension", "uses"),
    "participants.csv": ("id", "completioncode", "datetaken"),
    RESPONSES: ("stem", "participant", "orderasked", "response"),
}
STALE = "the last change of a slider may be missing: the tool stored each value one change late"
ORDER = "condition order: names sort in another way in the tool's database than in its analysis"
_MIDDLE = 50
_UNKNOWN: frozenset[Unknown] = frozenset({"slots", "time", "date", "playback"})


@dataclass
class ResultTables:
    """What the tables say of conditions and files, and where they are."""

    names: Mapping[str, str] = field(default_factory=dict)
    """The path of each table, by its name."""
    conditions: tuple[str, ...] = ()
    """In the order of the table, which is that of the database."""
    stems: Mapping[str, str] = field(default_factory=dict)
    """The ending of each file, by what results call it."""
    crowd: str = ""
    """The path of the assignments of Mechanical Turk; empty without any."""


def result_tables(source: SourceFolder, experiment: Experiment) -> ResultTables:
    """Return the tables of a test, with the small ones read; raise nothing where there are none."""
    found = [name for name in source.names if PurePosixPath(name).name in _FILES]
    mine = [name for name in found if experiment.name in PurePosixPath(name).parts] or found
    tables = ResultTables({PurePosixPath(name).name: name for name in mine})
    crowd = [name for name in source.names if PurePosixPath(name).name == "crowdsource.json"]
    tables.crowd = crowd[0] if crowd else ""
    for name in source.names:
        if PurePosixPath(name).name in ("results.json", "results.pdf"):
            source.settle(name, "unsupported", "results are computed anew, from the responses")
    tables.conditions = tuple(row["condition"] for row in _rows(source, tables, "conditions.csv") if row["condition"])
    tables.stems = {row["stem"]: row["extension"] for row in _rows(source, tables, "files.csv") if row["stem"]}
    return tables


def _rows(source: SourceFolder, tables: ResultTables, name: str, **told: str) -> Iterator[SourceRow]:
    """Yield the rows of a table, whose columns are known; nothing where it is not there."""
    path = tables.names.get(name)
    if path is None:
        return
    table = source.table(path, _COLUMNS[name])
    for column in table.columns:
        if column in _COLUMNS[name]:
            table.column(column, _MEANINGS.get(column, "nothing: it says nothing of what was answered"))
        elif column in told:
            table.column(column, told[column])
    for row in table.rows():
        if name in ("conditions.csv", "files.csv"):
            row.mapped("stimuli")
        yield row


_MEANINGS = {
    "condition": "conditions", "stem": "content", "extension": "stimuli", "id": "participant",
    "participant": "participant", "datetaken": "when the session began", "orderasked": "position", "response": "rating",
    "completioncode": "nothing: a code is given at the first question, and says nothing of completion",
}  # fmt: skip


# Sessions


class _Response(NamedTuple):
    place: int
    row: SourceRow


def read_sessions(
    source: SourceFolder, experiment: Experiment, samples: Samples, tables: ResultTables, options: ImportOptions
) -> list[ImportedSession]:
    """Return the sessions of a test; none without its tables."""
    if RESPONSES not in tables.names:
        return []
    people = _people(source, experiment, tables)
    responses = _responses(source, tables)
    workers, verdicts = _workers(source, tables)
    expected = experiment.trials or max((one.place + 1 for some in responses.values() for one in some), default=0)
    decoder = _Decoder(experiment, samples, tables, options)
    sessions = []
    for name in dict.fromkeys((*people, *responses)):
        given = sorted(responses.get(name, ()), key=lambda one: one.place)
        trials = [trial for one in given if (trial := decoder.trial(one.row)) is not None]
        is_whole = {one.place for one in given} >= set(range(expected))
        before, after, began, is_out = people.get(name, (None, None, None, False))
        outcome: Any = "completed" if given and is_whole else "screened_out" if is_out and not given else None
        worker = workers.get(name, "")
        sessions.append(
            ImportedSession(
                worker or name, trials, "mturk" if worker else "", outcome, at=began, unknown=_UNKNOWN, before=before,
                after=after, verdicts=verdicts.get(name, ()),
            )
        )  # fmt: skip
    return sessions


def _responses(source: SourceFolder, tables: ResultTables) -> dict[str, list[_Response]]:
    """Return the responses of each participant: of one that was sent twice, the first."""
    found: dict[str, list[_Response]] = {}
    seen: set[tuple[str, int]] = set()
    for row in _rows(source, tables, RESPONSES):
        person, place = row["participant"], number_in(row["orderasked"])
        if not person or place is None or place < 0 or place != int(place):
            row.broken(f"has no participant or place: {person!r}, {row['orderasked']!r}", "left out")
        elif (person, int(place)) in seen:
            row.broken("was sent twice: this participant has answered this page before", "the first answer is kept")
        else:
            seen.add((person, int(place)))
            found.setdefault(person, []).append(_Response(int(place), row))
    return found


_Person = tuple["QuestionnaireAnswers | None", "QuestionnaireAnswers | None", "datetime | None", bool]


def _people(source: SourceFolder, experiment: Experiment, tables: ResultTables) -> dict[str, _Person]:
    """Return the answers of each participant before and after, when they came, and whether they were screened out."""
    items = {item.column.lower(): item for item in (*experiment.before, *experiment.after)}
    found: dict[str, _Person] = {}
    told = {column: f"answer to {item.keys['id']}" for column, item in items.items()}
    for row in _rows(source, tables, "participants.csv", **told):
        if not row["id"] or row["id"] in found:
            row.broken("has no id, or one that is there before", "left out")
            continue
        row.mapped("participant")
        is_out = False
        parts = []
        for some in (experiment.before, experiment.after):
            answers = {item.keys["id"]: cell for item in some if (cell := _answer(source, item, row))}
            is_out |= any(
                "correct" in item.keys and answers.get(item.keys["id"]) not in (None, *item.keys["correct"])
                for item in some
            )
            origin = Origin(row.table.name, {WHOLE: row.line})
            parts.append(QuestionnaireAnswers(answers, origin) if answers else None)
        found[row["id"]] = (parts[0], parts[1], _time(row["datetaken"]), is_out)
    if any(began is not None for _, _, began, _ in found.values()):
        source.provenance.assume("time zone", "UTC", "DateTaken has no time zone")
    return found


def _answer(source: SourceFolder, item: PrescreenItem, row: SourceRow) -> str | None:
    """Return an answer that can have been given; the hearing test writes its count over the last one before it."""
    cell = row[item.column.lower()]
    if item.options and cell and cell not in item.options:
        why = "the hearing test writes over it" if number_in(cell) is not None else "it is none of the answers"
        source.provenance.warn(f"{row.where}: the answer to {item.column} is {cell!r}, and left out: {why}.")
        return None
    return cell or None


def _time(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text.replace("/", "-"))
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _workers(source: SourceFolder, tables: ResultTables) -> tuple[dict[str, str], dict[str, Sequence[ForeignVerdict]]]:
    """Return the id on Mechanical Turk of each participant, and whether their work was accepted."""
    workers: dict[str, str] = {}
    verdicts: dict[str, Sequence[ForeignVerdict]] = {}
    if not tables.crowd:
        return workers, verdicts
    for one in source.json(tables.crowd, is_personal=True):
        fields = dict(one.items())
        person = fields["ParticipantID"].mapped("participant").text() if "ParticipantID" in fields else ""
        if not person:
            one.unsupported("nobody in the tables has this assignment")
            continue
        if "WorkerId" in fields:
            workers[person] = fields["WorkerId"].mapped("identity").text()
        if "AssignmentStatus" in fields:
            status = fields["AssignmentStatus"].mapped("foreign verdict accept").text()
            said: Any = {"Approved": "pass", "Rejected": "fail"}.get(status, "unknown")
            verdicts[person] = [ForeignVerdict("accept", said, status)]
        one.rest("the answers of the assignment are those of the tables")
    return workers, verdicts


# Responses


class _Decoder:
    """Says what a response stands for: a condition, a number, digits for all conditions, or a sign for each word."""

    def __init__(self, experiment: Experiment, samples: Samples, tables: ResultTables, options: ImportOptions) -> None:
        self.samples, self.options = samples, options
        self._read = {
            "ab": self._choice, "abx": self._choice, "mos": self._score, "mushra": self._scores,
            "wordselect": self._words,
        }[experiment.test]  # fmt: skip
        rows = [name for name in tables.conditions if name in samples.conditions]
        self._order = rows if len(rows) == len(samples.conditions) else sorted(samples.conditions)
        orders = (rows or self._order, sorted(samples.conditions), sorted(samples.conditions, key=str.casefold))
        self._is_clear = len({tuple(order) for order in orders}) == 1

    def trial(self, row: SourceRow) -> ImportedTrial | None:
        """Return the page that a response is of; None where it says nothing, which is told."""
        content = self.samples.contents.get(row["stem"])
        if content is None:
            row.broken(f"Stem is {row['stem']}, which is no file of the test", "left out")
            return None
        if not row["response"]:
            row.broken("has no response", "left out")
            return None
        return self._read(row, content)

    def _origin(self, row: SourceRow, *doubts: str) -> Origin:
        row.mapped("rating")
        uncertain = {WHOLE: "; ".join(doubts)} if doubts else {}
        return Origin(row.table.name, {WHOLE: row.line}, {WHOLE: row["response"]}, uncertain)

    def _choice(self, row: SourceRow, content: str) -> ImportedTrial | None:
        chosen = self.samples.stimulus(row["stem"], row["response"])
        if chosen is None:
            row.broken(f"Response is {row['response']}, which is no condition", "left out")
            return None
        shown = tuple(str(self.samples.stimulus(row["stem"], name)) for name in self.samples.conditions)
        return ImportedTrial(content, shown, self._origin(row), choices={QUALITY: {"better": chosen, "grade": 1}})

    def _score(self, row: SourceRow, content: str) -> ImportedTrial | None:
        condition, _, digits = row["response"].rpartition("-")
        stimulus, value = self.samples.stimulus(row["stem"], condition), number_in(digits)
        if stimulus is None or value is None or value not in range(1, 6):
            row.broken(f"Response is {row['response']}, not a condition, a hyphen and 1 to 5", "left out")
            return None
        return ImportedTrial(content, (stimulus,), self._origin(row), {(QUALITY, stimulus): int(value)})

    def _scores(self, row: SourceRow, content: str) -> ImportedTrial | None:
        digits, count = row["response"], len(self._order)
        parts = [digits[place : place + 3] for place in range(0, len(digits), 3)]
        if not digits.isdecimal() or len(digits) != 3 * count or any(int(part) > 100 for part in parts):
            row.broken(f"Response is {digits}, not {count} numbers from 000 to 100", "left out")
            return None
        values: dict[tuple[str, str], Any] = {}
        for name, part in zip(self._order, parts, strict=True):
            is_dropped = self.options.drop_untouched and int(part) == _MIDDLE
            values[QUALITY, str(self.samples.stimulus(row["stem"], name))] = None if is_dropped else int(part)
        doubts = (STALE,) if self._is_clear else (STALE, ORDER)
        return ImportedTrial(content, tuple(stimulus for _, stimulus in values), self._origin(row, *doubts), values)

    def _words(self, row: SourceRow, content: str) -> ImportedTrial | None:
        words, signs = self.samples.words.get(content), row["response"]
        if words is None:
            row.broken("the words of the file were not found", "left out")
            return None
        if set(signs) - {"0", "1"} or len(signs) != len(words):
            row.broken(f"Response has {len(signs)} signs for {len(words)} words", "left out")
            return None
        marked = [place for place, sign in enumerate(signs) if sign == "1"]
        stimulus = str(self.samples.stimulus(row["stem"], self.samples.conditions[0]))
        pick: dict[str, Any] = {"words": marked, "none": not marked}
        return ImportedTrial(content, (stimulus,), self._origin(row), choices={QUALITY: pick})
