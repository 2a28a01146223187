"""The lists of a plan as JSON: compact, and each list readable on its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple, cast

from beholder.methods.contract import Asked, Break, Target, Trial, slot_ids, slots_from_columns
from beholder.planning.model import LETTERS, Addition, DealtBatch, GroupKey, Plan, PlannedList
from beholder.planning.slots import order_training
from beholder.study.questions import Scale
from beholder.types import Json, Role


def lists_to_json(plan: Plan) -> Iterator[Json]:
    """Yield every list as JSON; only the first list of a group holds the training that the group shares."""
    groups: set[GroupKey] = set()
    for planned in plan.lists:
        yield list_to_json(replace(planned, entries=_rated(planned)) if planned.group_key in groups else planned)
        groups.add(planned.group_key)


def later_lists_to_json(lists: Iterable[PlannedList]) -> list[Json]:
    """Return lists that follow others of their group, which hold the training, as JSON."""
    return [list_to_json(replace(planned, entries=_rated(planned))) for planned in lists]


def lists_from_json(data: Iterable[Json]) -> Iterator[PlannedList]:
    """Yield the lists that `lists_to_json` wrote, each with the training of its group."""
    training: dict[GroupKey, tuple[Trial, ...]] = {}
    reader = ListReader()
    for row in data:
        planned = reader.read(row)
        training.setdefault(planned.group_key, planned.training)
        rated = _rated(planned)
        yield replace(planned, entries=(*order_training(training[planned.group_key], rated), *rated))


def _rated(planned: PlannedList) -> tuple[Trial | Break, ...]:
    """Return the entries of a list without its training."""
    return tuple(entry for entry in planned.entries if isinstance(entry, Break) or entry.purpose != "train")


def list_to_json(planned: PlannedList) -> Json:
    """Return one list as compact JSON that can be read on its own.

    Scales and questions are written once and referred to by number; a page is the order of its questions, q1, q2, ...
    A slot's id, label, rated and colour are left out if they are the usual ones: s1, s2, ...; A, B, ... or none for a
    single slot; true; none.
    """
    scales: list[Scale] = []
    questions: dict[tuple[object, ...], tuple[int, Json]] = {}
    pages: dict[tuple[int, ...], int] = {}
    page_numbers: dict[int, int] = {}  # by identity, which is faster than comparing pages
    entries: list[Json] = []
    for entry in planned.entries:
        if isinstance(entry, Break):
            entries.append({"break": entry.id})
            continue
        number = page_numbers.get(id(entry.asked))
        if number is None:
            page = tuple([_question(asked, questions, scales) for asked in entry.asked])
            number = page_numbers[id(entry.asked)] = pages.setdefault(page, len(pages))
        entries.append(_trial_to_json(entry, number))
    return {
        "list": planned.number,
        "scales": [scale.model_dump(mode="json") for scale in scales],
        "questions": [data for _, data in questions.values()],
        "pages": [list(page) for page in pages],
        "entries": entries,
        **({"group": dict(planned.group)} if planned.group else {}),
        **({"makes_up": True} if planned.makes_up else {}),
        **({"added": list(planned.added)} if planned.added else {}),
        **({"batch": list(planned.batch)} if planned.batch else {}),
        **({"person": planned.person, "relations": dict(planned.relations)} if planned.person else {}),
    }


def _question(asked: Asked, questions: dict[tuple[object, ...], tuple[int, Json]], scales: list[Scale]) -> int:
    """Return the number of a question in a list, adding the question if it is new."""
    key = (*asked[1:4], id(asked.scale), asked.keyed, asked.ticks)  # by identity, which is faster than comparing scales
    if key not in questions:
        if asked.scale not in scales:
            scales.append(asked.scale)
        questions[key] = len(questions), _asked_to_json(asked, scales.index(asked.scale))
    return questions[key][0]


def _asked_to_json(asked: Asked, scale: int) -> Json:
    data: dict[str, Json] = {"question": asked.question, "purpose": asked.purpose, "text": asked.text, "scale": scale}
    if asked.keyed != "+":
        data["keyed"] = asked.keyed
    if asked.ticks:
        data["ticks"] = list(asked.ticks)
    return data


def _trial_to_json(trial: Trial, asked: int) -> dict[str, Json]:
    count = len(trial.slots)
    ids, stimuli, roles, labels, rated, colours = zip(*trial.slots, strict=True) if count else ((),) * 6
    data: dict[str, Json] = {
        "trial": trial.id,
        "content": trial.content,
        "asked": asked,
        "stimuli": stimuli,
        # One value for all where they are the same.
        "roles": roles[0] if roles and roles.count(roles[0]) == count else roles,
    }
    if trial.purpose != "rate":
        data["purpose"] = trial.purpose
    if ids != slot_ids(count):
        data["ids"] = ids
    if labels != _usual_labels(count):
        data["labels"] = labels
    if False in rated:
        data["rated"] = rated
    if colours.count(None) != count:
        data["colours"] = colours
    if trial.together:
        data["together"] = True
    if trial.passes > 1:
        data["passes"] = trial.passes
    if trial.draws:
        data["draws"] = trial.draws
    if trial.anchor:
        data["anchor"] = trial.anchor
    if trial.draw_probability is not None:
        data["probability"] = trial.draw_probability
    if trial.targets:
        data["targets"] = {where: list(target) for where, target in trial.targets.items()}
    return data


def list_from_json(data: Json) -> PlannedList:
    """Return the list that `list_to_json` wrote."""
    return ListReader().read(data)


class ListReader:
    """Reads the lists of a plan. Pages and trials that occur in several lists are one object."""

    def __init__(self) -> None:
        self._pages: dict[GroupKey, _ReadPages] = {}

    def read(self, data: Json) -> PlannedList:
        """Return the list that `list_to_json` wrote."""
        written = cast("Mapping[str, Any]", data)
        head = tuple(written[part] for part in _HEAD)
        # Lists of the groups alternate, and each group may have its own questions.
        group = tuple(sorted(written.get("group", {}).items()))
        pages = self._pages.get(group)
        if pages is None or pages.head != head:
            pages = self._pages[group] = _ReadPages(head, _pages(*head), {})
        return PlannedList(
            written["list"],
            tuple([Break(entry["break"]) if "break" in entry else pages.trial(entry) for entry in written["entries"]]),
            written.get("group", {}),
            written.get("makes_up", False),
            Addition(*written["added"]) if "added" in written else None,
            DealtBatch(*written["batch"]) if "batch" in written else None,
            written.get("person", 0),
            written.get("relations", {}),
        )


_HEAD = ("scales", "questions", "pages")

_PLAIN = frozenset({"trial", "content", "asked", "stimuli", "roles"})
"""The keys of a trial without unusual properties."""


class _ReadPages(NamedTuple):
    """The pages and trials that were read under one head."""

    head: tuple[Any, ...]
    pages: list[tuple[Asked, ...]]
    trials: dict[tuple[Any, ...], Trial]

    def trial(self, entry: Mapping[str, Any]) -> Trial:
        """Return the trial of an entry; plain trials are made once."""
        asked = self.pages[entry["asked"]]
        if entry.keys() != _PLAIN or not isinstance(entry["roles"], str):
            return _trial_from_json(entry, asked)
        key = (entry["trial"], entry["content"], entry["asked"], entry["roles"], *entry["stimuli"])
        trial = self.trials.get(key)
        if trial is None:
            trial = self.trials[key] = _trial_from_json(entry, asked)
        return trial


def _pages(scales: Sequence[Any], questions: Sequence[Any], pages: Sequence[Any]) -> list[tuple[Asked, ...]]:
    parsed = [Scale.model_validate(scale) for scale in scales]
    return [
        tuple(_asked_from_json(f"q{place}", questions[q], parsed) for place, q in enumerate(page, 1)) for page in pages
    ]


def _asked_from_json(name: str, data: Mapping[str, Any], scales: Sequence[Scale]) -> Asked:
    return Asked(
        name,
        data["question"],
        data["purpose"],
        data["text"],
        scales[data["scale"]],
        data.get("keyed", "+"),
        tuple(data.get("ticks", ())),
    )


def _trial_from_json(data: Mapping[str, Any], asked: tuple[Asked, ...]) -> Trial:
    stimuli = data["stimuli"]
    count = len(stimuli)
    roles = data["roles"]
    slots = slots_from_columns(
        data.get("ids") or slot_ids(count),
        stimuli,
        cast("list[Role]", [roles] * count if isinstance(roles, str) else roles),
        data.get("labels") or _usual_labels(count),
        data.get("rated") or [True] * count,
        data.get("colours") or [None] * count,
    )
    return Trial(
        id=data["trial"],
        content=data["content"],
        purpose=data.get("purpose", "rate"),
        slots=slots,
        asked=asked,
        draws=data.get("draws", {}),
        targets={where: _target(*target) for where, target in data.get("targets", {}).items()},
        together=data.get("together", False),
        anchor=data.get("anchor", ""),
        passes=data.get("passes", 1),
        draw_probability=data.get("probability"),
    )


def _target(value: float, tolerance: float, message: str, is_trap: bool, also: Sequence[float]) -> Target:
    return Target(value, tolerance, message, is_trap, tuple(also))


@lru_cache(maxsize=64)
def _usual_labels(count: int) -> tuple[str | None, ...]:
    return (None,) if count == 1 else tuple(LETTERS[:count])
