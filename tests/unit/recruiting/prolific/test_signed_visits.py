"""Visits that Prolific has signed are verified at once; a signature that it did not make changes nothing."""

from __future__ import annotations

import base64
import hmac
import json
import logging
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from beholder.errors import Refused
from beholder.recruiting.prolific.client import PROLIFIC, ProlificClient
from beholder.recruiting.prolific.signed_visits import SignedVisits
from beholder.recruiting.verified_visits import VerifiedVisits
from beholder.server.visits import VisitIds
from support.platform_visitors import prolific
from support.posted_study import ADDRESS, KEYS, LOOK, PostedStudy, posted, refusal

ON = {"signed_visits": True}


async def test_a_signed_visit_that_prolific_does_not_list_yet_is_verified_without_asking(tmp_path: Path) -> None:
    async with posted(tmp_path, **ON) as here:
        ann = await here.make_up("ann", token=here.sign("ann"))
        assert await here.verified() == [ann.session]
        await ann.until("end")
        assert here.shows_code(ann.step)
        assert (here.fake.requests.count(KEYS), here.fake.requests.count(LOOK)) == (1, 0)
        again = await here.make_up("ann", token=here.sign("ann"))
        assert (again.session, await here.verified()) == (ann.session, [ann.session]), "recorded once"


async def test_the_address_that_prolific_makes_is_signed(tmp_path: Path) -> None:
    async with posted(tmp_path, **ON) as here:
        visit = here.take()
        assert "prolific_token=" in visit.url
        ann = await here.come(visit)
        assert await here.verified() == [ann.session]
        assert here.fake.requests.count(LOOK) == 0


async def test_a_signature_is_read_while_the_list_does_not_answer(tmp_path: Path) -> None:
    async with posted(tmp_path, **ON) as here:
        await here.make_up("first", token=here.sign("first"))
        here.is_down()
        ann = await here.make_up("ann", token=here.sign("ann"))
        await ann.until("end")
        assert ann.session in await here.verified()


async def test_a_study_that_does_not_ask_for_signatures_reads_none(tmp_path: Path) -> None:
    async with posted(tmp_path) as here:
        ann = await here.make_up("ann", token=here.sign("ann"))
        assert (await refusal(ann)).code == "unlisted"
        assert here.fake.requests.count(KEYS) == 0


async def test_where_the_keys_do_not_come_the_list_decides(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with posted(tmp_path, **ON) as here:
        here.fake.faults.every(KEYS, "500", share=1, seed=1)
        with caplog.at_level(logging.WARNING, "beholder.recruiting"):
            ann, nobody = await here.come(here.take()), await here.make_up("nobody", token=here.sign("nobody"))
        assert "signatures of visits are not read, and the platform's list decides" in caplog.text
        assert (await refusal(nobody)).code == "unlisted"
        await ann.until("end")
        assert (here.shows_code(ann.step), await here.verified()) == (True, [ann.session])


async def test_a_tab_that_is_loaded_again_goes_on_with_a_signature_that_has_expired(tmp_path: Path) -> None:
    async with posted(tmp_path, **ON) as here:
        visit = here.take()
        address = visit.url
        here.fake.advance(minutes=5)
        ids = VisitIds(visit.submission.person.id, here.posting, visit.submission.id)
        assert await here.recruiter.signed_address(ids, address.partition("prolific_token=")[2]) is None
        ann = await here.make_up(ids.participant, ids.submission, address.partition("prolific_token=")[2])
        await ann.until("end")
        assert (here.shows_code(ann.step), await here.verified()) == (True, [ann.session])


async def test_a_new_signed_visit_goes_on_on_another_device(tmp_path: Path) -> None:
    async with posted(tmp_path, **ON) as here:
        ann = await here.make_up("ann", token=here.sign("ann"))
        await ann.until("trial:1")
        again = await here.make_up("ann", "second", here.sign("ann", "second"))
        assert (again.session, again.key) == (ann.session, "trial:1")


async def test_a_signed_visit_that_is_not_listed_yet_keeps_its_list_and_gets_the_code_of_a_full_study(
    tmp_path: Path,
) -> None:
    async with posted(tmp_path, **ON) as here:
        signed = [await here.make_up(name, token=here.sign(name)) for name in ("ann", "bea")]
        for one in signed:
            await one.answer()
        for token, sees_code in ((here.sign("cat"), True), ("", False)):
            with pytest.raises(Refused) as caught:
                await here.make_up("cat", token=token)
            assert here.shows_code(caught.value.more) is sees_code
        for one in signed:
            await one.until("end")
            assert here.shows_code(one.step)


async def test_a_signature_is_neither_kept_nor_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        async with posted(tmp_path, **ON) as here:
            tokens = [here.sign("ann"), here.sign("bea")[:-4] + "AAAA"]
            for name, token in zip(("ann", "bea"), tokens, strict=True):
                await here.make_up(name, token=token)
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for part in (part for token in tokens for part in token.split(".")):
        assert part.encode() not in stored
        assert part not in caplog.text


# Signatures that Prolific did not make, or not for this visit


def own_key(here: PostedStudy) -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": str(here.fake.account.key.kid)})


def claims_of(here: PostedStudy) -> dict[str, Any]:
    part = here.sign("ann").split(".")[1]
    return dict(json.loads(base64.urlsafe_b64decode(part + "==")))


def plain(head: dict[str, Any], claims: dict[str, Any]) -> str:
    parts = [base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in (head, claims)]
    return ".".join([*parts, ""])


def by_public_key(here: PostedStudy) -> str:
    """Return a token signed with Prolific's public key, as if that were a shared secret."""
    key = here.fake.account.key
    text = plain({"alg": "HS256", "kid": key.kid}, claims_of(here)).rstrip(".")
    seal = hmac.digest(key.as_pem(private=False), text.encode(), "sha256")
    return f"{text}.{base64.urlsafe_b64encode(seal).decode().rstrip('=')}"


def with_ids(**ids: str) -> Callable[[PostedStudy], str]:
    return lambda here: here.sign("ann", prolific=claims_of(here)["prolific"] | ids)


FORGED: dict[str, Callable[[PostedStudy], str]] = {
    "another key": lambda here: jwt.encode(
        {"alg": "RS256", "kid": here.fake.account.key.kid}, claims_of(here), own_key(here)
    ),
    "no algorithm": lambda here: plain({"alg": "none", "kid": here.fake.account.key.kid}, claims_of(here)),
    "the public key as a secret": by_public_key,
    "a key in its head": lambda here: jwt.encode(
        {"alg": "RS256", "kid": "mine", "jku": "https://evil.example/jwks.json"}, claims_of(here), own_key(here)
    ),
    "no key": lambda here: jwt.encode({"alg": "RS256"}, claims_of(here), here.fake.account.key),
    "changed": lambda here: here.sign("ann")[:-6] + "AAAAAA",
    "another person": with_ids(PROLIFIC_PID="bea"),
    "another study": with_ids(STUDY_ID="5f00000000000000000000ff"),
    "another visit": with_ids(SESSION_ID="s2"),
    "another workspace": with_ids(workspace_id="5f00000000000000000000ff"),
    "no ids": lambda here: here.sign("ann", prolific=None),
    "expired": lambda here: here.sign("ann", exp=int(here.fake.now.timestamp()) - 31),
    "without end": lambda here: here.sign("ann", exp=None),
    "of tomorrow": lambda here: here.sign("ann", iat=int(here.fake.now.timestamp()) + 86400),
    "too long": lambda here: here.sign("ann", more="x" * 4096),
    "no token": lambda here: "eyJ.ünd.…",
}


async def test_a_forged_signature_is_none(tmp_path: Path) -> None:
    async with posted(tmp_path, **ON) as here:
        ids = prolific("ann", "visit-of-ann", here.posting)
        visit = VisitIds(ids["PROLIFIC_PID"], ids["STUDY_ID"], ids["SESSION_ID"])
        assert str(await here.recruiter.signed_address(visit, here.sign("ann"))).startswith(ADDRESS)
        read = {name: await here.recruiter.signed_address(visit, make(here)) for name, make in FORGED.items()}
        assert read == dict.fromkeys(FORGED)
        nobody = await here.make_up("ann", token=FORGED["another key"](here))
        assert (await refusal(nobody)).code == "unlisted"


async def test_a_signature_for_another_domain_lets_nobody_in(tmp_path: Path) -> None:
    async with posted(tmp_path, **ON) as here:
        for other in ("https://evil.example/s/walk", "evil.example", "https://lab.example.org.evil.example/", "[", ""):
            nobody = await here.make_up("nobody", token=here.sign("nobody", aud=other))
            assert (await refusal(nobody)).code == "unlisted"
        ann = await here.make_up("ann", token=here.sign("ann", aud="LAB.example.org:443"))
        assert await here.verified() == [ann.session], "a domain alone will do"


# Keys


async def test_made_up_keys_do_not_make_us_ask(tmp_path: Path) -> None:
    async with posted(tmp_path, **ON) as here:
        own = RSAKey.generate_key(2048)
        visit = VisitIds("ann", here.posting, "visit-of-ann")
        for number in range(30):
            token = jwt.encode({"alg": "RS256", "kid": f"made-up-{number}"}, claims_of(here), own)
            assert await here.recruiter.signed_address(visit, token) is None
        assert here.fake.requests.count(KEYS) == 1


async def test_a_new_key_is_found_after_minutes_and_an_old_one_is_dropped_within_a_day(tmp_path: Path) -> None:
    async with posted(tmp_path, **ON) as here:

        async def workspace() -> str:
            return here.fake.workspace

        visit = VisitIds("ann", here.posting, "visit-of-ann")
        client = ProlificClient(PROLIFIC, here.fake.token, here.fake.transport(), here.fake.sleep)
        reader = SignedVisits(client, workspace, lambda: here.fake.now)
        assert await reader.address(visit, here.sign("ann"))
        old_key = here.fake.account.key
        del here.fake.account.key  # the next one is another
        assert await reader.address(visit, here.sign("ann")) is None, "asked a moment ago"
        here.fake.advance(minutes=3)
        assert await reader.address(visit, here.sign("ann"))
        head = {"alg": "RS256", "kid": old_key.kid}
        assert await reader.address(visit, jwt.encode(head, claims_of(here), old_key)) is None
        here.fake.advance(hours=13)
        before = here.fake.requests.count(KEYS)
        assert await reader.address(visit, here.sign("ann"))
        assert here.fake.requests.count(KEYS) == before + 1, "asked for again before a day has passed"
        await client.close()


async def test_keys_that_could_not_be_asked_for_again_are_trusted_for_a_day(tmp_path: Path) -> None:
    async with posted(tmp_path, **ON) as here:
        visits = VerifiedVisits(here.host.store, here.recruiter, 1, lambda: here.fake.now, here.fake.sleep)
        visit = VisitIds("ann", here.posting, "visit-of-ann")
        assert await visits.is_signed(visit, here.sign("ann"))
        here.is_down()
        here.fake.advance(hours=13)
        assert not await visits.is_signed(visit, here.sign("ann")), "this one waited for the platform"
        assert await visits.is_signed(visit, here.sign("ann"))
        here.fake.advance(hours=11)
        await visits.is_signed(visit, here.sign("ann"))
        assert not await visits.is_signed(visit, here.sign("ann"))
        here.is_back()
        here.fake.advance(seconds=timedelta(minutes=4).total_seconds())
        assert await visits.is_signed(visit, here.sign("ann"))
