"""What the key tables of the docs call allowed is accepted, everything beside it refused, and a default is a value.

Each row of a table is tried: values are made from the words of its column "allowed".
"""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel, ValidationError

from beholder.study.value_kinds import field_kind
from support.data import ROOT

REFERENCE = runpy.run_path(str(ROOT / "tools" / "documentation" / "reference.py"))


class Row(NamedTuple):
    """A row of a key table: the part of the study, its key, what is allowed, the default, and the model of the part."""

    part: str
    key: str
    allowed: str
    default: str
    model: type[BaseModel]


def parts() -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield every model that has a key table, by its heading."""
    yield "study", REFERENCE["_STUDY"]
    yield from ((heading, model) for heading, _, model in REFERENCE["PARTS"])
    yield from ((f"options of {name}", REFERENCE["find"](name).Options) for name in REFERENCE["OURS"])
    for kind in (*REFERENCE["_QUALIFYING"], *REFERENCE["_CHECKS"].rules):
        yield kind.name, kind.Options
        for key, field in kind.Options.model_fields.items():
            item = field_kind(field).item
            if item is not None and item.model is not None:
                yield f"{kind.name}: {key}", item.model


def rows() -> Iterator[Row]:
    for part, model in parts():
        for line in REFERENCE["_fields"](model)[2:]:
            key, allowed, default, _ = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:5])
            yield Row(part, key.strip("`"), allowed, default.strip("`"), model)


ROWS = list(rows())
NUMBER = r"(-?[\d,.]+)"
WORDS: dict[str, tuple[list[Any], list[Any]]] = {
    "true or false": ([True, False], ["perhaps", 2]),
    "text": (["", "words"], [["a"], 3.5]),
    "text that is not empty": (["words"], ["", ["a"]]),
    "a list": ([], [3]),
    "a number": ([-2, 0.5], ["many"]),
    "a scale with a name": (["cont100"], ["acr7", 3]),
    "a map of keys": ([{}], [3, "words"]),
    "up to 64 small letters, digits, - and _, beginning with a letter or digit":
        (["a-b_1", "1"], ["A", "a b", "-a", "a" * 65, ""]),
    "an ORCID iD such as 0000-0002-1825-0097": (
        ["0000-0002-1825-0097", "0000-0002-1694-233X"], ["ada", "000000021825009X"],
    ),
    "an e-mail address": (["a@b.cd"], ["a@b", "https://b.cd"]),
    "an SPDX identifier such as CC-BY-4.0, or a web address that begins with https://":
        (["CC-BY-4.0", "https://x.org/terms"], ["some rights", "", "ftp://x.org"]),
    "a web address that begins with https://": (["https://x.org/data"], ["x.org", "a@b.cd"]),
    "a DOI such as 10.5281/zenodo.123456": (["10.5281/zenodo.1"], ["https://doi.org/10.5281/zenodo.1", "10.5281"]),
    "one to three numbers, such as 1.0.0": (["1.0.0", "2"], ["1.0.0.0", "v1", "final"]),
    "up to 64 letters, digits, - and _": (["aB-1_"], ["a b", "a" * 65, ""]),
    "an amount above 0 and a currency of three capital letters, such as 0.10 GBP":
        (["0.10 GBP"], ["0 GBP", "2", "2.00 gbp", -1]),
    "a time such as 30 min, 12 h or 30 d": (["30 min", "12 h", "30 d"], ["soon", "-3 h"]),
    "a time such as 30 min, 12 h or 30 d, or 0 to show it each time": (["30 min", "0"], ["soon", "-3 h"]),
    "a day such as 2027-01-31": (["2027-01-31"], ["next year", "31.1.2027"]),
    "a day such as 2027-01-31, which begins at midnight UTC, or a time such as 2027-01-31 09:00+01:00":
        (["2027-01-31", "2027-01-31 09:00+01:00"], ["tomorrow", "2027-01-31 09:00"]),
    "a day such as 2027-01-31, or {identity, answers}":
        (["2027-01-31", {"identity": "2027-01-31"}, {"answers": "2027-01-31"}], ["later", {"people": "2027-01-31"}]),
    "1": ([1], [2, "one"]),
    "an address such as https://study.example.org, without a path":
        (["https://study.example.org"], ["study.example.org", "https://study.example.org/x"]),
    "postgresql://user@host/database, without a password":
        (["postgresql://study@db.example.org/gestures"], ["db.example.org", "postgresql://study:secret@db/gestures"]),
    "an address such as https://acme.example.org/directory":
        (["https://acme.example.org/directory"], ["acme.example.org", "http://acme.example.org/directory"]),
    "anything": ([1, "words", {"a": [1]}], []),
    "side-by-side, flip or wipe, a list of them to choose from, or {within: [...]}": (
        ["side-by-side", "wipe", ["flip"], ["wipe", "flip"], {"within": ["flip", "wipe"]}],
        ["fade", [], ["flip", "flip"], {"within": ["flip"]}, 3],
    ),
    "a folder, s3://bucket/folder, gs://…, az://… or sftp://user@host/folder, or {to, every, keep, key}":
        (["/mnt/disk", "s3://lab/x", {"to": "sftp://ada@host/~/x", "keep": "7 d"}], ["ftp://lab/x", {"place": "x"}]),
    "s3://bucket/folder, gs://…, az://… or a folder beside the study, or {to, copies, delivery}":
        (["copies", "s3://lab/x", {"to": "gs://lab/x", "copies": 4}], ["ftp://lab/x", "../x", {"place": "x"}]),
    "the public half of a key, which begins with age1, or a list":
        ([f"age1{'q' * 58}", [f"age1{'q' * 58}"]], ["age1", "words", ["age1"]]),
    "the public half of a key, which begins with age1": ([f"age1{'q' * 58}"], ["age1", "words"]),
    "a folder, {folder, pattern} or {manifest}":
        (["stimuli", {"folder": "stimuli"}, {"manifest": "files.csv"}], ["", {"folders": "stimuli"}]),
    "an e-mail address, or a web address that begins with https://":
        (["lab@example.org", "https://example.org/lab"], ["the lab", "http://example.org"]),
    "a list of words from low to high, or a map from value to word": ([["low", "high"], {0: "low"}], [3]),
    "fit, native or a percentage such as 50%": (["fit", "native", "50%"], ["large", "50", "0%"]),
    "numbers of participants from 2 on, each larger than the one before, such as [20, 40, 60]":
        ([[20, 40, 60], [2, 3]], [[1, 5], [40, 20], "20"]),
    "all, sparse, active, {star: condition}, {sparse: 2 to 100}, {active: {...}}, or a CSV file":
        (["all", "sparse", "active", {"star": "a"}, {"sparse": 2}, {"sparse": 100},
          {"active": {}}, {"active": {"uniform": 0.5}}, "pairs.csv"],
         ["none", {"sparse": 1}, {"sparse": 101}, {"active": {"uniform": 2}}, {"active": {"shares": 0.5}}]),
    "a comparison with an earlier answer, or a list of them: field = no, age >= 40 or devices has phone":
        (["field = no", ["age >= 40", "devices has phone"]], [40, "", [""]]),
    "trial, break, content, or after how many trials, such as 4":
        (["trial", "break", "content", 1, 4], ["trials", 0, 10_001, 2.5]),
    "a CSV file": (["mine.csv"], ["mine.txt"]),
    "a table in the study folder: CSV, TSV, XLSX or Parquet":
        (["old.csv", "votes/old.parquet"], ["votes.json", 3]),
    "text, or a list of texts and {text, examples, play}":
        (["words", ["one", {"text": "two", "play": 1}]], ["", [{"texts": "two"}]]),
    "true or false, or a map with the keys labels, at_least, most and ask":
        ([True, False, {"labels": ["blur"]}], ["blur", {"label": "blur"}, {"labels": ["blur", "blur"]}]),
    "a map with the keys tolerance, bandwidth and lag": ([{"lag": 0.4}], [3, {"delay": 1}]),
    "false, or a map with the key items":
        ([False, {"items": [{"id": "a", "text": "?", "options": ["b", "c"], "correct": "b"}]}], [True, 3]),
    "a number, or a map from question to number": ([3, {"quality": 3}], ["many", {"quality": "many"}]),
    "a number, 0 or more, or a map from question to number": ([0, {"quality": 1}], [-1, "many"]),
    "a number above 0, or a map from question to number": ([0.5, {"quality": 1}], [0, "many"]),
    "a text, or a map from question to text": (["words", {"quality": "words"}], [3, ""]),
    "a whole number, or a list": ([90, [90, 100]], ["many"]),
    "a YAML file in the study folder, or {source, scenario, statements}":
        (["wording.yaml", {"statements": {"trust": "I would trust it."}}], [3, {"words": {}}]),
    "two numbers of pixels, such as [1280, 720]": ([[1280, 720]], [[1280], "large"]),
    "three radii in pixels, such as [3, 5, 7]": ([[3, 5, 7]], [[3, 5], "large"]),
    "two numbers, such as [5, 95]": ([[5, 95]], [[5], "low"]),
    "two numbers, such as [0.95, 1.15]": ([[0.95, 1.15]], [[1], "low"]),
    "two numbers, such as [0.95, 1.5]": ([[0.95, 1.5]], [[1], "low"]),
    "a value and a share, such as [90, 0.15]": ([[90, 0.15]], [[90], [90, 1.5], "low"]),
}  # fmt: skip
"""By what is allowed, values that are accepted and values that are refused."""


def number(text: str) -> float:
    return float(text.replace(",", ""))


def tried(allowed: str) -> tuple[list[Any], list[Any]] | None:
    """Return values that a table's words accept and refuse; None where the words do not say it."""
    if allowed in WORDS:
        return WORDS[allowed]
    if match := re.fullmatch(rf"a (whole )?number, {NUMBER} to {NUMBER}", allowed):
        low, high = number(match[2]), number(match[3])
        whole = bool(match[1])
        good = [int(low), int(high)] if whole else [low, high, (low + high) / 2]
        return good, [low - 1, high + 1, "many", *([low + 0.5] if whole else [])]
    if match := re.fullmatch(rf"a (whole )?number, {NUMBER} or more", allowed):
        low = number(match[2])
        return [int(low), int(low) + 7], [low - 1, "many", *([low + 0.5] if match[1] else [])]
    if match := re.fullmatch(rf"a number above {NUMBER}(?:, {NUMBER} or less)?", allowed):
        most = number(match[2]) if match[2] else None
        return [most or 7.5], [0, -1, "many", *([most + 1] if most else [])]
    if match := re.fullmatch(rf"a number above {NUMBER} below {NUMBER}", allowed):
        low, high = number(match[1]), number(match[2])
        return [(low + high) / 2], [low, high, "many"]
    if allowed.startswith("true or false, or a map"):
        return [True, False], ["perhaps", 3]
    if allowed.startswith("a map, see below"):
        return [], [3]
    if allowed.startswith("a list of "):
        names = re.split(r", | or ", allowed.removeprefix("a list of "))
        return [[name] for name in names], [["nothing-like-it"], 3]
    if allowed.endswith(", or {min, max, step, labels, look}"):
        names = allowed.removesuffix(", or {min, max, step, labels, look}").split(", ")
        return [*names, {"min": 0, "max": 4}], ["acr7", {"min": 0}, 3]
    if re.fullmatch(r"[\w+-]+(, [\w+-]+)* or [\w+-]+", allowed):
        return re.split(r", | or ", allowed), ["nothing-like-it", 3.5]
    return None


def faults(row: Row, part: dict[str, Any], *, beside_others: bool = False) -> list[str]:
    """Return the kinds of what is wrong at the key of a row; also beside other keys, such as more right than trials."""
    try:
        row.model.model_validate(part)
    except ValidationError as error:
        told = f"Value error, {row.key}" if beside_others else "never"
        return [one["type"] for one in error.errors() if one["loc"][:1] == (row.key,) or one["msg"].startswith(told)]
    return []


@pytest.mark.parametrize("part", dict.fromkeys(row.part for row in ROWS))
def test_what_a_table_allows_is_accepted_and_the_rest_refused(part: str) -> None:
    wrong = []
    for row in (row for row in ROWS if row.part == part):
        values = tried(row.allowed)
        assert values is not None, f"{row.key}: nobody knows what to try for: {row.allowed}"
        good, bad = values
        wrong += [f"{row.key}: {value!r} is refused" for value in good if faults(row, {row.key: value})]
        wrong += [f"{row.key}: {value!r} is accepted" for value in bad if is_accepted(row, value)]
        if row.default == "required":
            wrong += [] if "missing" in faults(row, {}) else [f"{row.key} may be left out"]
    assert wrong == []


def is_accepted(row: Row, value: object) -> bool:
    return not faults(row, {row.key: value}, beside_others=True)
