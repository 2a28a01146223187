"""Tokens, codes and pseudonyms, all keyed by the store's secret."""

from __future__ import annotations

import re

import pytest

from beholder.errors import Refused
from beholder.server.tokens import (
    SessionToken,
    completion_code,
    invitation,
    media_address,
    pseudonym,
    read_invitation,
    read_token,
    receipt_code,
    session_token,
)

SECRET, OTHER = b"s" * 32, b"o" * 32


def test_a_session_token_is_read_back_and_a_forged_one_is_refused() -> None:
    token = session_token(SECRET, "walk", "s1")
    assert read_token(SECRET, "walk", token) == SessionToken("walk", "s1")
    for forged, code in ((token + "x", "unknown_token"), (session_token(SECRET, "run", "s1"), "other_study")):
        with pytest.raises(Refused) as refused:
            read_token(SECRET, "walk", forged)
        assert refused.value.code == code
    with pytest.raises(Refused):
        read_token(OTHER, "walk", token)


def test_an_invitation_is_read_back_only_with_the_secret_that_signed_it() -> None:
    text = invitation(SECRET, "ann@example.org")
    assert read_invitation(SECRET, text) == "ann@example.org"
    assert read_invitation(OTHER, text) is None
    assert read_invitation(SECRET, "ann@example.org.x") is None


def test_pseudonyms_depend_on_secret_platform_and_id() -> None:
    names = {pseudonym(*key) for key in ((SECRET, "link", "a"), (OTHER, "link", "a"), (SECRET, "lab", "a"))}
    assert len(names) == 3
    assert all(re.fullmatch("[0-9a-f]{20}", name) for name in names)


def test_codes_have_letters_that_are_not_confused() -> None:
    assert re.fullmatch("[A-HJKMNP-TV-Z2-9]{4}-[A-HJKMNP-TV-Z2-9]{4}", completion_code(SECRET, "s1", "completed"))
    assert re.fullmatch("BH(-[A-HJKMNP-TV-Z2-9]{4}){7}", receipt_code(SECRET, "s1"))


def test_every_slot_has_an_address_of_its_own_that_begins_with_the_session() -> None:
    addresses = {media_address(SECRET, "s1", key, slot) for key in ("trial:1", "trial:2") for slot in ("s1", "s2")}
    assert len(addresses) == 4
    assert all(address.token.startswith("s1-") for address in addresses)
