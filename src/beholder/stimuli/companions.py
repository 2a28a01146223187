"""Companions: the speech or the text that belongs to a content, and stimuli that are given that of another content.

The companion of a video is its own sound, or a text in a folder; that of a sound and of a text is a text. Which content
lends its companion is drawn, each content lending once where lengths allow it. What is then shown with its own
companion is made in the same way as what is shown with a foreign one: the same streams, cut to the same length.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np

from beholder.errors import Problem, StimuliError
from beholder.formats import first_names, percent
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.stimuli.copies import put_in_place
from beholder.stimuli.ffmpeg import NO_METADATA, file_argument, run_ffmpeg
from beholder.stimuli.sources import StimulusSource, normalised_name, path_inside
from beholder.stimuli.video import READ_VIDEO, video_format
from beholder.study.model import Study

RECIPE = "companion 2"
"""Of files with a foreign sound; another one makes them anew."""
_CUT_MS = 60
"""Less than the shorter of two: more than a picture or a packet of sound, so that both are cut, and none of them ends
as its own file does, which would tell of the other that it was cut to fit."""
_STREAM = 41
"""The stream of chance by which donors are drawn."""
_MOST_BYTES = 20_000
_READY_MS = 100
"""How far apart the lengths of two clips may be that a researcher made: more would tell which is which."""
_SHOWN = 4


def has_companions(study: Study) -> bool:
    """Return whether a study asks if stimuli fit their companions."""
    return "swap" in study.options


class Donors(NamedTuple):
    """For each content the one that lends its companion, and contents that fit no other one."""

    of: Mapping[str, str]
    alone: tuple[str, ...]


def draw_donors(study: Study, catalogue: Catalogue, texts: Mapping[str, str]) -> Donors:
    """Return which content lends its companion, or its stimulus, to which: by chance, each once where it can be."""
    from scipy.optimize import linear_sum_assignment

    names = _contents_to_match(catalogue)
    if not names:
        return Donors({}, ())
    fits = _fitting(study, catalogue, texts, names)
    rng = np.random.default_rng([study.seed, _STREAM])
    # One pair that does not fit costs more than all pairs that do.
    cost = rng.random(fits.shape) + np.where(fits, 0.0, len(names) + 1.0)
    chosen = linear_sum_assignment(cost)[1]
    lent = np.bincount([donor for one, donor in enumerate(chosen) if fits[one, donor]], minlength=len(names))
    donors, alone = {}, []
    for place, name in enumerate(names):
        donor = int(chosen[place])
        if not fits[place, donor]:
            if not fits[place].any():
                alone.append(name)
                continue
            donor = int(np.argmin(np.where(fits[place], lent + cost[place] / (len(names) + 2), np.inf)))
            lent[donor] += 1
        donors[name] = names[donor]
    return Donors(donors, tuple(alone))


def _contents_to_match(catalogue: Catalogue) -> list[str]:
    """Return the contents with a stimulus for which the researcher has not made a mismatched one."""
    made = {(one.content, one.condition) for one in catalogue.of_role("mismatched")}
    return sorted({content for content, condition in catalogue.by_cell if (content, condition) not in made})


def _fitting(
    study: Study, catalogue: Catalogue, texts: Mapping[str, str], names: Sequence[str]
) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return which content (column) may lend to which (row): another, alike in length, under the same conditions."""
    length = _lengths(study, catalogue, texts)
    tolerance, factors = float(study.options["tolerance"]), tuple(study.options.get("within") or ())
    under: dict[str, set[str]] = {}
    alike: dict[str, tuple[str, ...]] = {}
    for (content, condition), stimulus in catalogue.by_cell.items():
        under.setdefault(content, set()).add(condition)
        alike.setdefault(content, tuple(stimulus.factors.get(factor, "") for factor in factors))

    def fit(one: str, donor: str) -> bool:
        longest = max(length[one], length[donor])
        return (
            one != donor
            and under[one] <= under[donor]
            and alike[one] == alike[donor]
            and abs(length[one] - length[donor]) <= tolerance * longest + 1e-9
            and texts.get(one, "") != texts.get(donor, " ")
        )

    return np.array([[fit(one, donor) for donor in names] for one in names], dtype=np.bool_)


def _lengths(study: Study, catalogue: Catalogue, texts: Mapping[str, str]) -> dict[str, float]:
    """Return by content how long what is exchanged lasts, in seconds; of texts that are exchanged, their letters."""
    if texts and study.options["swap"] == "companion":
        return {content: float(len(texts.get(content, ""))) for content in catalogue.contents}
    lengths: dict[str, float] = {}
    for (content, _), stimulus in catalogue.by_cell.items():
        lengths[content] = max(stimulus.probe.duration_ms / 1000, lengths.get(content, 0.0))
    return lengths


# Mismatched stimuli


def add_mismatched(
    study: Study, catalogue: Catalogue, ingest: Callable[[Sequence[StimulusSource]], Sequence[Stimulus]]
) -> Catalogue:
    """Return the catalogue with every stimulus beside itself with a foreign companion; as it is where it cannot be.

    `ingest` takes files in that are made here. `companion_problems` tells why something cannot be.
    """
    if not has_companions(study) or next(companion_problems(study, catalogue), None) is not None:
        return catalogue
    texts = read_texts(study, catalogue, [])
    donors = draw_donors(study, catalogue, texts).of
    made = {(one.content, one.condition) for one in catalogue.of_role("mismatched")}
    pairs = [
        (one, catalogue.by_cell[donors[content], condition])
        for (content, condition), one in catalogue.by_cell.items()
        if (content, condition) not in made
    ]
    together = _with_texts(study, pairs, texts) if texts else _with_sounds(study, pairs, ingest)
    own = {one.id: one for one, _ in together}
    kept = [own.get(one.id, one) for one in catalogue.stimuli]
    return replace(catalogue, stimuli=(*kept, *(other for _, other in together)))


_Pairs = Sequence[tuple[Stimulus, Stimulus]]
"""Stimuli with those of their donors; or with themselves, mismatched."""


def _with_texts(study: Study, pairs: _Pairs, texts: Mapping[str, str]) -> list[tuple[Stimulus, Stimulus]]:
    """Return the stimuli with the texts that are read with them."""
    swaps_text = study.options["swap"] == "companion"
    together = []
    for one, donor in pairs:
        own, lent = texts[one.content], texts[donor.content]
        shown, text = (one, lent) if swaps_text else (donor, own)
        matched = replace(one, companion=own, sha256=_hash(one.sha256, own))
        together.append((matched, _mismatched(replace(shown, companion=text), one, donor, _hash(shown.sha256, text))))
    return together


def _with_sounds(
    study: Study, pairs: _Pairs, ingest: Callable[[Sequence[StimulusSource]], Sequence[Stimulus]]
) -> list[tuple[Stimulus, Stimulus]]:
    """Return videos with their own sound and with a foreign one, both cut to a little less than the shorter one."""
    swaps_sound = study.options["swap"] == "companion"
    media = study.folder.absolute() / "media" / "made"
    sources = []
    for one, donor in pairs:
        lasts = max(1, min(one.probe.duration_ms, donor.probe.duration_ms) - _CUT_MS)
        seen, heard = (one, donor) if swaps_sound else (donor, one)
        for picture, sound in ((one, one), (seen, heard)):
            name = _hash(picture.sha256, sound.sha256, str(lasts), RECIPE)
            sources.append(
                StimulusSource(
                    where=picture.file if picture is sound else f"{picture.file} with the sound of {sound.file}",
                    file=picture.file,
                    path=media / f"{name}{video_format(picture.probe).suffix}",
                    content=one.content,
                    condition=one.condition,
                    medium="video",
                    role=one.role if picture is sound else "mismatched",
                    factors=one.factors,
                    derived_from=picture.served,
                    sound=sound.served,
                    most_ms=lasts,
                )
            )
    files = ingest(sources)
    together = []
    for place, (one, donor) in enumerate(pairs):
        own, foreign = _even(*files[2 * place : 2 * place + 2])
        matched = replace(
            one, sha256=own.sha256, probe=own.probe, served=own.served, served_bytes=own.served_bytes,
            encoders=own.encoders, layout=own.layout,
        )  # fmt: skip
        together.append((matched, _mismatched(foreign, one, donor, foreign.sha256)))
    return together


def _even(own: Stimulus, foreign: Stimulus) -> tuple[Stimulus, Stimulus]:
    """Return both as lasting equally long: streams end at whole packets, which are milliseconds apart."""
    lasts = min(own.probe.duration_ms, foreign.probe.duration_ms)
    one, other = (replace(made, probe=replace(made.probe, duration_ms=lasts)) for made in (own, foreign))
    return one, other


def _mismatched(shown: Stimulus, own: Stimulus, donor: Stimulus, sha256: str) -> Stimulus:
    """Return a stimulus that stands beside `own`, its companion or itself of another content."""
    return replace(
        shown,
        id=f"mismatched:{own.id}",
        content=own.content,
        condition=own.condition,
        role="mismatched",
        file=f"{own.file} mismatched with {donor.file}",
        sha256=sha256,
        factors=own.factors,
        donor=donor.content,
    )


def give_sound(source: StimulusSource) -> None:
    """Write a video with a sound and a length, its streams as they are, unless it is there."""
    assert source.path is not None
    assert source.derived_from is not None
    assert source.sound is not None
    if source.path.exists():
        return
    source.path.parent.mkdir(parents=True, exist_ok=True)
    # Pictures are cut first: the last one stays until the sound ends, which so ends at the same time in both.
    seen, part = (source.path.with_name(f".{uuid.uuid4().hex}{source.path.suffix}") for _ in range(2))
    count = _pictures_within(source.derived_from, source.most_ms)
    try:
        _join(source, ["-map", "0:V:0", "-c", "copy", "-frames:v", str(count)], [source.derived_from], seen)
        streams = ["-map", "0:V:0", "-map", "1:a:0", "-c", "copy", "-t", f"{source.most_ms / 1000:.3f}", *NO_METADATA]
        _join(source, streams, [seen, source.sound], part)
        put_in_place(part, source.path)
    finally:
        seen.unlink(missing_ok=True)
        part.unlink(missing_ok=True)


def _join(source: StimulusSource, arguments: Sequence[str], files: Sequence[Path], target: Path) -> None:
    inputs = [word for file in files for word in (*READ_VIDEO, "-i", file_argument(file))]
    run = run_ffmpeg(["-v", "error", "-y", *inputs, *arguments, file_argument(target)])
    if run.code != 0:
        what = f"cannot be joined: ffmpeg says {run.error_line()}"
        fix = "Make all files alike with beholder media prepare."
        raise StimuliError(Problem(source.where, what, "videos of one format", fix))


def _pictures_within(path: Path, most_ms: int) -> int:
    """Return how many pictures, in the order of decoding, end in time, none before the last one left out.

    B frames refer to later pictures, which are decoded before them.
    """
    run = run_ffmpeg(
        [*READ_VIDEO, "-i", file_argument(path), "-map", "0:V:0", "-c", "copy", "-f", "framecrc", "pipe:1"]
    )
    lines = run.out.decode("ascii", "replace").splitlines()
    base = next((Fraction(line.partition(": ")[2]) for line in lines if line.startswith("#tb 0:")), Fraction(1, 1000))
    packets = [[int(cell) for cell in line.split(",")[2:4]] for line in lines if line and not line.startswith("#")]
    place = {pts: number for number, pts in enumerate(sorted(pts for pts, _ in packets))}
    most, latest = 1, packets[0] if packets else [0, 0]
    for count, packet in enumerate(packets, 1):
        latest = max(latest, packet)
        if place[latest[0]] == count - 1 and sum(latest) * base * 1000 <= most_ms + 1:
            most = count
    return most


def _hash(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


# Texts


def read_texts(study: Study, catalogue: Catalogue, problems: list[Problem]) -> dict[str, str]:
    """Return the text of each content from the folder `options.texts`; empty where texts are no companions."""
    name = study.options.get("texts")
    if name is None:
        return {}
    folder = path_inside(study.folder.absolute(), str(name))
    if folder is None or not folder.is_dir():
        what = "lies outside the study folder" if folder is None else "is not there"
        fix = f"Make the folder {name} with a text for each content, such as {name}/{catalogue.contents[0]}.txt."
        problems.append(Problem("options.texts", f"is {name}, which {what}", "a folder in the study folder", fix))
        return {}
    files = {normalised_name(path.name): path for path in sorted(folder.iterdir()) if path.is_file()}
    texts: dict[str, str] = {}
    for content in catalogue.contents:
        path = files.get(f"{normalised_name(content)}.txt")
        if path is not None and (text := _read_text(path, f"{name}/{path.name}", problems)):
            texts[content] = text
    without = [content for content in catalogue.contents if f"{normalised_name(content)}.txt" not in files]
    if without:
        what = f"is {name}, which has no text of {first_names(without, _SHOWN)}"
        problems.append(Problem("options.texts", what, "a text for each content", f"Write {name}/{without[0]}.txt."))
    return texts


def _read_text(path: Path, where: str, problems: list[Problem]) -> str:
    if path.stat().st_size > _MOST_BYTES:
        problems.append(Problem(where, f"has more than {_MOST_BYTES} bytes", "a text that is read with a stimulus"))
        return ""
    try:
        text = path.read_text("utf-8-sig").strip()
    except UnicodeDecodeError:
        problems.append(Problem(where, "is not UTF-8", "UTF-8", "Save it as UTF-8."))
        return ""
    if not text:
        problems.append(Problem(where, "holds no words", "what is read with the stimulus", "Write the text."))
    return text


# Problems


def companion_problems(study: Study, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield why stimuli have no companion of their own, or why none of another content fits."""
    problems: list[Problem] = []
    texts = read_texts(study, catalogue, problems)
    rated = list(catalogue.by_cell.values())
    unmade = set(_contents_to_match(catalogue))
    if study.options.get("texts") is None and unmade:
        problems += _sound_problems(study, [one for one in rated if one.content in unmade])
    problems += _ready_problems(catalogue)
    factors = {name for one in rated for name in one.factors}
    for place, factor in enumerate(study.options.get("within") or ()):
        if factor not in factors:
            allowed = ", ".join(sorted(factors)) or "factors of the stimuli, and they have none"
            problems.append(Problem(f"options.within.{place}", f"is {factor}, which is no factor", allowed))
    yield from problems
    if not problems:
        alone = draw_donors(study, catalogue, texts).alone
        yield from _alone_problems(study, catalogue, texts, alone) if alone else ()


def _sound_problems(study: Study, rated: Sequence[Stimulus]) -> Iterator[Problem]:
    """Yield that there is no sound that could be exchanged."""
    medium = rated[0].medium if rated else "video"
    how = "Write options: {texts: texts}, with a text for each content in that folder."
    if medium != "video":
        kind = {"audio": "sounds", "text": "texts", "image": "images"}[medium]
        yield Problem("options.texts", f"is missing: what belongs to {kind} is a text", "a folder of texts", how)
        return
    silent = [one.file for one in rated if not one.probe.audio_codec]
    if silent:
        what = f"have no sound, which is their companion: {first_names(silent, _SHOWN)}"
        yield Problem("stimuli", what, "videos with their speech", f"Add it to them. If it is a text: {how}")
    if study.playback.sound == "off":
        yield Problem("playback.sound", "is off, and people judge whether sound fits", "on", "Leave it out.")


def _ready_problems(catalogue: Catalogue) -> Iterator[Problem]:
    """Yield mismatched stimuli of the researcher's own that have nothing beside them, or whose length tells them."""
    for one in catalogue.of_role("mismatched"):
        if one.donor:
            continue
        own = catalogue.by_cell.get((one.content, one.condition))
        if own is None:
            what = f"is mismatched, and content {one.content} under condition {one.condition} has no other file"
            yield Problem(one.file, what, "a matched and a mismatched file of each", "Add the matched one.")
        elif one.medium in ("video", "audio") and abs(one.probe.duration_ms - own.probe.duration_ms) > _READY_MS:
            lasts = f"lasts {one.probe.duration_ms / 1000:.2f} s, and {own.file} {own.probe.duration_ms / 1000:.2f} s"
            what, fix = f"{lasts}: its length tells that it is mismatched", "Cut both to the same length."
            yield Problem(one.file, what, "lengths within 0.1 s of each other", fix)


def _alone_problems(
    study: Study, catalogue: Catalogue, texts: Mapping[str, str], alone: Sequence[str]
) -> Iterator[Problem]:
    """Yield for each content that fits no other what would make it fit."""
    names = _contents_to_match(catalogue)
    if len(names) < 2:
        what = f"hold one content, {names[0]}, and a foreign companion is that of another"
        yield Problem("stimuli", what, "two contents or more", "Add contents.")
        return
    lengths = _lengths(study, catalogue, texts)
    unit = "letters" if texts and study.options["swap"] == "companion" else "s"
    free = study.model_copy(update={"options": {**study.options, "tolerance": 1.0}})
    fits = _fitting(free, catalogue, texts, names)
    for name in alone:
        others = [other for place, other in enumerate(names) if fits[names.index(name), place]]
        if not others:
            factors = " and ".join(study.options.get("within") or ())
            same = f"the same {factors} and " if factors else ""
            what = f"of content {name} fit no other content: none has {same}all of its conditions"
            fix = f"Add such a content, or leave {name} out."
            yield Problem("stimuli", what, "another content for each", fix)
            continue
        near = min(others, key=lambda other: abs(lengths[other] - lengths[name]))
        apart = abs(lengths[near] - lengths[name]) / max(lengths[near], lengths[name])
        needed = np.ceil(100 * apart) / 100
        nearest = f"the nearest is {near} ({lengths[near]:.3g} {unit}, {percent(apart)} apart)"
        what = (
            f"is {study.options['tolerance']:g}, and no other content is so near in length to {name} "
            f"({lengths[name]:.3g} {unit}): {nearest}"
        )
        fix = f"Write tolerance: {needed:g}, bring the lengths nearer to each other, or leave {name} out."
        yield Problem("options.tolerance", what, f"{needed:g} to 1", fix)
