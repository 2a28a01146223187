"""Templates of trials that are not allocated: training, gold and message trials, of a few stimuli of one content."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from beholder.methods.contract import Method, Trial, Unit
from beholder.planning.slots import arrange, draw_colours
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.study.design import Design
from beholder.study.model import Study
from beholder.types import Role


class TrialTemplate(NamedTuple):
    """A trial that can be composed repeatedly, and the stimuli that it is for."""

    shows: tuple[str, ...]
    unit: Unit
    catalogue: Catalogue
    shuffle: str

    def compose(self, study: Study, method: Method, rng: Generator) -> Trial:
        """Return the trial as the method composes it."""
        return method.compose(study, self.unit, self.catalogue, rng)


def answer_templates(
    study: Study, catalogue: Catalogue, method: Method, keyed: Sequence[Stimulus]
) -> Iterator[TrialTemplate]:
    """Yield the trials of stimuli with known answers, content by content, with the reference if it is needed."""
    plain, roles = plain_study(study), _roles(catalogue)
    has_reference = bool(keyed) and _has_reference(plain, catalogue, method)
    for content in contents_of(keyed):
        stimuli = [replace(s, role=roles.get(s.condition, "test")) for s in keyed if s.content == content]
        candidates = [stimuli]
        reference = catalogue.references.get(content)
        if reference is not None and all(stimulus.role != "reference" for stimulus in stimuli):
            # If every trial of the study holds the reference, these do as well.
            candidates.insert(0 if has_reference else 1, [*stimuli, reference])
        shown = {stimulus.id for stimulus in stimuli}
        for shown_stimuli in candidates:
            pages = _templates(plain, method, _subset(catalogue, shown_stimuli), shown)
            if shown == {name for page in pages for name in page.shows}:
                yield from pages
                break


def message_templates(study: Study, catalogue: Catalogue, method: Method, clip: Stimulus) -> list[TrialTemplate]:
    """Return the trials in which a message stimulus can ask for an answer, in place of the one it was made of."""
    source = catalogue.by_id.get(clip.derived_from)
    condition = source.condition if source else clip.condition
    asking = replace(clip, condition=condition, role=_roles(catalogue).get(condition, "test"))
    others = [s for s in catalogue.by_cell.values() if s.content == clip.content and s.condition != condition]
    others += [s for s in catalogue.of_role("mismatched") if s.content == clip.content]
    return _templates(study, method, _subset(catalogue, [asking, *others]), {clip.id})


def _templates(study: Study, method: Method, catalogue: Catalogue, shown: Collection[str]) -> list[TrialTemplate]:
    """Return the trials of these stimuli that show any of `shown`; none if a reference is missing."""
    pages = []
    try:
        units = method.units(study, catalogue)
        for unit in units.items:
            for asks in (units.asks or ((),)) if any(name in shown for name in unit.stimuli) else ():
                page = TrialTemplate((), Unit(unit.content, unit.stimuli, asks), catalogue, units.shuffle)
                slots = page.compose(study, method, np.random.default_rng(0)).slots
                pages.append(page._replace(shows=tuple(slot.stimulus for slot in slots if slot.stimulus in shown)))
    except LookupError:
        return []
    return pages


def plain_study(study: Study) -> Study:
    """Return the study with a default design, which shows every condition of a content."""
    return study.model_copy(update={"design": Design(seed=study.design.seed)})


def _has_reference(study: Study, catalogue: Catalogue, method: Method) -> bool:
    """Return whether every trial of the study holds a reference."""
    references = {stimulus.id for stimulus in catalogue.references.values()}
    return all(not references.isdisjoint(unit.stimuli) for unit in method.units(study, catalogue).items)


def _roles(catalogue: Catalogue) -> dict[str, Role]:
    return {stimulus.condition: stimulus.role for stimulus in catalogue.by_cell.values()}


def _subset(catalogue: Catalogue, stimuli: Sequence[Stimulus]) -> Catalogue:
    """Return a catalogue of a few stimuli, with the study's conditions in order."""
    present = list(dict.fromkeys(stimulus.condition for stimulus in stimuli))
    ordered = [condition for condition in catalogue.conditions if condition in present]
    others = [condition for condition in present if condition not in ordered]
    return Catalogue(tuple(stimuli), (*ordered, *others), tuple(contents_of(stimuli)))


def contents_of(stimuli: Sequence[Stimulus]) -> list[str]:
    """Return the contents of some stimuli, in order."""
    return list(dict.fromkeys(stimulus.content for stimulus in stimuli))


def arrange_in_role(trial: Trial, name: str, role: Role, shuffle: str, study: Study, rng: Generator) -> Trial:
    """Return a composed trial with its slots in random order, its rated slots in a role."""
    free = sum(slot.label is None for slot in trial.slots)
    is_fixed = shuffle == "none" or (shuffle == "order" and not study.design.both_orders)
    order = list(range(free)) if is_fixed else rng.permutation(free).tolist()
    shown = arrange(trial, name, order, draw_colours(1, free, rng)[0].tolist())
    return replace(shown, slots=tuple(slot._replace(role=role) if slot.rated else slot for slot in shown.slots))
