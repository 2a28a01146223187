"""A study as it is served."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from beholder.checks.contract import Needs
from beholder.methods.contract import Break, Method, Trial
from beholder.serve.needs import needs_of
from beholder.serve.script import Script, make_script, sets_volume
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study


@dataclass(frozen=True)
class Served:
    """What was written, what there is to see, who sees what, and where."""

    study: Study
    digest: str
    catalogue: Catalogue
    method: Method
    lists: Sequence[Sequence[Trial | Break]]
    public_url: str
    _scripts: dict[int, Script] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def needs(self) -> Needs:
        """What the study asks of a device."""
        return needs_of(self.study, self.catalogue, self.lists)

    def script(self, number: int) -> Script:
        """Return the steps of a list, numbered from 1."""
        if number not in self._scripts:
            has_volume = sets_volume(self.study, self.catalogue)
            self._scripts[number] = make_script(
                self.study, self.lists[number - 1], has_volume=has_volume, examples=self.catalogue.examples
            )
        return self._scripts[number]
