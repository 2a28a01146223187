"""The study written out again, every default filled: what `beholder check --resolved` prints."""

from __future__ import annotations

import re
from typing import Any

import yaml

from beholder.study.model import Study
from beholder.study.nodes import core_value

_BARE = re.compile(r"[A-Za-z][A-Za-z0-9_/.-]*( [A-Za-z0-9_/.-]+)*", re.ASCII)


def resolved_yaml(study: Study) -> str:
    """Return YAML that loads as an equal study."""
    value = study.model_dump(mode="json")
    for question in value["questions"]:
        # Pairs read badly; a map from value to word is what one would write.
        labels = question["scale"]["labels"]
        question["scale"]["labels"] = {_number(place): word for place, word in labels} or []
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2**31)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)


class _Dumper(yaml.SafeDumper):
    """Quotes by the rules of YAML 1.2, and writes no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = None if _BARE.fullmatch(text) and isinstance(core_value(text), str) else '"'
    if "\n" in text and _is_block(text):
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _is_block(text: str) -> bool:
    """Return whether every line is ordinary enough for the literal style."""
    return all(line.isprintable() and line == line.rstrip() for line in text.split("\n"))


_Dumper.add_representer(str, _text)
