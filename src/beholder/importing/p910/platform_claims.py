"""Who handed in which code: the results of the platform beside the answers that the page recorded."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from beholder.importing.contract import ForeignVerdict
from beholder.importing.p910.answer_columns import settle_columns
from beholder.importing.source_folder import SourceFolder, SourceRow


class CodeClaim(NamedTuple):
    """A row of the platform: somebody handed in a code."""

    code: str
    worker: str
    assignment: str
    """The platform's name for it."""
    names: str
    """The session that the row itself names."""
    decided: str
    """approved, rejected, or nothing."""
    row: SourceRow


class PageVisit(NamedTuple):
    """What the page knows of a session: the browser, and the code that it gave."""

    browser: str
    session: str
    code: str


class Claims:
    """The rows of the platform, each with the answers that it belongs to."""

    def __init__(self, claims: Sequence[CodeClaim], visits: Iterable[PageVisit]) -> None:
        by_code: dict[str, list[CodeClaim]] = defaultdict(list)
        for claim in claims:
            by_code[claim.code].append(claim)
        seen = list(visits)
        owners = _owners(seen, by_code)
        self._of: dict[str, CodeClaim] = {}
        self.rewards: str = claims[0].row["reward"] if claims else ""
        self.title: str = claims[0].row["title"] if claims else ""
        for visit in seen:
            found = by_code.pop(visit.code, []) if visit.code else []
            if not found:
                continue
            owner = min(found, key=lambda one: (one.names != visit.session, one.worker != owners.get(visit.browser)))
            self._of[visit.session] = owner
            owner.row.mapped("participant")
            for one in found:
                if one is not owner:
                    whose = "the same" if one.worker == owner.worker else "another"
                    what = f"has the code of answers that belong to {whose} person"
                    one.row.broken(what, "left out; the answers stay with their owner")
        for rows in by_code.values():
            for one in rows:
                one.row.broken("has a code that the page never gave, or gave once", "left out")

    def of(self, session: str) -> CodeClaim | None:
        """Return who handed in the code of a session; None where nobody did."""
        return self._of.get(session)

    def __bool__(self) -> bool:
        return bool(self._of)


def _owners(visits: Sequence[PageVisit], by_code: Mapping[str, Sequence[CodeClaim]]) -> dict[str, str]:
    """Return the owner of each browser: the person with most of the codes that only one person handed in."""
    claimants: dict[str, Counter[str]] = defaultdict(Counter)
    for visit in visits:
        found = by_code.get(visit.code, ())
        if len(found) == 1:
            claimants[visit.browser][found[0].worker] += 1
    return {browser: workers.most_common(1)[0][0] for browser, workers in claimants.items()}


def read_claims(source: SourceFolder, names: Sequence[str]) -> list[CodeClaim]:
    """Return the rows of the platform."""
    claims = []
    for name in names:
        table = source.table(name)
        settle_columns(table)
        for row in table.rows():
            code = row["answer.v_code"]
            if not code or not row["workerid"]:
                row.broken("has no code or no worker", "left out")
                continue
            named = row["answer.hitapp_assignmentid"]
            claims.append(CodeClaim(code, row["workerid"], row["assignmentid"], named, decided(row), row))
    return claims


def decided(row: SourceRow) -> str:
    """Return what a row says of the pay: approved, rejected, or nothing."""
    status = row["assignmentstatus"].lower()
    if status in ("approved", "rejected"):
        return status
    return "approved" if row["approve"] else "rejected" if row["reject"] else ""


def pay_verdict(words: str) -> tuple[ForeignVerdict, ...]:
    """Return what the platform decided about the pay as a foreign verdict; nothing where it decided nothing."""
    if not words:
        return ()
    return (ForeignVerdict("accept", "pass" if words == "approved" else "fail", words),)


# What the parser decided


def read_verdicts(source: SourceFolder, names: Sequence[str]) -> dict[str, tuple[ForeignVerdict, ...]]:
    """Return what the parser of the toolkit decided about each assignment."""
    found: dict[str, tuple[ForeignVerdict, ...]] = {}
    for name in names:
        table = source.table(name)
        for column in table.columns:
            if column in ("accept", "accept_and_use"):
                table.column(column, f"foreign verdict {'use' if column != 'accept' else 'accept'}")
            elif column in ("assignment", "failures", "worker_id"):
                table.column(column, "foreign verdicts")
            else:
                table.unsupported_column(column, "judged anew by our own checks")
        for row in table.rows():
            row.mapped("foreign verdicts")
            words = row["failures"].strip("[]")
            found[row["assignment"]] = tuple(
                ForeignVerdict(check, "pass" if row[column] == "1" else "fail", words if check == "use" else "")
                for check, column in (("accept", "accept"), ("use", "accept_and_use"))
                if row[column] in ("0", "1")
            )
    return found
