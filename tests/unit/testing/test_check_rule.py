"""The suite of rules says in a sentence what a rule does not keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.testing import check_rule
from support.installed_packages import install

RULE = """
from typing import Annotated
from pydantic import Field
from beholder.checks.contract import SessionRule
from beholder.study.checks import After

class Lucky(SessionRule):
    name, title, summary, reasons = "lucky", "Luck", "Nobody is unlucky.", {"unlucky": "Unlucky"}

    class Options(SessionRule.Options):
        '''Luck.'''

        least: Annotated[int, After()] = Field(default=7, ge=1, description="Least luck.")

    options: Options

    def sentence(self):
        return "Everybody is lucky."

    def judge(self, evidence):
        if not evidence.trials:
            return self.verdict("unknown")
        return self.pass_or_fail("" if evidence.number == 1 else "unlucky", measured=evidence.number)
"""
ENTRY = "[beholder.checks]\nlucky = stranger_lucky:Lucky\n"


def test_a_rule_that_keeps_its_word_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "stranger_lucky", RULE, ENTRY)
    check_rule("lucky")
    check_rule("lucky", least=3)


@pytest.mark.parametrize(
    ("change", "to", "sentence"),
    [
        ('"Luck", "Nobody', '"", "Nobody', "lucky has no title"),
        (', description="Least luck."', "", "the option least of lucky has no description"),
        ("'''Luck.'''", "", "the options of lucky have no description"),
        ('{"unlucky": "Unlucky"}', "{}", "lucky never has a reason"),
        ('{"unlucky": "Unlucky"}', '{"other": "Other"}', "lucky fails for 'unlucky', and has no words for it"),
        ('"Everybody is lucky."', '"Everybody is lucky"', "the sentence of lucky has no full stop"),
        ('"" if evidence.number == 1', '"" if evidence.number > 9', "lucky fails an honest session"),
        ('self.verdict("unknown")', 'self.verdict("pass")', "lucky judges a session without a single answer"),
        ("measured=evidence.number", "measured={evidence.number}", "measured of lucky is no JSON"),
        ("measured=evidence.number", "measured=id(self)", "lucky judges the same session in two ways"),
        ("    name, title", "    order = 5\n    name, title", "lucky puts itself among the rules of Beholder"),
        ("    name, title", "    asks_itself = True\n    name, title", "lucky may cost pay, and is no MessageRule"),
        ("import SessionRule\n", "import Nothing\n", "check lucky, entry point stranger_lucky:Lucky of the package"),
    ],
)
def test_what_a_rule_does_not_keep_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, to: str, sentence: str
) -> None:
    assert change in RULE
    install(tmp_path, monkeypatch, "stranger_lucky", RULE.replace(change, to), ENTRY)
    with pytest.raises(AssertionError) as caught:
        check_rule("lucky")
    assert sentence in str(caught.value)


def test_a_name_that_nobody_registered_is_told() -> None:
    with pytest.raises(AssertionError, match="unheard is no rule under the entry points"):
        check_rule("unheard")
