"""Data sets in the format of sureal: used ratings as its dictionaries, JSON for scores, a file of Python for pairs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from beholder.cleaning.ratings import Rating
from beholder.errors import Problem, UserError
from beholder.exporting.source import ExportSource
from beholder.study.model import Study

_KINDS = ("score", "choice")
_NO_REFERENCE = "/none"
"""Ends the path of the entry that a content without a reference gets: the format wants one for each content."""


def sureal_files(source: ExportSource) -> dict[str, bytes]:
    """Return a data set for each question, by the name of its file; ratings that were left out are in none."""
    study = source.judging.study
    ratings = [
        one for some in source.ratings.values() for one in some if one.use and one.value is not None and not one.is_own
    ]
    others = {one.kind for one in ratings} - set(_KINDS)
    if others:
        what, fix = f"has no form for ratings of kind {min(others)}", "Leave it out; ratings has everything."
        raise UserError(Problem("--sureal", what, "scores and choices", fix))
    by_question: dict[str, list[Rating]] = defaultdict(list)
    for one in ratings:
        by_question[one.question].append(one)
    files = {}
    for question, some in sorted(by_question.items()):
        stem = "sureal" if len(by_question) == 1 else f"sureal-{question}"
        is_pair = some[0].kind == "choice"
        name = f"{stem}.py" if is_pair else f"{stem}.json"
        files[name] = _python(study, some) if is_pair else _json(study, some)
    return files


def _head(study: Study, ratings: Sequence[Rating]) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the keys of a data set without its stimuli, and the number of each content."""
    contents = {name: number for number, name in enumerate(sorted({one.content for one in ratings}))}
    references: dict[str, str] = {}
    for one in ratings:
        if one.role in ("reference", "hidden_reference"):
            references[one.content] = one.stimulus
    listed = [
        {"content_id": number, "content_name": name, "path": references.get(name, f"{name}{_NO_REFERENCE}")}
        for name, number in contents.items()
    ]
    top = max(one.scale_max for one in ratings)
    head = {"dataset_name": study.name, "yuv_fmt": "notyuv", "ref_score": _plain(top), "ref_videos": listed}
    return head, contents


def _plain(value: float) -> int | float:
    return int(value) if value == int(value) else value


def _json(study: Study, ratings: Sequence[Rating]) -> bytes:
    """Return scores: of somebody who rated a stimulus again, a list."""
    head, contents = _head(study, ratings)
    given: dict[str, dict[str, list[int | float]]] = defaultdict(lambda: defaultdict(list))
    content_of = {one.stimulus: one.content for one in ratings}
    for one in ratings:
        assert one.value is not None
        given[one.stimulus][one.participant].append(_plain(one.value))
    assets = []
    for number, stimulus in enumerate(sorted(given)):
        scores = {person: some[0] if len(some) == 1 else some for person, some in sorted(given[stimulus].items())}
        content = contents[content_of[stimulus]]
        assets.append({"asset_id": number, "content_id": content, "path": stimulus, "os": scores})
    return (json.dumps({**head, "dis_videos": assets}, indent=1, ensure_ascii=False) + "\n").encode()


def _python(study: Study, ratings: Sequence[Rating]) -> bytes:
    """Return comparisons, each stored once: with somebody and the other asset, 1, 0.5 or 0; the first of several."""
    head, contents = _head(study, ratings)
    content_of: dict[str, str] = {}
    for one in ratings:
        content_of[one.stimulus] = one.content
        if one.other_stimulus is not None:
            content_of[one.other_stimulus] = one.content
    assets = {stimulus: number for number, stimulus in enumerate(sorted(content_of))}
    given: dict[str, dict[tuple[str, int], float]] = {stimulus: {} for stimulus in assets}
    for one in ratings:
        if one.other_stimulus is None or one.value is None:
            continue
        share = 0.5 if one.value == 0 else 1 if one.value > 0 else 0
        mirrored = (one.participant, assets[one.stimulus])
        if mirrored not in given[one.other_stimulus]:
            given[one.stimulus].setdefault((one.participant, assets[one.other_stimulus]), share)
    lines = [f"{name} = {_literal(value)}" for name, value in head.items()]
    lines.append("dis_videos = [")
    for stimulus, number in assets.items():
        keys: Mapping[str, Any] = {
            "content_id": contents[content_of[stimulus]], "asset_id": number, "path": stimulus, "os": given[stimulus],
        }  # fmt: skip
        lines.append(f"    {_literal(keys)},")
    return ("\n".join([*lines, "]"]) + "\n").encode()


def _literal(value: Any) -> str:
    """Return a value as Python has it: text, numbers, lists and maps only."""
    return repr(dict(value) if isinstance(value, Mapping) else value)
