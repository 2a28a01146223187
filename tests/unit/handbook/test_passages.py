"""Pages are cut at their headings, and a key, method, check, command or message leads to the passage about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.checks.registry import rules
from beholder.cli import cli
from beholder.errors import UserError
from beholder.handbook import find_passages, passages
from beholder.methods import names
from beholder.study.model import Study

PAGE = """# A page: of `words`

Begin.

## Two of them

<!-- made: x -->
| `a`, `b` | c |

```text
# no heading
```

### Below

End.
"""


def test_a_page_is_cut_at_its_headings_and_not_in_code() -> None:
    first, second, third = passages.passages_of("p.md", PAGE)
    assert (first.place, first.text) == ("p.md", "Begin.")
    assert (second.place, second.heading, list(second.rows)) == ("p.md#two-of-them", "Two of them", ["a", "b"])
    assert "# no heading" in second.text
    assert (third.above, third.title, third.text) == ("Two of them", "A page: of `words`", "End.")


def test_without_its_pages_it_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passages, "_CHECKED_OUT", tmp_path)
    with pytest.raises(
        UserError, match=r"has no pages of the docs\. Install Beholder from its wheel or its repository"
    ):
        passages.docs_files()


def best(word: str) -> str:
    return find_passages(word)[0].passage.place


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("attention", "trust.md#attention"),
        ("design.pairs", "study-file.md#design"),
        ("mushra", "methods/mushra.md"),
        ("deploy up", "commands.md#deploy-up"),
        ("`quota`", "trust.md#quota"),
        ("participants is 40, and the plan is for 30", "troubleshooting.md#while-serving"),
    ],
)
def test_a_word_leads_to_the_section_that_explains_it(word: str, place: str) -> None:
    assert best(word) == place


def test_every_method_rule_command_and_key_is_explained() -> None:
    for name in names():
        assert best(name).startswith(("methods/", "gallery", "study-file")), name
    for word in [*(rule.name for rule in rules()), *cli.commands, *Study.model_fields]:
        assert find_passages(word), word


def test_a_word_that_is_nowhere_is_refused_with_those_near_it() -> None:
    with pytest.raises(UserError) as refused:
        find_passages("attenton")
    assert str(refused.value).startswith("WORD  is attenton, which no page of the docs explains. Allowed: ")
    assert "attention" in str(refused.value)
    assert "`beholder docs` without a word opens the first page" in str(refused.value)
