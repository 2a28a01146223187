"""A bundle: what is in each kind, what is in none, and that it is the same each time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import beholder
from beholder.bundling.archive_contents import Bundled
from beholder.errors import UserError
from beholder.study.model import Study
from support.bundled_study import AUTHOR, SERVED, SIGNED, SUBMISSION, WHY, files_of
from support.export_store import NAMED, SECRETS


def held(bundle: Bundled, words: tuple[str, ...] | str) -> list[str]:
    content = b"".join(files_of(bundle.path).values()).decode("utf-8", "replace")
    return [word for word in ((words,) if isinstance(words, str) else words) if word in content]


def test_a_bundle_made_twice_has_the_same_bytes(study: Study, public: Bundled, tmp_path: Path) -> None:
    again = beholder.bundle(study, out=tmp_path / "again.zip")
    assert again.path.read_bytes() == public.path.read_bytes()
    assert again.digest == public.digest
    assert public.path == study.folder / "exported-public.zip"
    assert public.words[0].startswith(f"{public.path}: {public.files} files, ")


def test_no_bundle_tells_who_people_are_or_who_did_what(public: Bundled, blinded: Bundled, archived: Bundled) -> None:
    free, platform, receipt, zone = SECRETS[:3], SECRETS[3], SECRETS[4], SECRETS[5]
    for bundle in (public, blinded, archived):
        assert held(bundle, (platform, receipt, zone, SIGNED, SUBMISSION, SERVED, "CODE-1", NAMED)) == []
    for bundle in (public, blinded):
        assert held(bundle, (*free, WHY)) == []
    assert held(archived, (*free, WHY)) == [*free, WHY], "what people wrote, and why somebody did something"


def test_names_of_authors_are_in_no_bundle_for_reviewers(public: Bundled, blinded: Bundled) -> None:
    assert held(public, AUTHOR) == list(AUTHOR)
    assert held(blinded, AUTHOR) == []
    consent = files_of(blinded.path)["study/consent.md"].decode()
    assert consent == "[blinded] of [blinded] asks you to look. Write to blinded@example.org.\n"


def test_payments_are_in_an_archive_alone(public: Bundled, archived: Bundled) -> None:
    kinds = []
    for bundle in (public, archived):
        lines = files_of(bundle.path)["facts/ledger.jsonl"].decode().splitlines()
        kinds.append([json.loads(line)["kind"] for line in lines])
    assert kinds[0][:2] == ["draft", "leave_out"]
    assert "approve" not in kinds[0]
    assert kinds[1][:3] == ["draft", "leave_out", "approve"]
    assert not {"verified"} & {*kinds[0], *kinds[1]}
    assert kinds[0][-1] == "look", "that results are looked at belongs to them"


def test_answers_of_who_withdrew_are_in_none(archived: Bundled) -> None:
    facts = {name: content for name, content in files_of(archived.path).items() if name.startswith("facts/")}
    for name in ("answers", "events", "posed", "told"):
        assert b'"gone"' not in facts[f"facts/{name}.jsonl"]
    assert b'"gone"' in facts["facts/sessions.jsonl"], "that somebody came is counted"
    assert b'"machine"' not in facts["facts/sessions.jsonl"], "robots are another population"


def test_what_it_would_hold_is_told_without_writing(study: Study, tmp_path: Path) -> None:
    planned = beholder.bundle(study, out=tmp_path / "x.zip", kind="archive", dry_run=True)
    assert (planned.is_written, list(tmp_path.iterdir())) == (False, [])
    assert planned.words[-1] == "Nothing was written."
    assert {"study/stimuli/", "facts/ledger.jsonl"} <= {one.place for one in planned.holdings}
    assert "the stimuli" in repr(planned)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"kind": "privat"}, "kind: is privat. Allowed: public, reviewers, archive."),
        ({"out": "bundle.tar"}, "--out: is bundle.tar. Allowed: a file that ends in .zip."),
    ],
)
def test_what_is_no_bundle_is_refused(study: Study, keys: dict[str, str], message: str) -> None:
    with pytest.raises(UserError) as caught:
        beholder.bundle(study, **keys)  # type: ignore[arg-type]
    assert " ".join(str(caught.value).split()).startswith(message.replace(": ", " ", 1)) or message in str(caught.value)


def test_a_bundle_says_where_the_results_beside_it_are_others(study: Study, tmp_path: Path) -> None:
    notes = study.folder / "analyse" / "notes.json"
    notes.parent.mkdir(exist_ok=True)
    notes.write_text('{"ratings_sha256": "0"}', "utf-8")
    try:
        made = beholder.bundle(study, out=tmp_path / "made.zip")
    finally:
        notes.unlink()
    assert made.notes == (
        "The results in the study's folder are of other ratings than these: `clean` and `analyse` it again.",
    )
