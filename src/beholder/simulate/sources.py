"""Where the numbers of simulated people come from: the study, a documented set of public data, or a pilot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from beholder.errors import Problem, UserError
from beholder.simulate.population import PUBLIC, Population, read_people

USUAL = "usual"
SETS: Mapping[str, tuple[Population, str]] = {
    "public": (PUBLIC, "VQEG HDTV3"),
    "vqeghd3": (PUBLIC, "VQEG HDTV3"),
}
"""Sets of public data by name: the people in them, and what they are called."""


@dataclass(frozen=True)
class Source:
    """What simulated people are like, the quality of conditions that is known, and where each number comes from."""

    people: Population = field(default_factory=Population)
    means: Mapping[str, float] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)
    """Where a number comes from, or why it could not be had, by its name in the population."""

    def rows(self) -> list[dict[str, str]]:
        """Return every number with where it comes from, as a table to print."""
        return [
            {
                "what": one.name,
                "value": f"{getattr(self.people, one.name):.3f}",
                "from": self.said.get(one.name, USUAL),
            }
            for one in fields(Population)
        ] + [
            {"what": f"quality of {name}", "value": f"{mean:.3f}", "from": self.said.get("means", USUAL)}
            for name, mean in self.means.items()
        ]


def read_source(source: str | Path | Source | None = None, people: str = "") -> Source:
    """Return the people that `--from` names, changed as `--people` says."""
    found = _named(source)
    changed = read_people(people, found.people)
    said = {
        one.name: "--people"
        for one in fields(Population)
        if getattr(changed, one.name) != getattr(found.people, one.name)
    }
    return Source(changed, found.means, {**found.said, **said})


def _named(source: str | Path | Source | None) -> Source:
    if source is None:
        return Source()
    if isinstance(source, Source):
        return source
    if str(source) in SETS:
        people, name = SETS[str(source)]
        shown = [one.name for one in fields(Population) if one.name in _SHOWN]
        return Source(people, {}, dict.fromkeys(shown, name))
    path = Path(source)
    if path.is_dir():
        path /= "study.yaml"
    if not path.is_file():
        allowed = f"{', '.join(SETS)}, or the study.yaml of a pilot"
        raise UserError(Problem("--from", f"{str(source)!r} is neither a set of public data nor a study", allowed))
    from beholder.simulate.pilot import from_pilot

    return from_pilot(path)


_SHOWN = frozenset({"bias", "inconsistency", "inconsistency_spread", "taste", "content", "content_condition"})
