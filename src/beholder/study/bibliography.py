"""What only the researcher knows and every reporting standard asks for: the key `publication` of the study file."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from beholder.study.parts import Fault, StudyPart, Text, raise_faults
from beholder.study.recruitment import Day
from beholder.study.value_kinds import Allowed

_ORCID_WORDS = "an ORCID iD such as 0000-0002-1825-0097"
_WEB = r"https?://[^\s<>\"]+"
_WEB_WORDS = "a web address that begins with https://"
_LICENCE_WORDS = "an SPDX identifier such as CC-BY-4.0, or a web address that begins with https://"

WebAddress = Annotated[str, StringConstraints(pattern=f"^{_WEB}$"), Allowed(_WEB_WORDS)]
Licence = Annotated[str, StringConstraints(pattern=rf"^([A-Za-z0-9][A-Za-z0-9.+-]*|{_WEB})$"), Allowed(_LICENCE_WORDS)]
OrcidId = Annotated[str, StringConstraints(pattern=r"^([0-9]{4}-){3}[0-9]{3}[0-9X]$"), Allowed(_ORCID_WORDS)]
Doi = Annotated[
    str, StringConstraints(pattern=r"^10\.[0-9]{4,9}/[^\s<>\"]+$"), Allowed("a DOI such as 10.5281/zenodo.123456")
]
Version = Annotated[
    str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+){0,2}$"), Allowed("one to three numbers, such as 1.0.0")
]


class Author(StudyPart):
    """One person, or one institution, that made the study."""

    name: Text = Field(
        description="A person as `Family, Given`, which files of citations take apart; or a name as it is."
    )
    affiliation: Text | None = Field(default=None, description="Where they work.")
    orcid: OrcidId | None = Field(default=None, description="Their ORCID iD.")
    email: (
        Annotated[
            str, StringConstraints(pattern=r"""^[^@\s<>"]+@[^@\s<>"]+\.[^@\s<>"]+$"""), Allowed("an e-mail address")
        ]
        | None
    ) = Field(default=None, description="Where they can be asked; it is written into what you hand on.")

    @model_validator(mode="after")
    def _real_orcid(self) -> Author:
        if self.orcid is not None and not _is_checked(self.orcid):
            raise_faults([Fault(f"is {self.orcid}", _ORCID_WORDS, "Its last digit checks the others.", ("orcid",))])
        return self

    @property
    def family_and_given(self) -> tuple[str, str] | None:
        """Family and given names; None of a name that is not written as `Family, Given`."""
        family, comma, given = self.name.partition(",")
        return (family.strip(), given.strip()) if comma and given.strip() else None

    @property
    def reading_order(self) -> str:
        """The name as it is read: `Given Family`."""
        parts = self.family_and_given
        return f"{parts[1]} {parts[0]}" if parts else self.name


class Publication(StudyPart):
    """What only you know and standards of reporting ask for. It may always change, and no participant sees it."""

    description: Text | None = Field(default=None, description="The study and its data, in a few sentences.")
    authors: tuple[Author, ...] = Field(default=(), description="Who made the study, in the order of a citation.")
    licence: Licence | None = Field(
        default=None, description="Of the data: an SPDX identifier such as `CC-BY-4.0`, or the address of its text."
    )
    ethics: Text | None = Field(
        default=None, description="Who approved the study, with the number; or why no approval was needed."
    )
    funding: tuple[Text, ...] = Field(default=(), description="Who paid for it, each with its number.")
    registration: Text | None = Field(
        default=None, description="Where it was registered before the first answer; `none` if it was not."
    )
    paper: Text | None = Field(default=None, description="The paper that reports it, by address or reference.")
    url: WebAddress | None = Field(default=None, description="Where the data are, or will be.")
    doi: Doi | None = Field(default=None, description="Of the data.")
    version: Version | None = Field(default=None, description="Of the data, such as 1.0.0.")
    published: Day | None = Field(default=None, description="The day on which the data were published.")
    keywords: tuple[Text, ...] = Field(default=(), description="Under which the data are to be found.")
    answers: dict[str, Text] = Field(
        default_factory=dict,
        description="Your answers to items of checklists, by their ids, such as `{heds-2.1: speech}`.",
    )

    @model_validator(mode="after")
    def _day_exists(self) -> Publication:
        try:
            date.fromisoformat(self.published or "2000-01-01")
        except ValueError:
            raise_faults([Fault(f"is {self.published}, and there is no such day", "", "", ("published",))])
        return self

    @property
    def licence_url(self) -> str | None:
        """The address of the licence; of an identifier that of SPDX's page."""
        if self.licence is None or self.licence.startswith("http"):
            return self.licence
        return f"https://spdx.org/licenses/{self.licence}.html"

    @property
    def address(self) -> str | None:
        """Where the data are: the address, or that of the DOI."""
        return self.url or (f"https://doi.org/{self.doi}" if self.doi else None)


def _is_checked(orcid: str) -> bool:
    """Return whether the check digit of an ORCID iD is that of the others (ISO 7064, mod 11-2)."""
    total = 0
    for digit in orcid.replace("-", "")[:-1]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    return orcid[-1] == ("X" if check == 10 else str(check))
