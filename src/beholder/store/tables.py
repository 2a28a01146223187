"""The tables of facts: their columns, and the conversion between facts and rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Literal, overload

import orjson
import pydantic_core

from beholder.store.contract import (
    Answer,
    End,
    Events,
    Fact,
    LedgerEntry,
    NotJson,
    PosedAttempt,
    Session,
    StoredVerdict,
    StudyRecord,
    Table,
)
from beholder.types import Json

Kind = Literal["text", "json", "time", "int", "real"]
Row = tuple[Any, ...]


@dataclass(frozen=True)
class TableShape:
    """The columns of one table, the key first."""

    columns: tuple[str, ...]
    kinds: tuple[Kind, ...]
    key: tuple[str, ...]

    @cached_property
    def readings(self) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
        """The conversions of columns that a database stores as text."""
        pairs = zip(self.columns, self.kinds, strict=True)
        return tuple((column, _READ[kind]) for column, kind in pairs if kind in _READ)

    @property
    def quoted(self) -> str:
        """The columns as SQL, quoted, because `from` and `check` are keywords."""
        return ", ".join(f'"{column}"' for column in self.columns)


def _shape(key: str, rest: str) -> TableShape:
    kinds: dict[str, Kind] = {"at": "time"}
    kinds |= dict.fromkeys(("list", "run", "visit", "from", "entry", "amount_minor"), "int")
    kinds |= dict.fromkeys(("rows", "participants", "sessions"), "int")
    kinds |= dict.fromkeys(("shown_ms", "sent_ms"), "real")
    kinds |= dict.fromkeys(("probe", "factors", "trials", "device", "public", "private"), "json")
    kinds |= dict.fromkeys(("answer", "playback", "events", "evidence"), "json")
    columns = (*key.split(), *rest.split())
    return TableShape(columns, tuple(kinds.get(column, "text") for column in columns), tuple(key.split()))


SHAPES: Mapping[Table, TableShape] = {
    "studies": _shape("digest", "plan_digest study yaml software at"),
    "stimuli": _shape("digest stimulus", "content condition role medium sha256 probe factors"),
    "lists": _shape("plan_digest list", "trials"),
    "sessions": _shape("session", "participant digest run mode visit device at"),
    "claims": _shape("session", "list at"),
    "posed": _shape("session key", "seed public private at"),
    "answers": _shape("session key", "answer playback shown_ms sent_ms input tab at"),
    "events": _shape("session key tab from", "events at"),
    "told": _shape("session key check", "verdict reason evidence at"),
    "ends": _shape("session", "outcome reason code receipt at"),
    "erasures": _shape("session", "rows at"),
    "removals": _shape("run", "participants sessions at"),
    "ledger": _shape(
        "entry",
        "kind event submission participant session amount_minor currency reason_code reason_text batch provider_ref "
        "evidence at",
    ),
}
ERASABLE: tuple[Table, ...] = ("posed", "answers", "events", "told")
"""The tables that an erasure deletes from; all other facts stay. A removal takes the session, too."""


def _unwrap(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


# Escaped to ASCII, so that lone surrogates from browsers are read back unchanged.
_encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_unwrap)


def _encode(value: Json) -> str:
    try:
        return _encoder.encode(value)
    except ValueError as error:
        raise NotJson(str(error)) from None


def to_json(value: Json) -> str:
    """Return compact JSON; NaN and infinities raise NotJson. What is encoded already is returned as it is."""
    if isinstance(value, EncodedJson | EncodedList):
        return value.text
    try:
        text = orjson.dumps(value, default=_unwrap).decode()
    except orjson.JSONEncodeError:  # lone surrogates, large integers, keys that are numbers
        return _encode_slowly(value)
    return _encode_slowly(value) if "null" in text else text  # which is also what it makes of NaN


def _encode_slowly(value: Json) -> str:
    try:
        text = pydantic_core.to_json(value).decode()
    except pydantic_core.PydanticSerializationError:
        return _encode(value)
    return _encode(value) if "NaN" in text or "Infinity" in text else text


def encode_finite(value: Any) -> str:
    """Return the same of what holds no NaN or infinity for certain, so that nobody looks; data classes are objects."""
    try:
        return orjson.dumps(value, default=_unwrap).decode()
    except orjson.JSONEncodeError:
        return _encode_slowly(value)


def from_json(text: str) -> Any:
    """Return the value that `to_json` encoded, with lists for tuples."""
    try:
        return pydantic_core.from_json(text)
    except ValueError:
        return json.loads(text)


def to_text(value: str) -> str:
    """Return text that every database accepts: NUL and lone surrogates become U+FFFD."""
    if value.isascii() and "\0" not in value:
        return value
    return value.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def to_time(value: datetime) -> datetime:
    """Return the same time in UTC; a time without zone raises ValueError."""
    if value.tzinfo is None:
        raise ValueError(f"{value.isoformat()} has no time zone")
    return value.astimezone(UTC)


def to_iso(value: datetime) -> str:
    """Return UTC ISO text of fixed width, so that texts sort as times do."""
    return to_time(value).isoformat(timespec="microseconds").replace("+00:00", "Z")


_READ: Mapping[Kind, Callable[[Any], Any]] = {
    "json": from_json,
    "time": lambda value: value if isinstance(value, datetime) else datetime.fromisoformat(value),
}


def read_row(table: Table, row: Sequence[Any]) -> dict[str, Any]:
    """Return a row by column, JSON decoded, times as aware datetimes."""
    shape = SHAPES[table]
    read = dict(zip(shape.columns, row, strict=True))
    for column, reading in shape.readings:
        read[column] = reading(read[column])
    return read


def fact_row(fact: Fact) -> tuple[Table, Row]:
    """Return the table of a fact and its row; the last column is always the time."""
    session, at = to_text(fact.session), to_time(fact.at)
    match fact:
        case Answer():
            return "answers", (
                session, to_text(fact.key), to_json(fact.answer), to_json(fact.playback), float(fact.shown_ms),
                float(fact.sent_ms), to_text(fact.input), to_text(fact.tab), at,
            )  # fmt: skip
        case Events():
            return "events", (session, to_text(fact.key), to_text(fact.tab), fact.first, to_json(fact.events), at)
        case StoredVerdict():
            return "told", (
                session, to_text(fact.key), to_text(fact.check), to_text(fact.verdict), to_text(fact.reason),
                to_json(fact.evidence), at,
            )  # fmt: skip
        case PosedAttempt():
            return "posed", (
                session, to_text(fact.key), to_text(fact.seed), to_json(fact.public), to_json(fact.private), at,
            )  # fmt: skip
        case End():
            return "ends", (
                session, fact.outcome, to_text(fact.reason), to_text(fact.code), to_text(fact.receipt), at,
            )  # fmt: skip


def entry_row(entry: LedgerEntry) -> Row:
    """Return the row of an entry of the ledger; the last column is the time."""
    return (
        entry.entry, to_text(entry.kind), to_text(entry.event), to_text(entry.submission), to_text(entry.participant),
        to_text(entry.session), entry.amount_minor, to_text(entry.currency), to_text(entry.reason_code),
        to_text(entry.reason_text), to_text(entry.batch), to_text(entry.provider_ref), to_json(entry.evidence),
        to_time(entry.at),
    )  # fmt: skip


def session_row(session: Session) -> Row:
    """Return the row of a session."""
    return (
        to_text(session.session), to_text(session.participant), session.digest, session.run, session.mode,
        session.visit, to_json(session.device), to_time(session.at),
    )  # fmt: skip


def study_row(record: StudyRecord) -> Row:
    """Return the row of a study text."""
    return (
        record.digest, record.plan_digest, record.study, to_text(record.yaml), record.software, to_time(record.at),
    )  # fmt: skip


def stimulus_rows(record: StudyRecord) -> list[Row]:
    """Return one row per stimulus of a study text."""
    shape = SHAPES["stimuli"]
    pairs = list(zip(shape.columns[1:], shape.kinds[1:], strict=True))
    return [
        (record.digest, *(to_json(item[name]) if kind == "json" else to_text(str(item[name])) for name, kind in pairs))
        for item in record.stimuli
    ]


def list_rows(record: StudyRecord) -> list[Row]:
    """Return one row per planned list, numbered from 1."""
    return [(record.plan_digest, number, to_json(trials)) for number, trials in enumerate(record.lists, start=1)]


def read_session(row: Sequence[Any]) -> Session:
    """Return the session of a row."""
    return Session(**read_row("sessions", row))


class EncodedJson(Mapping[str, Json]):
    """A JSON object as text that is decoded when somebody looks into it.

    The playback evidence of an answer is larger than the answer, loaded with every session, and seldom looked at.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _read(self) -> dict[str, Json]:
        read: dict[str, Json] = from_json(self.text)
        return read

    def __getitem__(self, key: str) -> Json:
        return self._read[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read)

    def __len__(self) -> int:
        return len(self._read)

    def __repr__(self) -> str:
        return repr(self._read)


class EncodedList(Sequence[Json]):
    """A JSON list as text, of the same kind: events are stored, and seldom read by who stores them."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _read(self) -> list[Json]:
        read: list[Json] = from_json(self.text)
        return read

    @overload
    def __getitem__(self, place: int) -> Json: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Json]: ...
    def __getitem__(self, place: int | slice) -> Json | Sequence[Json]:
        return self._read[place]

    def __len__(self) -> int:
        return len(self._read)


def read_answer(row: Sequence[Any]) -> Answer:
    """Return the answer of a row; its playback is decoded when it is looked at."""
    session, key, answer, playback, shown_ms, sent_ms, input_, tab, at = row
    return Answer(
        session, key, from_json(answer), EncodedJson(playback), shown_ms, sent_ms, input_, tab, _READ["time"](at)
    )


def read_events(row: Sequence[Any]) -> Events:
    """Return the batch of events of a row."""
    columns = read_row("events", row)
    return Events(first=columns.pop("from"), **columns)


def read_told(row: Sequence[Any]) -> StoredVerdict:
    """Return the verdict of a row of `told`."""
    return StoredVerdict(**read_row("told", row))


def read_posed(row: Sequence[Any]) -> PosedAttempt:
    """Return the posed attempt of a row."""
    return PosedAttempt(**read_row("posed", row))


def read_end(row: Sequence[Any]) -> End:
    """Return the end of a row."""
    return End(**read_row("ends", row))


def read_entry(row: Sequence[Any]) -> LedgerEntry:
    """Return the entry of a row of the ledger."""
    return LedgerEntry(**read_row("ledger", row))


def entry_columns(entry: LedgerEntry) -> dict[str, Any]:
    """Return an entry by column, in the order of the table."""
    return {column: getattr(entry, column) for column in SHAPES["ledger"].columns}


def read_record(study: Sequence[Any], stimuli: Sequence[Sequence[Any]], lists: Sequence[Sequence[Any]]) -> StudyRecord:
    """Return the record of a study from its rows."""
    rows = [read_row("stimuli", row) for row in stimuli]
    return StudyRecord(
        **read_row("studies", study),
        stimuli=[{name: value for name, value in row.items() if name != "digest"} for row in rows],
        lists=[read_row("lists", row)["trials"] for row in lists],
    )
