"""The settings of a deployment: given now, of the one that goes on, or of the study; all faults at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from beholder.deployment.settings import DeploySettings, check_cost, secrets_of, settings_of
from beholder.errors import DeployError, StudyError
from beholder.methods import load_study
from beholder.planning.digest import study_digest
from beholder.stimuli.catalogue import Catalogue
from beholder.study.deployment import address_port, is_numeric, is_tunnelled
from beholder.study.model import Study
from beholder.study.recruitment import Sum
from beholder.testing import write_study
from support.s3_server import S3Server

WRITTEN = {"to": "ada@lab", "address": "https://study.example.org", "tls": "proxy"}


def study_with(folder: Path, tiny: Path, **keys: object) -> Study:
    return load_study(write_study(folder / "study", tiny, **keys))


def test_what_is_given_counts_more_than_what_is_written(tmp_path: Path, tiny: Path) -> None:
    study = study_with(tmp_path, tiny, deploy=WRITTEN)
    assert settings_of(study, {}, None).facts == {
        **WRITTEN, "tunnel": None, "via": None, "service": None, "is_volatile": False, "is_offline": False,
            "ssh_config": None,
        "store": None, "acme": None, "acme_root": None, "machine": "", "hourly": None,
    }  # fmt: skip
    given = settings_of(study, {"to": "bob@lab", "tls": None}, None)
    assert (given.to, given.tls) == ("bob@lab", "proxy")
    again = settings_of(study, {}, {**given.facts, "address": "https://other.example.org:8443"})
    assert (again.host, again.port) == ("other.example.org", 8443)


def test_a_machine_without_an_index_stays_one_until_it_is_told_otherwise(tmp_path: Path, tiny: Path) -> None:
    study = study_with(tmp_path, tiny, deploy=WRITTEN)
    first = settings_of(study, {"is_offline": True}, None)
    later = settings_of(study, {"is_offline": None}, first.facts)
    told = settings_of(study, {"is_offline": False}, later.facts)
    assert (first.is_offline, later.is_offline, told.is_offline) == (True, True, False)


def test_what_is_missing_or_wrong_is_told_at_once(tmp_path: Path, tiny: Path) -> None:
    study = study_with(tmp_path, tiny, name="caddy")
    with pytest.raises(DeployError) as refused:
        settings_of(study, {"address": "http://study.example.org/path"}, None)
    assert [str(problem) for problem in refused.value.problems] == [
        "--to  is missing. Allowed: user@host, a name from your ssh configuration, here, or ec2:REGION. Write it once "
        "in the study: deploy: {to: ada@lab.example.org, address: https://study.example.org}.",
        "--address  is http://study.example.org/path. Allowed: an address such as https://study.example.org, without a "
        "path.",
        "study.yaml:2  name is caddy, under which Caddy is kept. Allowed: another name.",
    ]


def test_how_people_come_follows_from_what_is_said(tmp_path: Path, tiny: Path) -> None:
    study = study_with(tmp_path, tiny)
    alone = settings_of(study, {"to": "here"}, None)
    assert (alone.tls, alone.address, alone.is_temporary, alone.ports) == ("tunnel", "", True, [])
    named = settings_of(study, {"to": "here", "address": "https://study.example.org"}, None)
    assert (named.tls, named.is_temporary, named.ports) == ("public", False, [80, 443])
    passed_on = settings_of(study, {"to": "here", "via": "ada@own", "address": "https://study.example.org"}, None)
    assert (passed_on.tls, passed_on.is_temporary) == ("proxy", True)
    there = settings_of(study, {"to": "ada@lab", "tunnel": "tailscale"}, None)
    assert (there.tls, there.address) == ("tunnel", "")
    # The address that a tunnel gave last time is none that was asked for.
    again = settings_of(study, {}, {**there.facts, "address": "https://a.b.ts.net"})
    assert again.address == "https://a.b.ts.net"
    own = {"to": "here", "tunnel": "ngrok", "address": "https://ada.ngrok.app"}
    assert settings_of(study, own, None).tls == "tunnel"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"via": "ada@own", "tls": "internal", "address": "https://study.example.org"},
            "--via  does not go with --tls internal. Leave out --tls: the proxy on that machine has the certificate.",
        ),
        (
            {"tunnel": "ngrok", "tls": "public", "address": "https://study.example.org"},
            "--tunnel  does not go with --tls public. Leave out one of the two.",
        ),
        (
            {"tunnel": "ngrok", "via": "ada@own", "tls": "tunnel", "address": "https://study.example.org"},
            "--via  does not go with --tunnel. It is a machine of yours, or a tunnel program.",
        ),
        (
            {"tunnel": "cloudflared", "address": "https://study.example.org"},
            "--address  is https://study.example.org, and the tunnel gives one by itself. Leave out --address. A name "
            "of your own goes with ngrok, with --via, or with a proxy (--tls proxy).",
        ),
        (
            {"via": "ada@own"},
            "--address  is missing. Allowed: an address such as https://study.example.org, without a path. It is what "
            "participants open; the name has to lead to the machine, or to a proxy before it.",
        ),
    ],
)
def test_ways_in_that_do_not_go_together_are_told(
    tmp_path: Path, tiny: Path, given: dict[str, str], words: str
) -> None:
    with pytest.raises(DeployError) as refused:
        settings_of(study_with(tmp_path, tiny), {"to": "here", **given}, None)
    assert words in [str(problem) for problem in refused.value.problems]


def test_backups_go_to_a_place_that_outlives_a_version(tmp_path: Path, tiny: Path) -> None:
    given = {"to": "ada@lab", "address": "https://study.example.org"}
    beside, elsewhere = (
        study_with(tmp_path / name, tiny, backup={"to": place, "unencrypted": "a test of ours"})
        for name, place in (("one", "copies"), ("two", "/srv/copies"))
    )
    with pytest.raises(DeployError, match="is copies, a folder beside the study, which is replaced there"):
        settings_of(beside, given, None)
    assert settings_of(elsewhere, given, None).to == "ada@lab"


def test_what_a_machine_costs_has_to_be_confirmed(tmp_path: Path, tiny: Path) -> None:
    study = study_with(tmp_path, tiny)
    made = settings_of(study, {"to": "ec2:eu-central-1"}, None)
    assert made.address == "", "the machine brings one"
    assert made.machine.startswith("beholder-tiny-")
    assert settings_of(study, {}, made.facts).machine == made.machine
    cost = Sum(5, "USD")
    results = {
        None: 'is missing, and the machine costs at most 0.05 USD. Allowed: "0.05 USD" or more. It costs that from now '
        "until `beholder deploy down`, whether people come or not.",
        "much": 'is much. Allowed: "0.05 USD" or more.',
        "0.04 USD": 'is 0.04 USD, and the machine costs at most 0.05 USD. Allowed: "0.05 USD" or more. It costs that '
        "from now until `beholder deploy down`, whether people come or not.",
    }
    for hourly, words in results.items():
        with pytest.raises(DeployError) as refused:
            check_cost(replace(made, hourly=hourly), cost)
        assert str(refused.value) == f"--hourly  {words}"
    check_cost(replace(made, hourly="0.05 USD"), cost)
    check_cost(made, None)


def test_a_study_is_in_one_place(tmp_path: Path, tiny: Path) -> None:
    study = study_with(tmp_path, tiny, deploy=WRITTEN)
    before = settings_of(study, {}, None).facts
    with pytest.raises(DeployError) as refused:
        settings_of(study, {"to": "bob@other"}, before)
    assert str(refused.value) == (
        "--to  is bob@other, and the study is on ada@lab. Take it down first: `beholder deploy down`. One study is in "
        "one place, so that no answer is in two."
    )


def test_where_a_study_is_served_is_no_part_of_its_digest(tmp_path: Path, tiny: Path) -> None:
    plain = study_with(tmp_path / "a", tiny)
    deployed = study_with(tmp_path / "b", tiny, deploy=WRITTEN)
    empty = Catalogue((), (), (), (), ())
    assert study_digest(plain, empty) == study_digest(deployed, empty)


def test_an_address_in_the_study_is_read_as_one(tmp_path: Path, tiny: Path) -> None:
    with pytest.raises(StudyError, match=r"deploy.address is ftp://x, not an address such as|deploy.address"):
        study_with(tmp_path, tiny, deploy={**WRITTEN, "address": "ftp://x"})
    assert is_numeric("https://[2001:db8::1]:8443")
    assert address_port("https://192.0.2.7") == 443


def test_the_token_of_the_platform_is_a_secret_and_nothing_else(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROLIFIC_TOKEN", "a-token")
    monkeypatch.setenv("PGPASSWORD", "a-password")
    settings = DeploySettings("ada@lab", "https://study.example.org")
    assert secrets_of(study_with(tmp_path / "a", tiny), settings) == {}
    platform = study_with(tmp_path / "b", tiny, recruit={"mode": "prolific", "reward": "1.20 GBP"})
    assert secrets_of(platform, settings) == {"PROLIFIC_TOKEN": "a-token"}
    in_database = replace(settings, store="postgresql://ada@db/study")
    assert secrets_of(platform, in_database) == {"PROLIFIC_TOKEN": "a-token", "PGPASSWORD": "a-password"}
    monkeypatch.setenv("PROLIFIC_TOKEN", "two\nlines")
    with pytest.raises(DeployError) as refused:
        secrets_of(platform, settings)
    assert str(refused.value) == (
        "PROLIFIC_TOKEN  has a line break or another control character in it. Allowed: one line of text. See how it "
        "was set."
    )


def test_a_password_is_never_written_down(tmp_path: Path, tiny: Path) -> None:
    study = study_with(tmp_path, tiny, deploy=WRITTEN)
    with pytest.raises(DeployError) as refused:
        settings_of(study, {"store": "postgresql://ada:secret@db/study"}, None)
    assert str(refused.value) == (
        "--store  is no address of a database that may be written down. Allowed: postgresql://user@host/database, "
        "without a password. Its password goes by the environment, which nobody else reads: set PGPASSWORD, and leave "
        "it out."
    )
    before = settings_of(study, {}, None).facts
    with pytest.raises(DeployError) as refused:
        settings_of(study, {"store": "postgresql://ada@db/study"}, before)
    assert str(refused.value) == (
        "--store  is another one than the disk of the machine, where the answers are. Take it down first: `beholder "
        "deploy down`. Answers are in one place, so that none is in two."
    )


def test_an_authority_of_ones_own_is_named_with_its_roots(tmp_path: Path, tiny: Path) -> None:
    study = study_with(tmp_path, tiny, deploy={**WRITTEN, "acme_root": "roots.pem"})
    with pytest.raises(DeployError) as refused:
        settings_of(study, {"acme": "acme.example.org"}, None)
    assert [str(one) for one in refused.value.problems] == [
        "--acme  is acme.example.org. Allowed: an address such as https://acme.example.org/directory.",
        "--acme  goes with --tls public, and --tls is proxy.",
        f"--acme-root  is {study.folder / 'roots.pem'}, and there is no such file.",
    ]
    (study.folder / "roots.pem").touch()
    named = settings_of(study, {"acme": "https://acme.example.org/directory", "tls": "public"}, None)
    assert named.acme_root == str(study.folder / "roots.pem"), "a file of the study, wherever the command is run"


def test_addresses_of_tunnels_are_known() -> None:
    assert is_tunnelled("https://seasonal-deck.trycloudflare.com")
    assert is_tunnelled("https://laptop.tail1234.ts.net")
    assert not is_tunnelled("https://study.example.org")
    assert not is_tunnelled("https://trycloudflare.com.example.org")


def test_the_keys_of_a_bucket_with_media_go_along(
    tmp_path: Path, tiny: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = DeploySettings("ada@lab", "https://study.example.org")
    assert secrets_of(study_with(tmp_path / "a", tiny, media="s3://media/x"), settings) == s3.variables
    assert secrets_of(study_with(tmp_path / "b", tiny, media="copies"), settings) == {}
