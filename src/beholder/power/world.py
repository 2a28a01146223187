"""The world in which a study is imagined: its stimuli, how good they truly are, and who would rate them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from beholder.analyse.metrics import MUSHRA
from beholder.methods.contract import Method, Scale
from beholder.power.tested import Contents, Rules
from beholder.simulate.population import Population
from beholder.simulate.sheet import Sheet
from beholder.simulate.truth import Truth, plant_truth
from beholder.stats.clustered import Codes, Floats
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study

_CONTENTS = 7
"""Of the streams of chance, that of contents."""
COMPARED = 100.0
"""Where two are compared no scale says how good one is: points are hundredths of what goes from worst to best."""


@dataclass(frozen=True)
class World:
    """A study with the truth behind it. Qualities are shares of the scale, from 0 to 1."""

    study: Study
    catalogue: Catalogue
    method: Method
    quality: Mapping[str, float]
    """Of every condition."""
    people: Population
    contents: Contents
    seed: int

    @property
    def questions(self) -> tuple[str, ...]:
        """What is asked."""
        return tuple(question.id for question in self.method.questions(self.study))

    @property
    def spans(self) -> tuple[float, ...]:
        """How many points the scale of each question has from end to end."""
        return tuple(points_of(question.scale) for question in self.method.questions(self.study))

    @property
    def signs(self) -> tuple[int, ...]:
        """Of each question, 1 where more is better and -1 where less is."""
        return tuple(-1 if question.keyed == "-" else 1 for question in self.method.questions(self.study))

    @property
    def truth(self) -> Truth:
        """The truth as simulations take it, without what contents do."""
        still = replace(self.people, content=0.0, content_condition=0.0)
        return plant_truth(self.catalogue, self.questions, self.seed, people=still, means=self.quality)

    @property
    def alike(self) -> World:
        """The same world in which all conditions under test are equally good."""
        middle = float(np.mean(list(self.quality.values())))
        return replace(self, quality=dict.fromkeys(self.quality, middle))

    def rules(self, sheet: Sheet) -> Rules:
        """Return which differences the study tests, and how."""
        roles = {stimulus.condition: stimulus.role for stimulus in self.catalogue.by_cell.values()}
        places = {name: place for place, name in enumerate(sheet.conditions)}
        anchors, references = (
            frozenset(place for name, place in places.items() if roles.get(name) == role)
            for role in ("anchor", "reference")
        )
        asked = self.study.analyse
        named = tuple((places[one], places[other]) for one, other in asked.contrasts)
        hidden = references if self.method.name == MUSHRA else frozenset()
        return Rules(len(self.questions), named, asked.family, anchors, hidden, references, self.contents)

    def drawn(self, truth: Truth, repetition: int) -> Truth:
        """Return the truth with what contents do, which nobody knows: drawn anew in every repetition.

        Where contents are fixed it changes no difference of two conditions, over all of them.
        """
        rng = np.random.default_rng([self.seed, 1 + repetition, _CONTENTS])
        content, condition = self._cells
        shift = rng.normal(0, self.people.content, len(self.catalogue.contents))
        cells = rng.normal(0, self.people.content_condition, (len(shift), len(self.catalogue.conditions)))
        cells = cells - cells.mean(axis=0) if self.contents == "fixed" else cells
        added = np.where((content < 0) | (condition < 0), 0.0, shift[content] + cells[content, condition])
        quality: Floats = np.clip(truth.quality + added[:, np.newaxis], 0, 1)
        return replace(truth, quality=quality)

    @cached_property
    def _cells(self) -> tuple[Codes, Codes]:
        """The numbers of content and condition of each stimulus; -1 for what is rated by nobody."""
        contents, conditions = (
            {name: place for place, name in enumerate(names)}
            for names in (self.catalogue.contents, self.catalogue.conditions)
        )
        of = [(contents.get(one.content, -1), conditions.get(one.condition, -1)) for one in self.catalogue.stimuli]
        content, condition = np.array(of, dtype=np.intp).reshape(-1, 2).T
        return content, condition


def points_of(scale: Scale) -> float:
    """Return how many points there are from the worst to the best."""
    return COMPARED if scale.min < 0 else scale.max - scale.min
