"""A study as it is served."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from beholder.checks.contract import Needs
from beholder.methods.contract import Break, Method, Trial
from beholder.plan.model import PlannedList
from beholder.serve.needs import needs_of
from beholder.serve.script import Script, make_script, sets_volume
from beholder.stimuli.catalogue import Catalogue
from beholder.study.between import Levels, study_of
from beholder.study.model import Study


@dataclass(frozen=True)
class Served:
    """What was written, what there is to see, who sees what, and where."""

    study: Study
    digest: str
    catalogue: Catalogue
    method: Method
    lists: list[Sequence[Trial | Break]]
    public_url: str
    groups: list[Levels] = field(default_factory=list)
    """The levels of the participants that each list is for; empty where all get the same."""
    _studies: dict[tuple[tuple[str, str], ...], Study] = field(default_factory=dict, repr=False, compare=False)
    _scripts: dict[int, Script] = field(default_factory=dict, repr=False, compare=False)

    def grow(self, fresh: Sequence[PlannedList]) -> None:
        """Take in lists that were added to the plan."""
        self.lists.extend(planned.entries for planned in fresh)
        if self.groups:
            self.groups.extend(planned.group for planned in fresh)

    @cached_property
    def needs(self) -> Needs:
        """What the study asks of a device."""
        return needs_of(self.study, self.catalogue, self.lists)

    def study_of(self, number: int) -> Study:
        """Return the study as whoever takes a list meets it."""
        if not self.groups:
            return self.study
        levels = self.groups[number - 1]
        key = tuple(sorted(levels.items()))
        if key not in self._studies:
            self._studies[key] = study_of(self.study, levels)
        return self._studies[key]

    @cached_property
    def has_own_instructions(self) -> bool:
        """Whether not everybody reads the same instructions, so that nobody can know them before a list is theirs."""
        factors = self.study.design.between.values()
        return any(level.instructions is not None for levels in factors for level in levels.values())

    def script(self, number: int, *, is_again: bool = False) -> Script:
        """Return the steps of a list, numbered from 1; `is_again`: for somebody who has finished another."""
        key = -number if is_again else number
        if key not in self._scripts:
            study = self.study_of(number)
            has_volume = sets_volume(study, self.catalogue)
            self._scripts[key] = make_script(
                study,
                self.lists[number - 1],
                has_volume=has_volume,
                examples=self.catalogue.examples,
                is_again=is_again,
            )
        return self._scripts[key]
