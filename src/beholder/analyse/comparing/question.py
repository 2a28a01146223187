"""The strengths of one question: of conditions over all contents, and of stimuli within each content."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from beholder.analyse.comparing.fit import Fit, fit
from beholder.analyse.comparing.outcomes import Model
from beholder.analyse.comparing.tally import Comparisons, Tally, comparisons
from beholder.analyse.table import Ratings


@dataclass(frozen=True)
class Asked:
    """A question with its comparisons."""

    question: str
    compared: Comparisons

    @cached_property
    def tally(self) -> Tally:
        """The comparisons of conditions, all contents together."""
        return self.compared.by_condition()

    @cached_property
    def contents(self) -> tuple[tuple[str, Tally], ...]:
        """For each content the comparisons of its stimuli."""
        return tuple(self.compared.by_content())

    def conditions(self, model: Model) -> Fit:
        """Return the strengths of conditions."""
        return fit(self.tally, model)

    def stimuli(self, conditions: Fit) -> dict[str, Fit]:
        """Return the strengths of the stimuli by content, with ties and position effect as among the conditions."""
        return {content: fit(tally, conditions.model, conditions) for content, tally in self.contents}


def asked(ratings: Ratings, *, from_grades: bool = False) -> list[Asked]:
    """Return the questions that compare two conditions."""
    found = ((name, comparisons(ratings, name, from_grades=from_grades)) for name in ratings.questions)
    return [Asked(name, compared) for name, compared in found if compared is not None]
