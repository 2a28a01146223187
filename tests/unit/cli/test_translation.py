"""`beholder words`: which languages there are, what one lacks, and files for translators."""

from __future__ import annotations

from pathlib import Path

from support.commands import command


def test_the_languages_that_there_are_come_as_a_table(tmp_path: Path) -> None:
    lines = command("words", cwd=tmp_path).stdout.splitlines()
    assert lines[0].split("  ")[0] == "language"
    assert [line for line in lines if line.startswith("en ") and "us, the source" in line]


def test_what_a_language_lacks_is_listed_and_written_for_translators(tmp_path: Path) -> None:
    done = command("words", "--language", "sw", "--out", "sw.po", "--missing", cwd=tmp_path)
    assert done.stdout.splitlines()[0] == "Wrote sw.po"
    assert "web/words/en.json next: is missing: Next" in done.stdout
    assert 'msgid "Next"' in (tmp_path / "sw.po").read_text("utf-8")


def test_translated_texts_are_taken_back(tmp_path: Path) -> None:
    (tmp_path / "sw.po").write_text(
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
        'msgctxt "web/words/en.json|next"\nmsgid "Next"\nmsgstr "Zaidi"\n',
        "utf-8",
    )
    done = command("words", "--language", "sw", "--read", "sw.po", "--into", "here", cwd=tmp_path)
    assert done.stdout.splitlines()[0] == "Wrote here/web/words/sw.json"
    assert "Zaidi" in (tmp_path / "here/web/words/sw.json").read_text("utf-8")


def test_a_file_needs_its_language(tmp_path: Path) -> None:
    done = command("words", "--out", "sw.po", cwd=tmp_path)
    assert done.returncode == 2
    assert "--language  is missing. Allowed: a code such as de or pt-BR." in done.stderr
