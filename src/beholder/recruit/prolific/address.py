"""Where Prolific is: on the internet, or on this machine in a rehearsal."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from beholder.errors import Problem, RecruitError
from beholder.recruit.launching.reach import is_near

PROLIFIC = "https://api.prolific.com"
_VARIABLE = "BEHOLDER_PROLIFIC_URL"


def prolific_url() -> str:
    """Return the address of Prolific, or of what stands in its place; raise RecruitError where it can be none."""
    url = os.environ.get(_VARIABLE, "").strip()
    if not url:
        return PROLIFIC
    allowed = "an address that begins with https://, or with http:// on this machine, such as http://127.0.0.1:8800"
    if not _is_address(url):
        raise RecruitError(Problem(_VARIABLE, f"is {url}", allowed, "Leave it unset to speak to Prolific itself."))
    if urlsplit(url).scheme == "http" and not is_near(url):
        what = f"is {url}, and the token would be read by everybody on the way"
        raise RecruitError(Problem(_VARIABLE, what, allowed, "Nothing was sent."))
    return url


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
