"""Reading answers: what every family has in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from beholder.methods.contract import Json, Refused, Trial

LONGEST = 5000
"""Characters of a comment or a reason."""
MOST_TEXTS = 20
"""Texts that make one reason."""
_LARGEST = 1e15


def parts(answer: Json, known: Sequence[str], shape: str) -> Mapping[str, Json]:
    """Return the parts of an answer, or raise Refused where it has others."""
    if not isinstance(answer, Mapping):
        raise Refused("The answer is not an object", where="answer", allowed=shape)
    for part in answer:
        if part not in known:
            raise Refused(f"{part} is not part of an answer", where=f"answer.{part}", allowed=", ".join(known))
    return answer


def exactly(given: Json, wanted: Sequence[str], where: str, what: str) -> Mapping[str, Json]:
    """Return an object with exactly these names, or raise Refused."""
    if not isinstance(given, Mapping):
        raise Refused(f"No {what} are given", where=where, allowed=f"an object with {', '.join(wanted)}")
    for name in given:
        if name not in wanted:
            raise Refused(f"{name} is not in this trial", where=f"{where}.{name}", allowed=", ".join(wanted))
    for name in wanted:
        if name not in given:
            raise Refused(f"{name} has no answer", where=f"{where}.{name}", allowed=f"all of {', '.join(wanted)}")
    return given


def read_missing(trial: Trial, missing: Json) -> dict[str, Json]:
    """Return which slots would not play; whether the log shows it is not decided here."""
    if not isinstance(missing, Mapping):
        raise Refused("missing is not an object", where="answer.missing", allowed='{"s3": "media_error"}')
    slots = [slot.id for slot in trial.slots]
    for slot, reason in missing.items():
        if slot not in slots or reason != "media_error":
            raise Refused(
                f"{slot} cannot be missing for {reason}",
                where=f"answer.missing.{slot}",
                allowed=f"media_error, for one of {', '.join(slots)}",
            )
    return dict(missing)


def read_comment(given: Mapping[str, Json]) -> dict[str, Json]:
    """Return the comment as a part of the answer, if there is one."""
    comment = given.get("comment")
    if comment is None:
        return {}
    if not isinstance(comment, str) or len(comment) > LONGEST:
        raise Refused(
            "The comment cannot be kept", where="answer.comment", allowed=f"text of up to {LONGEST} characters"
        )
    return {"comment": comment}


def number(value: Json) -> int | float | None:
    """Return a finite number, or None for anything else; true is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if -_LARGEST < value < _LARGEST else None  # not even NaN, and no integer too large for a float
