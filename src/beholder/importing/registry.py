"""Which importers are installed, and which of them a source belongs to."""

from __future__ import annotations

from beholder.errors import Problem, UserError
from beholder.formats import join_names, listed
from beholder.importing.contract import Importer
from beholder.importing.source_folder import SourceFolder
from beholder.study.entry_points import Group

IMPORTERS = Group("beholder.importers", "importer", "beholder.importing.contract.Importer")
_REQUIRED = ("name", "title", "recognise", "read")


def find(name: str, where: str = "--from") -> Importer:
    """Return an installed importer; raise StudyError where there is none of the name, or its package is broken."""
    loaded: Importer = IMPORTERS.load(IMPORTERS.entry(name, where), where, _REQUIRED)
    return loaded


def installed() -> tuple[Importer, ...]:
    """Return all importers that can be imported, by their names: one that is broken costs nobody else theirs."""
    found = []
    for name in IMPORTERS.names():
        try:
            found.append(find(name))
        except UserError:
            continue
    return tuple(found)


def _is_general(importer: Importer) -> bool:
    return bool(getattr(importer, "is_general", False))


def recognised(source: SourceFolder) -> tuple[Importer, str]:
    """Return the importer that a source belongs to, and by what it is recognised; raise UserError without just one."""
    all_of_them = installed()
    # A general reader, such as that of plain tables, comes only where nobody else recognises a source.
    claims = [(one, by) for one in all_of_them if not _is_general(one) and (by := one.recognise(source))]
    claims = claims or [(one, by) for one in all_of_them if _is_general(one) and (by := one.recognise(source))]
    if len(claims) == 1:
        return claims[0]
    where, allowed = source.address, listed([one.name for one in all_of_them])
    if not claims:
        what = "is nothing that an importer recognises"
        fix = "Give the file or the folder that the other tool wrote, or say with --from which tool that was."
        raise UserError(Problem(where, what, allowed, fix))
    what = f"may be of {join_names([f'{one.title} ({by})' for one, by in claims])}"
    raise UserError(Problem(where, what, listed([one.name for one, _ in claims]), "Say which with --from."))
