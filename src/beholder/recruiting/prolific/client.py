"""HTTP requests to Prolific's API.

Requests that may be repeated are retried while Prolific is away. Payments are sent exactly once.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from urllib.parse import quote, urlsplit

from beholder.errors import Problem, RecruitError
from beholder.recruiting.contract import PlatformAway, PlatformGone, PlatformRefused, PlatformUnsure
from beholder.recruiting.preflight import is_local

if TYPE_CHECKING:
    import httpx


_log = logging.getLogger("beholder.recruiting")

_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0
_PATIENCE = 600.0
"""Seconds of waiting after which a platform that answers counts as away."""
_MOST_TRIES = 100
_SILENCE = 60.0
"""Seconds of waiting where no connection is possible at all: a person has to look at that sooner."""
_TIMEOUT = 30.0
_LOST = (408, 425, 499)
"""Status codes that come from a proxy: whether the request had an effect is unknown."""


class ProlificClient:
    """A client of Prolific's API. The token is in the header of each request and nowhere else."""

    def __init__(
        self,
        base_url: str,
        token: str,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        rng: random.Random | None = None,
    ) -> None:
        import httpx

        self.sleep = sleep
        self._rng = rng or random.Random()  # noqa: S311 (how long to wait)
        self._token = token
        self._is_valid_token = token.isascii() and token.isprintable() and " " not in token
        self.is_rehearsal = is_local(base_url)
        """Whether the server is on this machine, and not Prolific."""
        self._http = httpx.AsyncClient(
            base_url=base_url,
            headers={"Authorization": f"Token {token if self._is_valid_token else ''}", "Accept": "application/json"},
            timeout=_TIMEOUT,
            follow_redirects=False,
            transport=transport,
            trust_env=transport is None and not self.is_rehearsal,
        )
        self._lock = asyncio.Lock()  # Prolific answers overlapping requests about money with 429

    async def get(self, path: str, **query: str | int) -> Any:
        """Return the JSON at a path; retry while Prolific is away."""
        return await self._request_with_retries("GET", path, query=query)

    async def send_idempotent(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        """Return the answer to an idempotent request; retry while Prolific is away."""
        async with self._lock:
            return await self._request_with_retries(method, path, body=body)

    async def send_once(self, path: str, body: Mapping[str, Any]) -> Any:
        """Return the answer to a request that is sent exactly once; before sending it again, read the state.

        Raise PlatformAway if the request was not received, and PlatformUnsure if that is unknown.
        """
        async with self._lock:
            answer = await self._post_once(path, body)
        if answer.status_code == 429:
            raise PlatformAway(self._without_token(f"{refusal_text(answer)} (429)"))
        return self._read_once(answer)

    async def pay(self, path: str) -> None:
        """Send a payment exactly once. Only 202 means accepted; only an answer of Prolific itself means refused."""
        async with self._lock:
            answer = await self._post_once(path, None)
        if answer.status_code != 202:
            kind = PlatformRefused if _is_definite(answer) else PlatformUnsure
            raise kind(self._without_token(f"{refusal_text(answer)} ({answer.status_code})"))

    async def close(self) -> None:
        await self._http.aclose()

    async def _request_with_retries(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str | int] | None = None,
    ) -> Any:
        import httpx

        self._check_token()
        waited, wait, tries = 0.0, _FIRST_WAIT, 0
        while True:
            retry_after, longest, tries = 0.0, _PATIENCE, tries + 1
            try:
                answer = await self._http.request(method, path, json=body, params=query or None)
                if answer.is_success:
                    return self._json(answer)
                if answer.status_code not in (429, *_LOST) and answer.status_code < 500:
                    self._refuse(answer)
                why, retry_after = f"{refusal_text(answer)} ({answer.status_code})", _retry_after(answer)
            except httpx.TimeoutException:
                why = f"no answer in {_TIMEOUT:g} s"
                waited += _TIMEOUT
            except httpx.ConnectError as error:
                why, longest = f"no connection: {error}", _SILENCE
            except (httpx.TransportError, _Unreadable) as error:
                why = str(error) or type(error).__name__
            pause = max(retry_after, self._rng.uniform(0, wait))
            if waited + pause > longest or tries == _MOST_TRIES:
                raise PlatformAway(self._without_token(f"{why}, after {waited:.0f} s of trying"))
            _log.info("Prolific: %s; trying again in %.0f s", self._without_token(why), pause)
            await self.sleep(pause)
            waited, wait = waited + pause, min(2 * wait, _LONGEST_WAIT)

    async def _post_once(self, path: str, body: Mapping[str, Any] | None) -> httpx.Response:
        import httpx

        self._check_token()
        try:
            return await self._http.post(path, json=body)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise PlatformAway(self._without_token(f"no connection: {error}")) from None
        except httpx.TransportError as error:
            raise PlatformUnsure(self._without_token(f"no answer: {str(error) or type(error).__name__}")) from None

    def _read_once(self, answer: httpx.Response) -> Any:
        if 400 <= answer.status_code < 500 and answer.status_code not in _LOST:
            self._refuse(answer)
        if not answer.is_success:
            raise PlatformUnsure(self._without_token(f"{refusal_text(answer)} ({answer.status_code})"))
        try:
            return self._json(answer)
        except _Unreadable as error:
            raise PlatformUnsure(self._without_token(str(error))) from None

    def _json(self, answer: httpx.Response) -> Any:
        if not answer.content:
            return None
        try:
            return answer.json()
        except (json.JSONDecodeError, UnicodeDecodeError):
            raise _Unreadable(f"an answer that is no JSON ({answer.status_code})") from None

    def _refuse(self, answer: httpx.Response) -> NoReturn:
        if answer.status_code == 401:
            raise RecruitError(
                Problem(
                    "PROLIFIC_TOKEN",
                    "Prolific does not know this token",
                    fix="Make a new one on Prolific under Settings, API tokens, and set the variable to it.",
                )
            )
        kind = PlatformGone if answer.status_code == 404 else PlatformRefused
        raise kind(self._without_token(f"{refusal_text(answer)} ({answer.status_code})"))

    def _check_token(self) -> None:
        if not self._token:
            raise RecruitError(
                Problem(
                    "PROLIFIC_TOKEN",
                    "is not set, and Prolific asks for a token",
                    fix="Make one on Prolific under Settings, API tokens, and set the environment variable "
                    "PROLIFIC_TOKEN to it; never write it into a file of the study.",
                )
            )
        if not self._is_valid_token:  # an error of the HTTP library would quote it
            raise RecruitError(
                Problem(
                    "PROLIFIC_TOKEN",
                    "holds spaces, line ends or letters that no token has",
                    fix="Copy it once more, without quotation marks around it.",
                )
            )

    def _without_token(self, text: str) -> str:
        """Return a text without the token, in case an answer repeats it."""
        return text.replace(self._token, "…") if self._token else text


class _Unreadable(Exception):
    """The answer is not JSON, such as the HTML page of a proxy."""


def _retry_after(answer: httpx.Response) -> float:
    """Return how many seconds an answer asks to wait; 0 if it has no valid Retry-After."""
    value, sent = answer.headers.get("Retry-After", ""), answer.headers.get("Date", "")
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(value) - parsedate_to_datetime(sent)).total_seconds()
        except (TypeError, ValueError):
            return 0.0
    return min(max(seconds, 0.0), _PATIENCE) if math.isfinite(seconds) else 0.0


# Refusals


_LONGEST = 500
_REFUSAL_STATUSES = frozenset((400, 401, 403, 404, 422, 429))
"""What Prolific answers when it has done nothing. Other codes may come from a proxy."""


def _is_definite(answer: httpx.Response) -> bool:
    """Return whether an answer is certainly a refusal of Prolific itself: nothing happened."""
    if answer.status_code not in _REFUSAL_STATUSES:
        return False
    try:
        return isinstance(answer.json(), Mapping)
    except (json.JSONDecodeError, UnicodeDecodeError):
        return False


def refusal_text(answer: httpx.Response) -> str:
    """Return the reason for a refusal as one line; of an HTML page, its first words."""
    try:
        body = answer.json()
    except (json.JSONDecodeError, UnicodeDecodeError):
        text = re.sub(r"<[^>]*>", " ", answer.text)
    else:
        text = _body_text(body)
    text = " ".join(text.split())
    return (text[:_LONGEST] + "…" if len(text) > _LONGEST else text) or answer.reason_phrase or "no words"


def _body_text(body: Any) -> str:
    if not isinstance(body, Mapping):
        return body if isinstance(body, str) else json.dumps(body)
    error = body.get("error", body)
    if not isinstance(error, Mapping):
        return str(error)
    title = error.get("title") or error.get("message") or ""
    parts = [str(title), _detail_text(error.get("detail"))]
    return ": ".join(part for part in parts if part) or json.dumps(body)


def _detail_text(detail: Any) -> str:
    """Return a detail that is a sentence, a list, or a mapping by field, as text."""
    if isinstance(detail, Mapping):
        return "; ".join(f"{field}: {_detail_text(part)}" for field, part in detail.items())
    if isinstance(detail, list):
        return " ".join(_detail_text(item) for item in detail)
    return "" if detail is None else str(detail)


# Lists and paths


_PAGE = 100


async def paginate(client: ProlificClient, path: str, **query: str) -> AsyncIterator[Mapping[str, Any]]:
    """Yield the entries of a list, page by page; one that moved meanwhile may come twice."""
    ids: set[str] = set()
    page = 1
    while True:
        try:
            entries = (await client.get(path, page=page, page_size=_PAGE, **query))["results"]
        except PlatformRefused:
            if page == 1:
                raise
            return  # some lists refuse a page beyond their last one
        if ids.issuperset(str(entry["id"]) for entry in entries):
            return
        for entry in entries:
            ids.add(str(entry["id"]))
            yield entry
        page += 1


def study_path(id: str) -> str:
    """Return the path of a study."""
    return f"/api/v1/studies/{quote(id, safe='')}/"


def submission_path(id: str) -> str:
    """Return the path of a submission."""
    return f"/api/v1/submissions/{quote(id, safe='')}/"


# Address


PROLIFIC = "https://api.prolific.com"
_VARIABLE = "BEHOLDER_PROLIFIC_URL"


def prolific_url() -> str:
    """Return the address of Prolific, or of the server named by BEHOLDER_PROLIFIC_URL; raise RecruitError if unsafe."""
    url = os.environ.get(_VARIABLE, "").strip()
    if not url:
        return PROLIFIC
    allowed = "an address that begins with https://, or with http:// on this machine, such as http://127.0.0.1:8800"
    if not _is_address(url):
        raise RecruitError(Problem(_VARIABLE, f"is {url}", allowed, "Leave it unset to speak to Prolific itself."))
    if urlsplit(url).scheme == "http" and not is_local(url):
        what = f"is {url}, and the token would be read by everybody on the way"
        raise RecruitError(Problem(_VARIABLE, what, allowed, "Nothing was sent."))
    return url


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


# Looking whether it answers


class PlatformAnswer(NamedTuple):
    """Where a platform answered, and what time it is there."""

    address: str
    at: datetime | None


def probe(token: str) -> PlatformAnswer:
    """Ask Prolific once who has this token; raise RecruitError where it does not answer, or does not know it."""
    import httpx

    url = prolific_url()
    try:
        headers = {"Authorization": f"Token {token}"}
        answer = httpx.get(f"{url}/api/v1/users/me/", headers=headers, timeout=10, trust_env=not is_local(url))
    except (httpx.HTTPError, UnicodeEncodeError) as error:
        what = f"does not answer ({type(error).__name__})"
        raise RecruitError(
            Problem(url, what, fix="See that this machine reaches the network, and look again.")
        ) from None
    if not answer.is_success:
        what = f"does not take the token ({answer.status_code})"
        raise RecruitError(Problem(url, what, fix="Make a new one on Prolific under Settings, API tokens.")) from None
    try:
        at = parsedate_to_datetime(answer.headers["date"])
    except (KeyError, ValueError):
        at = None
    return PlatformAnswer(url, at)
