"""HTTP requests to Prolific: retries, payments that are sent once, tokens, refusals."""

from __future__ import annotations

import logging
import random
from pathlib import Path

import httpx
import pytest

from beholder.errors import RecruitError
from beholder.recruiting.contract import BonusRow, PlatformAway, PlatformRefused, PlatformUnsure
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.fake.http import FaultKind
from beholder.recruiting.prolific.client import PROLIFIC, ProlificClient, refusal_text
from beholder.recruiting.prolific.recruiter import open_prolific
from beholder.store.open import open_store
from beholder.study.recruitment import Sum
from support.prolific_rehearsal import JOB, prolific, study_in
from support.prolific_researcher import PAY

WORKSPACES = "GET /api/v1/workspaces/"


def client_of(fake: FakeProlific, token: str = "rehearsal", waits: list[float] | None = None) -> ProlificClient:
    async def sleep(seconds: float) -> None:
        if waits is not None:
            waits.append(seconds)
        await fake.sleep(seconds)

    return ProlificClient(PROLIFIC, token, transport=fake.transport(), sleep=sleep, rng=random.Random(1))


@pytest.mark.parametrize("kind", ["429", "500", "502", "504", "html", "cut_before", "slow_before", "refused"])
async def test_what_is_only_read_is_tried_again(kind: FaultKind) -> None:
    fake, waits = FakeProlific(), list[float]()
    fake.faults.next(WORKSPACES, kind, kind)
    assert (await client_of(fake, waits=waits).get("/api/v1/workspaces/"))["results"]
    assert fake.requests == [WORKSPACES] * 3
    assert 0 <= waits[0] <= 1
    assert 0 <= waits[1] <= 2


async def test_it_waits_as_long_as_it_is_asked_to() -> None:
    fake, waits = FakeProlific(), list[float]()
    fake.faults.next(WORKSPACES, "429_wait")
    await client_of(fake, waits=waits).get("/api/v1/workspaces/")
    assert waits == [7]


NOON = "Mon, 01 Feb 2027 12:00:00 GMT"
ASKED = {"0": 0, "-3": 0, "nan": 0, "inf": 0, "soon": 0, "2.5": 2.5, "Mon, 01 Feb 2027 12:00:09 GMT": 9, NOON: 0}


@pytest.mark.parametrize("said", ASKED)
async def test_whatever_it_is_asked_to_wait_it_waits_a_little_and_gives_up_in_the_end(said: str) -> None:
    waits = list[float]()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    headers = {"Retry-After": said, "Date": NOON}
    line = httpx.MockTransport(lambda _: httpx.Response(429, headers=headers, json={"message": "Slow down."}))
    with pytest.raises(PlatformAway):
        await ProlificClient(PROLIFIC, "rehearsal", line, sleep, random.Random(1)).get("/api/v1/workspaces/")
    assert all(wait > 0 and wait >= ASKED[said] for wait in waits)
    assert sum(waits) <= 600
    waits.clear()

    class Hasty(random.Random):
        def uniform(self, a: float, b: float) -> float:
            return a

    with pytest.raises(PlatformAway):
        await ProlificClient(PROLIFIC, "rehearsal", line, sleep, Hasty()).get("/api/v1/workspaces/")
    assert len(waits) < 100


async def test_after_ten_minutes_it_gives_up_and_without_any_connection_after_one() -> None:
    for kind, patience in (("429", 600), ("slow_before", 600), ("refused", 60)):
        fake, waits = FakeProlific(), list[float]()
        fake.faults.every(WORKSPACES, kind, share=1, seed=1)  # type: ignore[arg-type]
        with pytest.raises(PlatformAway, match=r"after \d+ s of trying"):
            await client_of(fake, waits=waits).get("/api/v1/workspaces/")
        assert patience - 60 < sum(waits) + (30 * len(waits) if kind == "slow_before" else 0) <= patience
        assert max(waits) <= 60


AFTER_PAY: dict[FaultKind, type[Exception]] = {
    "408_after": PlatformUnsure, "429": PlatformRefused, "429_wait": PlatformRefused, "refused": PlatformAway,
    "500": PlatformUnsure,
    "502": PlatformUnsure, "504": PlatformUnsure, "504_after": PlatformUnsure, "html": PlatformUnsure,
    "html_after": PlatformUnsure, "cut_before": PlatformUnsure, "cut_after": PlatformUnsure,
    "slow_before": PlatformUnsure, "slow_after": PlatformUnsure,
}  # fmt: skip


@pytest.mark.parametrize("kind", AFTER_PAY)
async def test_a_payment_is_sent_once_whatever_comes_back(kind: FaultKind, tmp_path: Path) -> None:
    fake = FakeProlific()
    async with prolific(study_in(tmp_path), fake) as recruiter:
        posting = await recruiter.publish((await recruiter.draft(JOB)).id)
        submission = fake.people.finish(posting.id)[0].submission.id
        batch = await recruiter.setup_bonus(posting.id, [BonusRow(submission, Sum(150, "GBP"))])
        fake.faults.next(PAY, kind)
        with pytest.raises(AFTER_PAY[kind]):
            await recruiter.pay_bonus(batch.ref)
        assert fake.requests.count(PAY) == 1
        fake.advance(hours=1)
        has_moved = kind.endswith("_after")
        assert [one.amount for one in fake.payments] == [150] * has_moved
        assert (await recruiter.submission(submission)).bonuses == (150,) * has_moved


OWN = {"error": {"status": 400, "title": "Bad request", "detail": "Not enough funds"}}
ANSWERS = [
    (400, OWN, PlatformRefused), (422, OWN, PlatformRefused), (403, "<html>Forbidden</html>", PlatformUnsure),
    (400, "", PlatformUnsure), (408, OWN, PlatformUnsure), (409, OWN, PlatformUnsure), (425, OWN, PlatformUnsure),
    (499, OWN, PlatformUnsure), (302, OWN, PlatformUnsure), (200, OWN, PlatformUnsure),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "error"), ANSWERS)
async def test_only_a_no_of_prolific_itself_means_that_nothing_was_paid(
    status: int, body: object, error: type[Exception]
) -> None:
    content = {"text": body} if isinstance(body, str) else {"json": body}
    line = httpx.MockTransport(lambda _: httpx.Response(status, **content))
    with pytest.raises(error):
        await ProlificClient(PROLIFIC, "rehearsal", line).pay("/api/v1/bulk-bonus-payments/1/pay/")


NO_TOKEN = (
    "PROLIFIC_TOKEN  is not set, and Prolific asks for a token. Make one on Prolific under Settings, API tokens, and "
    "set the environment variable PROLIFIC_TOKEN to it; never write it into a file of the study."
)
WRONG_TOKEN = (
    "PROLIFIC_TOKEN  Prolific does not know this token. Make a new one on Prolific under Settings, API tokens, and set "
    "the variable to it."
)


async def test_without_a_token_nothing_is_sent_and_it_says_which_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROLIFIC_TOKEN", raising=False)
    study = study_in(tmp_path)
    async with open_store(tmp_path / "store") as store:
        recruiter = open_prolific(study, store)
        with pytest.raises(RecruitError) as told:
            await recruiter.draft(JOB)
        assert str(told.value) == NO_TOKEN
        await recruiter.close()


ADDRESS = "https://, or with http:// on this machine, such as http://127.0.0.1:8800"
IN_THE_CLEAR = "http://10.0.0.7:8800"
LISTENED = (
    f"BEHOLDER_PROLIFIC_URL  is {IN_THE_CLEAR}, and the token would be read by everybody on the way. Allowed: an "
    f"address that begins with {ADDRESS}. Nothing was sent."
)


async def test_an_address_that_can_be_none_or_gives_the_token_away_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_in(tmp_path)
    async with open_store(tmp_path / "store") as store:
        for url in ("ftp://x", "127.0.0.1:8871", "localhost:8871", "https://", "http://[::1", "http://127.0.0.1:none"):
            monkeypatch.setenv("BEHOLDER_PROLIFIC_URL", url)
            with pytest.raises(RecruitError) as told:
                open_prolific(study, store)
            assert str(told.value) == (
                f"BEHOLDER_PROLIFIC_URL  is {url}. Allowed: an address that begins with {ADDRESS}. "
                "Leave it unset to speak to Prolific itself."
            )
        monkeypatch.setenv("BEHOLDER_PROLIFIC_URL", IN_THE_CLEAR)
        with pytest.raises(RecruitError) as told:
            open_prolific(study, store)
        assert str(told.value) == LISTENED
        rehearsals = {"http://127.0.0.2:8800": True, "http://[::1]:8800": True, "https://prolific.example.org": False}
        for url, is_rehearsal in {**rehearsals, "": False}.items():
            monkeypatch.setenv("BEHOLDER_PROLIFIC_URL", url)
            recruiter = open_prolific(study, store)
            assert recruiter.is_rehearsal is is_rehearsal
            await recruiter.close()


@pytest.mark.parametrize("token", ["“s3cr3t”", "s3c r3t", "s3c\nr3t", "s3cr3t\x00"])
async def test_what_can_be_no_token_is_told_without_it_and_nothing_is_sent(token: str) -> None:
    fake = FakeProlific()
    client = client_of(fake, token)
    for request in (client.get("/api/v1/users/me/"), client.pay("/api/v1/bulk-bonus-payments/1/pay/")):
        with pytest.raises(RecruitError) as told:
            await request
        assert str(told.value) == (
            "PROLIFIC_TOKEN  holds spaces, line ends or letters that no token has. "
            "Copy it once more, without quotation marks around it."
        )
    assert not fake.requests


async def test_the_token_is_in_no_message_no_log_and_no_name(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    secret = "s3cr3t-t0k3n"
    fake = FakeProlific(token="another")
    caplog.set_level(logging.DEBUG)
    async with prolific(study_in(tmp_path), fake, secret) as recruiter:
        with pytest.raises(RecruitError) as told:
            await recruiter.quote(JOB)
        assert str(told.value) == WRONG_TOKEN
        assert secret not in repr(vars(recruiter)) + caplog.text + repr(client_of(fake, secret))


async def test_an_answer_that_repeats_the_token_is_told_without_it() -> None:
    fake = FakeProlific()
    client = client_of(fake)
    with pytest.raises(PlatformRefused) as told:
        await client.get("/api/v1/rehearsal/")
    assert "rehearsal" not in str(told.value)


SHAPES = {
    "one sentence": ({"error": {"title": "Bad request", "detail": "No money."}}, "Bad request: No money."),
    "several": ({"error": {"title": "Bad request", "detail": ["One.", "Two."]}}, "Bad request: One. Two."),
    "by field": (
        {"error": {"title": "Bad request", "detail": {"reward": ["Too low."], "name": ["Missing.", "Empty."]}}},
        "Bad request: reward: Too low.; name: Missing. Empty.",
    ),
    "without error around it": ({"status": 400, "title": "Bad request", "detail": "No."}, "Bad request: No."),
    "message": ({"message": "Internal error", "detail": "Try later"}, "Internal error: Try later"),
    "a list": (["Something"], '["Something"]'),
    "a string": ("Something", "Something"),
    "nothing known": ({"what": 1}, '{"what": 1}'),
    "an error that is a string": ({"error": "No."}, "No."),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_refusal_is_told_in_prolifics_words_whatever_its_shape(shape: str) -> None:
    body, words = SHAPES[shape]
    assert refusal_text(httpx.Response(400, json=body)) == words


def test_a_refusal_that_is_no_json_is_told_in_short() -> None:
    assert refusal_text(httpx.Response(502, text="<html><h1>Bad gateway</h1></html>")) == "Bad gateway"
    assert refusal_text(httpx.Response(504, text="")) == "Gateway Timeout"
    assert len(refusal_text(httpx.Response(500, text="x" * 9000))) == 501
