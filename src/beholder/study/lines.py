"""Where each key of a study stands in its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Lines:
    """The lines of all keys that were written. Equal to every other: a study is the same wherever its keys stand."""

    file: str = field(default="study.yaml", compare=False)
    by_key: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    """Line by dotted key, `questions.0.scale`; the study as a whole has the empty key."""
    stands: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Where keys stand that a group of participants has from somewhere else: in a level of the design."""

    def called(self, key: str) -> str:
        """Return what a key is called where it stands."""
        for part, place in self.stands.items():
            if key == part or key.startswith(f"{part}."):
                return place + key.removeprefix(part)
        return key

    def has(self, key: str) -> bool:
        """Return whether a key was written."""
        return self.called(key) in self.by_key

    def where(self, key: str) -> str:
        """Return `FILE:LINE` of a key or of the nearest one around it; the file alone where no line is known."""
        key = self.called(key)
        while key and key not in self.by_key:
            key = key.rpartition(".")[0]
        return f"{self.file}:{self.by_key[key]}" if key in self.by_key else self.file
