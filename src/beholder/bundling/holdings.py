"""The kinds of bundles, and what each of them holds: listed before it is written, and in its README."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

from beholder.errors import Problem, UserError, did_you_mean

Kind: TypeAlias = Literal["public", "reviewers", "archive"]
KINDS: tuple[Kind, ...] = get_args(Kind)
BUNDLE, CHECKSUMS, CRATE, README = "bundle.json", "checksums.sha256", "ro-crate-metadata.json", "README.md"
STUDY, FACTS, SOFTWARE = "study/", "facts/", "software/"
FORMAT = 1
"""Of the files of a bundle; another number is another format."""
CLEANED, ANALYSED, REPORTED, PLANNED, MEDIA = (
    f"{STUDY}{name}/" for name in ("clean", "analyse", "report", "plan", "stimuli")
)
_FOR: dict[Kind, str] = {
    "public": "anybody, such as a repository of data",
    "reviewers": "reviewers who are not to know the authors",
    "archive": "a place with few readers, such as the archive of an institute",
}


_IDENTITIES = "platform ids, receipts, language and time zone"


class Holding(NamedTuple):
    """A part of a bundle: where it is, what it is, and what is left out of it."""

    place: str
    what: str
    without: str


@dataclass(frozen=True)
class Choice:
    """What somebody asked a bundle to be."""

    kind: Kind
    with_stimuli: bool
    with_texts: bool
    robots: bool

    @classmethod
    def of(cls, kind: str, with_stimuli: bool | None, with_texts: bool | None, *, robots: bool) -> Choice:
        """Return the choice with what the kind says where nobody said anything; UserError of an unknown kind."""
        known = next((one for one in KINDS if one == kind), None)
        if known is None:
            raise UserError(Problem("kind", f"is {kind}", ", ".join(KINDS), did_you_mean(kind, KINDS)))
        is_archive = known == "archive"
        return cls(
            known,
            is_archive if with_stimuli is None else with_stimuli,
            is_archive if with_texts is None else with_texts,
            robots,
        )

    @property
    def is_blinded(self) -> bool:
        """Whether names of the authors are left out."""
        return self.kind == "reviewers"

    @property
    def has_payments(self) -> bool:
        """Whether the payments of the ledger are in it."""
        return self.kind == "archive"

    @property
    def words(self) -> str:
        """For whom it is."""
        return f"A bundle for {_FOR[self.kind]}."

    @property
    def holdings(self) -> tuple[Holding, ...]:
        """Everything that it holds, in the order in which one reads it."""
        blinded = "authors, affiliations, addresses, funding and ethics approval" if self.is_blinded else ""
        free = (
            "platform ids in what people wrote, e-mail addresses"
            if self.with_texts
            else "what people wrote in their own words"
        )
        acts = "platform ids, who did it" + ("" if self.has_payments else ", payments, reasons in words")
        served = "where it is served, copied and kept; lists of people"
        without = "; ".join(filter(None, (served, blinded)))
        return (
            Holding(README, "what this is, how to check it, and what is left out", ""),
            Holding(f"{STUDY}study.yaml", "the study as it is now, with its texts", without),
            Holding(PLANNED, "the planned lists, with their seed", ""),
            Holding(MEDIA, "the stimuli", "") if self.with_stimuli
            else Holding(f"{FACTS}stimuli.jsonl", "the hash of every stimulus", "the files of the stimuli"),
            Holding(FACTS, "every session, answer and event", f"{free}; {_IDENTITIES}"),
            Holding(f"{FACTS}ledger.jsonl", "acts, decisions, looks and preregistrations", acts),
            Holding(CLEANED, "ratings, verdicts and exclusions", free),
            Holding(ANALYSED, "all tables of the analysis", ""),
            Holding(REPORTED, "the report with its figures", blinded),
            Holding(SOFTWARE, "the versions of all software", ""),
            Holding(CRATE, "metadata as RO-Crate 1.1", blinded),
            Holding(CHECKSUMS, "the SHA-256 of every other file", ""),
        )  # fmt: skip
