"""The plan: every list, every trial, every outcome of chance; and a list as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from beholder.methods.contract import Asked, Break, Slot, Target, Trial, Units
from beholder.study.scale import Scale
from beholder.types import Json, Role

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Labels of the slots that are permuted; those that stay have words in small letters."""
CHECKING: frozenset[Role] = frozenset({"attention", "gold", "trap", "repeat"})
"""Roles of slots that are answered for a check, and not rated."""


def is_check(trial: Trial) -> bool:
    """Return whether nothing on a page is rated: it is there for a check alone."""
    for slot in trial.slots:  # noqa: SIM110 (a plan has very many)
        if slot.rated and slot.role not in CHECKING:
            return False
    return True


@dataclass(frozen=True)
class PlannedList:
    """One sequence of trials and breaks: what a session claims. Numbered from 1."""

    number: int
    entries: tuple[Trial | Break, ...]

    @property
    def trials(self) -> tuple[Trial, ...]:
        """What is answered, in order, pages that are there for a check among it: position 1 is the first of them."""
        return tuple(entry for entry in self.entries if isinstance(entry, Trial) and entry.purpose != "train")

    @property
    def rated(self) -> tuple[Trial, ...]:
        """What is rated, in order."""
        return tuple(trial for trial in self.trials if not is_check(trial))

    @property
    def training(self) -> tuple[Trial, ...]:
        """What people practise on before: the same in every list of a plan."""
        return tuple(entry for entry in self.entries if isinstance(entry, Trial) and entry.purpose == "train")


@dataclass(frozen=True)
class Plan:
    """Every list of a study, deterministic in study, stimuli and seed."""

    plan_digest: str
    seed: int
    lists: tuple[PlannedList, ...]
    units: Units | None = field(default=None, compare=False, repr=False)
    """What was dealt; a plan that was read from its folder does not know."""
    replaced: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    """How often an attention stimulus stands in the place of each condition; known as `units` are."""


def lists_to_json(plan: Plan) -> Iterator[Json]:
    """Yield every list as JSON; the first alone holds the training, which all share."""
    for place, planned in enumerate(plan.lists):
        yield list_to_json(planned if place == 0 else PlannedList(planned.number, _rated(planned)))


def lists_from_json(data: Iterable[Json]) -> Iterator[PlannedList]:
    """Yield the lists that `lists_to_json` wrote, each with the training of the first."""
    training: tuple[Trial, ...] = ()
    reader = ListReader()
    for place, one in enumerate(data):
        planned = reader.read(one)
        training = planned.training if place == 0 else training
        yield PlannedList(planned.number, (*training, *_rated(planned)))


def _rated(planned: PlannedList) -> tuple[Trial | Break, ...]:
    """Return a list without its training."""
    return tuple(entry for entry in planned.entries if isinstance(entry, Break) or entry.purpose != "train")


def list_to_json(planned: PlannedList) -> Json:
    """Return a list as JSON that stands alone and is small.

    Scales and questions are written once and referred to by number: a page is the order of its questions, q1, q2, ...
    A slot's id, label, rated and colour are left out where they are the usual ones: s1, s2, ...; A, B, ... or none for
    a single slot; true; none.
    """
    scales: list[Scale] = []
    questions: dict[tuple[object, ...], tuple[int, Json]] = {}
    pages: dict[tuple[int, ...], int] = {}
    entries: list[Json] = []
    for entry in planned.entries:
        if isinstance(entry, Break):
            entries.append({"break": entry.id})
            continue
        page = []
        for asked in entry.asked:
            key = (
                *asked[1:4],
                id(asked.scale),
                asked.keyed,
                asked.ticks,
            )  # a scale takes longer to compare than to name
            if key not in questions:
                if asked.scale not in scales:
                    scales.append(asked.scale)
                questions[key] = len(questions), _asked_to_json(asked, scales.index(asked.scale))
            page.append(questions[key][0])
        entries.append(_trial_to_json(entry, pages.setdefault(tuple(page), len(pages))))
    return {
        "list": planned.number,
        "scales": [scale.model_dump(mode="json") for scale in scales],
        "questions": [data for _, data in questions.values()],
        "pages": [list(page) for page in pages],
        "entries": entries,
    }


def list_from_json(data: Json) -> PlannedList:
    """Return the list that `list_to_json` wrote."""
    return ListReader().read(data)


_HEAD = ("scales", "questions", "pages")
_PLAIN = frozenset({"trial", "content", "asked", "stimuli", "roles"})
"""What is written of a trial of which nothing is unusual."""


class ListReader:
    """Reads the lists of a plan. Pages and trials that come in several of them are one object, made once."""

    def __init__(self) -> None:
        self._head: tuple[Any, ...] = ()
        self._pages: list[tuple[Asked, ...]] = []
        self._trials: dict[tuple[Any, ...], Trial] = {}

    def read(self, data: Json) -> PlannedList:
        """Return the list that `list_to_json` wrote."""
        written = cast("Mapping[str, Any]", data)
        head = tuple(written[part] for part in _HEAD)
        if head != self._head:
            self._head, self._pages, self._trials = head, _pages(*head), {}
        return PlannedList(
            written["list"],
            tuple([Break(one["break"]) if "break" in one else self._trial(one) for one in written["entries"]]),
        )

    def _trial(self, entry: Mapping[str, Any]) -> Trial:
        asked = self._pages[entry["asked"]]
        if entry.keys() != _PLAIN or not isinstance(entry["roles"], str):
            return _trial_from_json(entry, asked)
        key = (entry["trial"], entry["content"], entry["asked"], entry["roles"], *entry["stimuli"])
        known = self._trials.get(key)
        if known is None:
            known = self._trials[key] = _trial_from_json(entry, asked)
        return known


def _pages(scales: Sequence[Any], questions: Sequence[Any], pages: Sequence[Any]) -> list[tuple[Asked, ...]]:
    known = [Scale.model_validate(scale) for scale in scales]
    return [
        tuple(_asked_from_json(f"q{place}", questions[q], known) for place, q in enumerate(page, 1)) for page in pages
    ]


def _asked_to_json(asked: Asked, scale: int) -> Json:
    data: dict[str, Json] = {"question": asked.question, "purpose": asked.purpose, "text": asked.text, "scale": scale}
    if asked.keyed != "+":
        data["keyed"] = asked.keyed
    if asked.ticks:
        data["ticks"] = list(asked.ticks)
    return data


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


def _usual_ids(count: int) -> list[str]:
    return [f"s{place}" for place in range(1, count + 1)]


def _usual_labels(count: int) -> list[str | None]:
    return [None] if count == 1 else list(LETTERS[:count])


def _trial_to_json(trial: Trial, asked: int) -> dict[str, Json]:
    slots = trial.slots
    data: dict[str, Json] = {
        "trial": trial.id,
        "content": trial.content,
        "asked": asked,
        "stimuli": [slot.stimulus for slot in slots],
        "roles": _folded([slot.role for slot in slots]),
    }
    if trial.purpose != "rate":
        data["purpose"] = trial.purpose
    ids = [slot.id for slot in slots]
    if ids != _usual_ids(len(slots)):
        data["ids"] = ids
    labels = [slot.label for slot in slots]
    if labels != _usual_labels(len(slots)):
        data["labels"] = labels
    if not all(slot.rated for slot in slots):
        data["rated"] = [slot.rated for slot in slots]
    colours = [slot.colour for slot in slots]
    if any(colour is not None for colour in colours):
        data["colours"] = colours
    if trial.together:
        data["together"] = True
    if trial.draws:
        data["draws"] = trial.draws
    if trial.anchor:
        data["anchor"] = trial.anchor
    if trial.targets:
        data["targets"] = {where: list(target) for where, target in trial.targets.items()}
    return data


def _folded(values: Sequence[str]) -> Json:
    """Return one value for all where they are the same."""
    return values[0] if values and all(value == values[0] for value in values) else list(values)


def _trial_from_json(data: Mapping[str, Any], asked: tuple[Asked, ...]) -> Trial:
    stimuli = data["stimuli"]
    count = len(stimuli)
    roles = data["roles"]
    columns = zip(
        data.get("ids") or _usual_ids(count),
        stimuli,
        [roles] * count if isinstance(roles, str) else roles,
        data.get("labels") or _usual_labels(count),
        data.get("rated") or [True] * count,
        data.get("colours") or [None] * count,
        strict=True,
    )
    return Trial(
        id=data["trial"],
        content=data["content"],
        purpose=data.get("purpose", "rate"),
        slots=tuple(Slot(*column) for column in columns),
        asked=asked,
        draws=data.get("draws", {}),
        targets={where: _target(*target) for where, target in data.get("targets", {}).items()},
        together=data.get("together", False),
        anchor=data.get("anchor", ""),
    )


def _target(value: float, tolerance: float, message: str, is_trap: bool, also: Sequence[float]) -> Target:
    return Target(value, tolerance, message, is_trap, tuple(also))
