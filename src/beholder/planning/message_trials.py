"""Stimuli that ask for an answer, as a study needs them: decided before anything is planned, made where missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from beholder.methods.contract import Method, Trial, Unit, Units
from beholder.plan.groups import groups_of, of_each, restricted
from beholder.plan.placing.asking import Form, form_of, say_of, wanted
from beholder.stimuli.asking import Asking as Asked
from beholder.stimuli.asking import Wanted, add_asking
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.study.checks import Asking, Attention
from beholder.study.model import Study
from beholder.types import Role

ASKING: tuple[Role, ...] = ("attention", "trap")
"""Roles of stimuli that ask for an answer themselves; as many rules of the study have these names."""


def load_stimuli(
    study: Study,
    method: Method,
    progress: Callable[[int, int], None] | None = None,
    before: Sequence[frozenset[str]] | None = None,
) -> Catalogue:
    """Return every stimulus of a study, those that ask for an answer among them, made where they are missing.

    `before`: what there was to rate each time before stimuli were added; as plan/ says when left out.
    """
    return load_asking(study, method, progress, before).catalogue


def load_asking(
    study: Study,
    method: Method,
    progress: Callable[[int, int], None] | None = None,
    before: Sequence[frozenset[str]] | None = None,
) -> Asked:
    """Return every stimulus of a study, and how many of those that ask for an answer were not there before."""
    from beholder.plan.folder import read_before
    from beholder.plan.given.composing import read_given
    from beholder.plan.ground.lay import lay_ground
    from beholder.stimuli.ingest import load_catalogue

    catalogue = load_catalogue(study, progress)
    clips = all_clips(study, catalogue, method, read_before(study.folder) if before is None else before)
    if clips:
        # Before minutes are spent on them: whether there can be a plan at all.
        lay = lay_ground if study.design.plan is None else read_given
        of_each(groups_of(study, catalogue, method), lambda group: lay(group.study, group.catalogue, method))
    return add_asking(study, catalogue, clips, progress)


def all_clips(study: Study, catalogue: Catalogue, method: Method, before: Sequence[frozenset[str]]) -> list[Wanted]:
    """Return the stimuli that have to ask for an answer, first those that did before stimuli were added.

    Lists that were made then hold them under the names that they had.
    """
    found: list[Wanted] = []
    whole = (*(_among(catalogue, names) for names in before), catalogue)
    # A group that has fewer conditions meets none of the others, not even where something is asked for.
    fewer = [
        tuple(level.conditions)
        for levels in study.design.between.values()
        for level in levels.values()
        if level.conditions
    ]
    for stimuli in (*whole, *(restricted(catalogue, conditions) for conditions in dict.fromkeys(fewer))):
        there = {(one.role, one.source.id, one.message.words) for one in found}
        wanted = wanted_clips(study, stimuli, method)
        found += [one for one in wanted if (one.role, one.source.id, one.message.words) not in there]
    return found


def _among(catalogue: Catalogue, names: frozenset[str]) -> Catalogue:
    """Return the catalogue as it was when these were all that could be rated."""
    rated = [one for one in catalogue.by_cell.values() if one.id in names]
    conditions, contents = {one.condition for one in rated}, {one.content for one in rated}
    later = {one.id for one in catalogue.by_cell.values()} - names
    return replace(
        catalogue,
        stimuli=tuple(one for one in catalogue.stimuli if one.id not in later),
        conditions=tuple(condition for condition in catalogue.conditions if condition in conditions),
        contents=tuple(content for content in catalogue.contents if content in contents),
    )


def wanted_clips(study: Study, catalogue: Catalogue, method: Method) -> list[Wanted]:
    """Return the stimuli that have to ask for an answer; none where the method's pages cannot be asked for one."""
    found: list[Wanted] = []
    for stream, role in enumerate(ASKING):
        rule = study.checks.rule(role)
        if not isinstance(rule, Asking) or catalogue.of_role(role):
            continue  # the researcher's own come first
        units = method.units(study, catalogue)
        sources = [] if role == "trap" and is_board(units) else list(asking_sources(study, catalogue, units, rule))
        form = page_form(study, catalogue, method, rule) if sources else None
        if form is None:
            continue
        rng = np.random.default_rng([study.design.seed, 20 + stream])
        sessions = study.design.participants * study.design.sessions_per_participant
        needed = rule.clips if study.design.votes else min(rule.clips, sessions * rule.per_session)
        if is_board(units):
            needed = max(needed, len({stimulus.content for stimulus in sources}))
        found += wanted(role, sources, needed, form, rule, say_of(rule, catalogue), study, rng)
    return found


def is_board(units: Units) -> bool:
    """Return whether a trial holds several stimuli of a content, each rated by itself."""
    return units.kind == "content"


def page_form(study: Study, catalogue: Catalogue, method: Method, rule: Asking) -> Form | None:
    """Return how the pages of a study can be asked for an answer; None where they cannot."""
    trial = sample_trial(study, catalogue, method)
    return None if trial is None else form_of(study, method, trial, rule, say_of(rule, catalogue))


def sample_trial(study: Study, catalogue: Catalogue, method: Method) -> Trial | None:
    """Return a page as the method makes it; None where the stimuli do not even make one."""
    units = method.units(study, catalogue)
    unit = next(iter(units.items), None)
    if unit is None:
        return None
    scaled = {question.id for question in method.questions(study) if not question.ticks}
    asks = next((asks for asks in units.asks if scaled.issuperset(asks)), units.asks[0] if units.asks else ())
    try:
        return method.compose(study, Unit(unit.content, unit.stimuli, asks), catalogue, np.random.default_rng(0))
    except LookupError:
        return None  # what is missing is told by the method


def protected(study: Study, catalogue: Catalogue, units: Units, rule: Asking) -> frozenset[str]:
    """Return the conditions that no attention stimulus stands in for."""
    own = rule.protect if isinstance(rule, Attention) else ()
    special = {s.condition for s in catalogue.by_cell.values() if s.role in ("reference", "anchor")}
    return frozenset((*own, *study.design.always, *units.always, *special))


def asking_sources(study: Study, catalogue: Catalogue, units: Units, rule: Asking) -> Iterator[Stimulus]:
    """Yield the stimuli that can be made to ask: those that are dealt, without protected conditions."""
    kept = protected(study, catalogue, units, rule)
    seen: set[str] = set()
    for unit in units.items:
        for name in unit.stimuli:
            if name not in seen and catalogue.by_id[name].condition not in kept:
                seen.add(name)
                yield catalogue.by_id[name]
