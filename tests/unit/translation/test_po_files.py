"""PO files for translators: all texts out, and back into the files beside the English."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beholder.errors import UserError
from beholder.translation.po_files import po_file, read_po_file, write_texts
from beholder.translation.text_files import text_files, wanted_texts


def test_every_text_goes_out_with_the_english_beside_it(tmp_path: Path) -> None:
    from babel.messages.pofile import read_po

    path = tmp_path / "xx.po"
    path.write_bytes(po_file("sw"))
    assert path.read_bytes() == po_file("sw"), "the same texts make the same file"
    with path.open("rb") as opened:
        messages = [message for message in read_po(opened) if message.id]
    assert len(messages) == sum(len(wanted_texts(file.texts("en"), "sw")) for file in text_files())
    assert ("web/words/en.json|next", "Next") in {(message.context, message.id) for message in messages}


def test_what_comes_back_lies_where_it_is_read(tmp_path: Path) -> None:
    texts = {
        "web/words/en.json": {"next": "Zaidi", "offline.waiting#one": "Jibu 1", "offline.waiting#other": "Majibu {n}"},
        "checks/colour/words/en.json": {"title": "Soma namba"},
        "methods/p835/words/en.json": {"0/text": "Sauti?"},
        "methods/acr/texts/consent.md": {"": "Karibu."},
    }
    written = write_texts("sw", texts, tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in written] == [
        "web/words/sw.json", "checks/colour/words/sw.json", "methods/p835/words/sw.json",
        "methods/acr/texts/sw/consent.md",
    ]  # fmt: skip
    pages = json.loads(written[0].read_text("utf-8"))
    answers = {"one": "Jibu 1", "other": "Majibu {n}"}
    assert pages == {"locale": "sw", "direction": "ltr", "next": "Zaidi", "offline.waiting": answers, "server": {}}
    assert json.loads(written[2].read_text("utf-8"))[0] == {
        "id": "signal", "label": "Speech (SIG)", "text": "Sauti?", "scale": "sig5",
    }  # fmt: skip


def test_translated_texts_are_read_from_a_po_file(tmp_path: Path) -> None:
    path = tmp_path / "sw.po"
    empty = 'msgid "Next"\nmsgstr ""'
    path.write_text(po_file("sw").decode("utf-8").replace(empty, empty[:-1] + 'Zaidi"', 1), "utf-8")
    assert read_po_file(path) == {"web/words/en.json": {"next": "Zaidi"}}


@pytest.mark.parametrize(
    ("content", "what"), [('msgid "broken', "cannot be read as a PO file"), ("", "has no translated text of ours")]
)
def test_a_file_that_is_none_of_ours_is_refused(tmp_path: Path, content: str, what: str) -> None:
    path = tmp_path / "odd.po"
    path.write_text(content, "utf-8")
    with pytest.raises(UserError, match=what):
        read_po_file(path)
