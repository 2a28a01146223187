"""An extension in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.extend import Extension


def told(found: Extension, stimuli: Sequence[str], *, is_shared: bool) -> tuple[str, ...]:
    """Return what was added and why, and what to do next; `is_shared` if several servers share the store."""
    if not found.added:
        if found.open:
            return (
                "Nothing to add: every stimulus has its votes when "
                f"{_many(found.open, 'list is', 'lists are')} finished that nobody has finished yet.",
            )
        return ("Nothing to add: every stimulus has its votes.",)
    first, last = found.before + 1, found.before + found.added
    numbers = f"{first}" if first == last else f"{first} to {last}"
    verb = "Added" if found.is_written else "Would add"
    lines = [f"{verb} {_many(found.added, 'list', 'lists')}, {numbers}:", *_parts(found, stimuli)]
    if found.is_written:
        lines.append(
            "Running servers hand them out from now on."
            if is_shared and not stimuli
            else "`beholder serve` or `beholder run` goes on until they are finished, too."
        )
    else:
        lines.append("Nothing was written.")
    return tuple(lines)


def _parts(found: Extension, stimuli: Sequence[str]) -> list[str]:
    parts = []
    if found.more and stimuli:
        parts.append(
            f"  {found.more} with {_many(len(stimuli), 'stimulus that is', 'stimuli that are')} new in the study"
        )
    elif found.more:
        parts.append(f"  {found.more} for more participants, by the same design")
    if found.again:
        parts.append(f"  {found.again} again, of which nothing is used although somebody finished")
    if found.dealt:
        parts.append(f"  {found.dealt} made of what is short")
    if found.missing:
        parts.append(f"{_many(found.missing, 'vote was', 'votes were')} missing.")
    return parts


def _many(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
