"""What Prolific says when it says no, in any of its shapes, as one line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

_LONGEST = 500
_SAYS_NO = frozenset((400, 401, 403, 404, 422, 429))
"""What Prolific answers where it has done nothing. Others come from whatever stands between it and us as well."""


def is_definite(answer: httpx.Response) -> bool:
    """Return whether an answer says for certain that nothing happened: in Prolific's own words, and none of a proxy."""
    if answer.status_code not in _SAYS_NO:
        return False
    try:
        return isinstance(answer.json(), Mapping)
    except (json.JSONDecodeError, UnicodeDecodeError):
        return False


def words_of(answer: httpx.Response) -> str:
    """Return why something was refused, in Prolific's own words; of a page that is no JSON, its first words."""
    try:
        body = answer.json()
    except (json.JSONDecodeError, UnicodeDecodeError):
        words = re.sub(r"<[^>]*>", " ", answer.text)
    else:
        words = _of_body(body)
    words = " ".join(words.split())
    return (words[:_LONGEST] + "…" if len(words) > _LONGEST else words) or answer.reason_phrase or "no words"


def _of_body(body: Any) -> str:
    if not isinstance(body, Mapping):
        return body if isinstance(body, str) else json.dumps(body)
    error = body.get("error", body)
    if not isinstance(error, Mapping):
        return str(error)
    title = error.get("title") or error.get("message") or ""
    parts = [str(title), _of_detail(error.get("detail"))]
    return ": ".join(part for part in parts if part) or json.dumps(body)


def _of_detail(detail: Any) -> str:
    """Return a detail that is a sentence, several, or some for each field."""
    if isinstance(detail, Mapping):
        return "; ".join(f"{field}: {_of_detail(said)}" for field, said in detail.items())
    if isinstance(detail, list):
        return " ".join(_of_detail(one) for one in detail)
    return "" if detail is None else str(detail)
