"""What is exported: the facts of one population, judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from beholder.clean.devices import device_rows
from beholder.clean.facts import Rows
from beholder.clean.judging import Judging
from beholder.clean.ratings import Rating, number_repetitions
from beholder.clean.sessions import Judged
from beholder.export.withheld import Withheld
from beholder.store.contract import Table

EARLIER = "plan:earlier"
"""Why a session under a plan that was replaced is not used."""


@dataclass(frozen=True)
class Source:
    """The tables of a store and what cleaning makes of them; only sessions of one population are told of."""

    judging: Judging
    tables: Mapping[str, Rows]
    withheld: Withheld

    @cached_property
    def judged(self) -> Mapping[str, Judged]:
        """By session, in the order of arrival."""
        return {one.visit.session: one for one in self.judging.judged}

    @cached_property
    def sessions(self) -> Mapping[str, Mapping[str, Any]]:
        """The rows of all sessions of this population, under earlier plans too, in the order of arrival."""
        robots = self.judging.facts.population == "robots"
        mine = [
            row for row in self.tables["sessions"] if row["mode"] != "preview" and (row["mode"] == "robot") is robots
        ]
        return {str(row["session"]): row for row in sorted(mine, key=lambda row: (row["at"], str(row["session"])))}

    @cached_property
    def open(self) -> frozenset[str]:
        """Sessions whose answers may be told: nobody who withdrew."""
        erased = {row["session"] for row in self.tables["erasures"]}
        withdrawn = {row["session"] for row in self.tables["ends"] if row["outcome"] == "withdrawn"}
        return frozenset(self.sessions) - erased - withdrawn

    def facts(self, table: Table) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """Yield the facts of a table that may be told, each with the row of its session."""
        for row in self.tables.get(table, ()):
            if row["session"] in self.open:
                yield row, self.sessions[row["session"]]

    @cached_property
    def ratings(self) -> Mapping[str, tuple[Rating, ...]]:
        """Every rating by session, repetitions numbered."""
        found: dict[str, list[Rating]] = {session: [] for session in self.judged}
        for rating in number_repetitions(rating for one in self.judging.judged for rating in one.ratings):
            found[rating.session].append(rating)
        return {session: tuple(ratings) for session, ratings in found.items()}

    @cached_property
    def devices(self) -> Mapping[str, Mapping[str, Any]]:
        """On what each session was rated, under the names that the export has for it."""
        found = {}
        for row, one in zip(device_rows(self.judging.judged), self.judging.judged, strict=True):
            said = {settled.check.name: settled.verdict.verdict for settled in one.qualified.settled}
            found[row["session"]] = {
                **row,
                "device": row.get("kind"),
                "width_px": row.get("screen_width"),
                "height_px": row.get("screen_height"),
                "pixel_ratio": row.get("dpr"),
                "headphones": said.get("headphones"),
            }
        return found


def rating_id(rating: Rating) -> str:
    """Return a name that no other rating of the study has."""
    parts = (rating.session, rating.position, rating.question, rating.slot, rating.unit)
    return ":".join(str(part) for part in parts if part is not None)
