"""What looks wrong in a catalogue, though it can be served: each difference with its remedy and how to accept it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import PurePosixPath
from shlex import quote
from statistics import fmean
from typing import Any, NamedTuple

from beholder.errors import Problem, did_you_mean
from beholder.formats import first_names, join_names, plain_count, plural
from beholder.stimuli.audio import is_lossless
from beholder.stimuli.blinding import HIDDEN_DIFFERENCE, MAX_FILL_BYTES, MAX_FILL_FACTOR
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.stimuli.sources import RATED
from beholder.study.model import Difference, Stimuli, Study

_MAX_DETAILS = 3
"""Contents whose details are listed where they differ."""
_TOLERANCE_MS = 100
_CLOSE_TOLERANCE_MS = 50
"""Of sounds, and wherever switching keeps the position: there the end of one is a jump in the other."""
_SILENCE_MS = 200
"""How much longer the silence before one sound may be than before another."""
_LOUDNESS_LU = 1.0
"""How far apart the loudness of one content may be (EBU R 128 allows so much where levels are set by ear)."""
_TARGET_LUFS = -23


class _Doubt(NamedTuple):
    """What is wrong with some contents; `{}` stands for what differs from one to the other."""

    name: Difference
    one: str
    many: str
    allowed: str = ""
    fix: str = ""
    option: str = ""
    """Of `media prepare`, where that makes the files alike."""


def catalogue_warnings(catalogue: Catalogue, study: Study | None = None) -> Iterator[Problem]:
    """Yield what is missing, the same twice, or differs among the conditions of a content and is not accepted.

    Contents with the same problem come together. Last, the command that evens out several differences at once.
    """
    stimuli = study.stimuli if study is not None else Stimuli(folder="stimuli")
    keeps_position = study is not None and study.playback.switching == "keep"
    rated: dict[str, list[Stimulus]] = {content: [] for content in catalogue.contents}
    for stimulus in catalogue.stimuli:
        if stimulus.role in RATED:
            rated[stimulus.content].append(stimulus)
    found: dict[_Doubt, list[tuple[str, str]]] = {}
    for content, group in rated.items():
        for doubt, detail in (
            *_durations(group, keeps_position),
            *_pictures(group),
            *_sounds(group),
            *_sizes(group, catalogue),
        ):
            found.setdefault(doubt, []).append((content, detail))
    advice = _Advice(stimuli)
    warnings = [
        *_missing_files(catalogue, stimuli),
        *((doubt, problem) for doubt, cases in found.items() for problem in _problems_of(doubt, cases)),
        *_loudness(list(rated.values())),
        *_silent_files(list(rated.values())),
        *_dead_channels(list(rated.values())),
        *_identical_files(rated),
        *_encoder_names(list(rated.values())),
        *_layouts(list(rated.values())),
    ]
    told = [(doubt, problem) for doubt, problem in warnings if doubt.name not in stimuli.accept]
    for doubt, problem in told:
        yield advice.added(doubt, problem)
    yield from advice.together([doubt.option for doubt, _ in told])


class _Advice:
    """How differences are evened out by a command, and how they are accepted in the study."""

    def __init__(self, stimuli: Stimuli) -> None:
        self._stimuli = stimuli

    def added(self, doubt: _Doubt, problem: Problem) -> Problem:
        """Return a problem with its remedy and the line that accepts it."""
        option = doubt.option if doubt.option != _SHORTEST or self._has_folders else ""
        fix = " ".join(part for part in (doubt.fix, alike(self._stimuli, option) if option else "") if part)
        return Problem(problem.where, problem.what, problem.allowed, f"{fix} {self._accepted(doubt.name)}".strip())

    def together(self, options: Sequence[str]) -> Iterator[Problem]:
        """Yield the one command for several differences."""
        usable = [one for one in dict.fromkeys(options) if one and (one != _SHORTEST or self._has_folders)]
        # Of several contents with different needs, the larger number does for all: "--rate 48000" after "--rate 16000".
        by_flag = {one.split()[0]: one for one in sorted(usable, key=_option_order)}
        if len(by_flag) > 1:
            what = "can be made alike in all these respects by one command"
            yield Problem(self._stimuli.folder or "stimuli", what, "", alike(self._stimuli, *by_flag.values()))

    @property
    def _has_folders(self) -> bool:
        return self._stimuli.manifest is None and self._stimuli.pattern is None

    def _accepted(self, name: Difference) -> str:
        names = ", ".join([*self._stimuli.accept, name])
        if self._has_folders:
            return f"If it is meant: stimuli: {{folder: {self._stimuli.folder}, accept: [{names}]}}."
        return f"If it is meant: accept: [{names}] under stimuli."


def alike(stimuli: Stimuli, *options: str) -> str:
    """Return the sentence that names the command with these options of `media prepare`, and what to write after it."""
    out = "prepared" if stimuli.folder != "prepared" else "prepared-again"
    source = quote(stimuli.folder) if stimuli.folder is not None else "FILES"
    if stimuli.manifest is not None:
        after = f"and list what is in {out} in {stimuli.manifest}"
    else:
        after = f"and write {'stimuli' if stimuli.pattern is None else 'folder'}: {out}"
    return f"To make them alike: beholder media prepare {source} --out {out} {' '.join(options)}, {after}."


_SHORTEST = "--shortest"


def _option_order(option: str) -> tuple[str, float]:
    flag, _, value = option.partition(" ")
    return flag, float(value or 0)


def _problems_of(doubt: _Doubt, cases: Sequence[tuple[str, str]]) -> Iterator[Problem]:
    """Yield one problem for all contents of which the same can be said, the details of each where they differ."""
    contents = [content for content, _ in cases]
    if len(cases) == 1:
        yield Problem(f"content {contents[0]}", doubt.one.format(cases[0][1]), doubt.allowed)
        return
    details = list(dict.fromkeys(detail for _, detail in cases))
    text = (
        details[0]
        if len(details) == 1
        else "; ".join(f"{content} {detail}" for content, detail in cases[:_MAX_DETAILS])
    )
    text += f"; {len(cases) - _MAX_DETAILS} more" if len(details) > 1 and len(cases) > _MAX_DETAILS else ""
    where = f"{len(cases)} contents: {', '.join(contents)}"
    yield Problem(where, doubt.many.format(text), doubt.allowed)


def _missing_files(catalogue: Catalogue, stimuli: Stimuli) -> Iterator[tuple[_Doubt, Problem]]:
    """Yield the problem of conditions that contents lack, with the files that are not there or may be misspelt."""
    under: dict[tuple[str, ...], list[str]] = {}
    for content, cells in groupby(catalogue.missing(), key=lambda cell: cell[0]):
        under.setdefault(tuple(condition for _, condition in cells), []).append(content)
    there = {(one.content, one.condition): one.file for one in catalogue.by_cell.values()}
    suffixes = {one.content: PurePosixPath(one.file).suffix for one in catalogue.by_cell.values()}
    for conditions, contents in under.items():
        is_one = len(contents) == 1
        what = f"{plural(len(contents), 'is', 'are')} missing under {', '.join(conditions)}"
        lacking = [(content, condition) for content in contents for condition in conditions]
        if stimuli.manifest is None and stimuli.pattern is None:
            files = [f"{stimuli.folder}/{condition}/{content}{suffixes[content]}" for content, condition in lacking]
            what += f": {_first_files(files)} {plural(len(files), 'is', 'are')} not there"
        near = []
        for content, condition in lacking:
            # A file that only this condition has may be the missing one, misspelt.
            alone = [name for name, place in there if place == condition and _is_alone(name, catalogue)]
            name = did_you_mean(content, alone).removeprefix("Did you mean ").rstrip("?")
            near += [f"Is {there[name, condition]} meant to be {content}?"] if name else []
        add = plural(len(lacking), "Add the file, or take the content out.", "Add the files, or take the contents out.")
        fix = " ".join([*near[:_MAX_DETAILS], add])
        where = f"content {contents[0]}" if is_one else f"{len(contents)} contents: {', '.join(contents)}"
        yield _Doubt("missing", "", "", fix=fix), Problem(where, what)


def _first_files(files: Sequence[str]) -> str:
    """Return the names of a few files, and how many more there are."""
    return join_names(files) if len(files) <= _MAX_DETAILS else first_names(files, _MAX_DETAILS)


def _is_alone(content: str, catalogue: Catalogue) -> bool:
    """Return whether only one condition has this content."""
    return sum(name == content for name, _ in catalogue.by_cell) == 1


def _durations(group: Sequence[Stimulus], keeps_position: bool) -> Iterator[tuple[_Doubt, str]]:
    """Yield the doubt about clips that do not last equally long; what stands still has no length."""
    if group[0].medium not in ("video", "audio"):
        return
    tolerance = _CLOSE_TOLERANCE_MS if keeps_position or group[0].medium == "audio" else _TOLERANCE_MS
    short, long = min(group, key=_duration_ms), max(group, key=_duration_ms)
    if _duration_ms(long) - _duration_ms(short) > tolerance:
        ends = " and ".join(f"{_duration_ms(s) / 1000:.2f} s under {s.condition}" for s in (short, long))
        why = ", and switching keeps the position" if keeps_position else ""
        allowed = f"{tolerance / 1000:g} s apart at most"
        yield _Doubt("duration", f"lasts {{}}{why}", f"last {{}}{why}", allowed, option=_SHORTEST), ends


def _pictures(group: Sequence[Stimulus]) -> Iterator[tuple[_Doubt, str]]:
    """Yield the doubts about pictures and videos of different sizes, and about videos of different rates or formats."""
    medium = group[0].medium
    if medium in ("video", "image"):
        sizes = _values_by_condition({(s.probe.width, s.probe.height): s for s in reversed(group)}, "{0[0]}x{0[1]}")
        if sizes:
            option = f"--height {max(s.probe.height // 2 * 2 for s in group)}"
            has_one_shape = len({round(s.probe.width / s.probe.height, 2) for s in group}) == 1
            crop = "" if has_one_shape else "Cut them to the same shape first."
            what = "different sizes: {}"
            yield _Doubt("resolution", f"has {what}", f"have {what}", fix=crop, option=option), sizes
    if medium == "video":
        rates = _values_by_condition({round(s.probe.fps, 2): s for s in reversed(group)}, "{:g} frames a second")
        if rates:
            what, option = "different frame rates: {}", f"--fps {max(round(s.probe.fps, 2) for s in group):g}"
            yield _Doubt("frame_rate", f"has {what}", f"have {what}", option=option), rates
        kinds = _values_by_condition({s.served.suffix.lstrip("."): s for s in reversed(group)}, "{}")
        if kinds:
            what = "served as {}: a participant who opens the developer tools could tell these apart"
            yield _Doubt("format", f"is {what}", f"are {what}", "one of them", "Export all in the same format."), kinds


def _sounds(group: Sequence[Stimulus]) -> Iterator[tuple[_Doubt, str]]:
    """Yield the doubts about sounds of different rates, channels, depths, or silences at their start."""
    medium = group[0].medium
    heard = [one for one in group if one.probe.channels]
    if not heard:
        return
    counts = {s.probe.channels: s for s in reversed(group)}
    if len(counts) > 1:
        what = (
            "different numbers of channels: {}" if len(heard) == len(group) else "sound under some conditions only: {}"
        )
        option = f"--channels {min(2, max(counts))}" if len(heard) == len(group) else ""
        fix = "" if option else "Add the sound, or take it away everywhere."
        listed = _values_by_condition(counts, "{}").replace("0 under", "no sound under")
        yield _Doubt("channels", f"has {what}", f"have {what}", fix=fix, option=option), listed
    elif max(counts) > 2:
        what = "{} channels, and most people listen to two"
        yield _Doubt("channels", f"has {what}", f"have {what}", "1 or 2", option="--channels 2"), str(max(counts))
    rates = _values_by_condition({s.probe.sample_rate: s for s in reversed(heard)}, "{} Hz")
    if rates:
        what, option = "different sample rates: {}", f"--rate {max(s.probe.sample_rate for s in heard)}"
        yield _Doubt("sample_rate", f"has {what}", f"have {what}", option=option), rates
    if medium != "audio":
        return
    # What a lossy codec decodes to has no depth of its own: its 16 bits lose nothing that others keep.
    depths = _values_by_condition({_bits(s): s for s in reversed(group) if is_lossless(s.probe.codec)}, "{} bits")
    if depths:
        what = "different depths: {}: a participant who looks into the files could tell these apart"
        yield _Doubt("depth", f"has {what}", f"have {what}", "", "Export all in the same depth."), depths
    audible = [one for one in group if not one.probe.is_silent] or group
    first, last = min(audible, key=_silence_ms), max(audible, key=_silence_ms)
    if _silence_ms(last) - _silence_ms(first) > _SILENCE_MS:
        ends = " and ".join(f"{_silence_ms(s) / 1000:.2f} s under {s.condition}" for s in (first, last))
        allowed = f"{_SILENCE_MS / 1000:g} s apart at most"
        yield _Doubt("silence", "is silent for {} before it starts", "are silent for {} before they start", allowed,
                     option="--trim"), ends  # fmt: skip


def _values_by_condition(stimuli: Mapping[Any, Stimulus], form: str) -> str:
    """Return each value with a condition that has it; nothing where all have the same."""
    text = ", ".join(f"{form.format(value)} under {stimulus.condition}" for value, stimulus in sorted(stimuli.items()))
    return text if len(stimuli) > 1 else ""


def _loudness(groups: Sequence[Sequence[Stimulus]]) -> Iterator[tuple[_Doubt, Problem]]:
    """Yield the problem of conditions that are not equally loud, the widest content and the mean of each condition."""
    compared: list[list[Stimulus]] = []
    for group in groups:
        # An anchor is softer by what is taken out of it.
        audible = [one for one in group if one.probe.loudness is not None and one.role != "anchor"]
        compared += [sorted(audible, key=_lufs)] if len(audible) > 1 else []
    wide = [group for group in compared if _lufs(group[-1]) - _lufs(group[0]) > _LOUDNESS_LU]
    if not wide:
        return
    worst = max(wide, key=lambda group: _lufs(group[-1]) - _lufs(group[0]))
    soft, loud = worst[0], worst[-1]
    what = (
        f"differ in loudness from condition to condition, and people prefer what is louder: {loud.file} is "
        f"{_lufs(loud) - _lufs(soft):.1f} LU louder than {soft.file} ({_lufs(loud):.1f} and {_lufs(soft):.1f} LUFS)"
    )
    if len(compared) > 1:
        means: dict[str, list[float]] = {}
        for stimulus in (stimulus for group in compared for stimulus in group):
            means.setdefault(stimulus.condition, []).append(_lufs(stimulus))
        ranked = sorted((fmean(values), condition) for condition, values in means.items())
        ends = " and ".join(f"{mean:.1f} under {condition}" for mean, condition in (ranked[0], ranked[-1]))
        what += f"; so it is in {len(wide)} of {plain_count(len(compared), 'content')}, with means of {ends}"
    doubt = _Doubt("loudness", "", "", option=f"--loudness {_TARGET_LUFS}")
    yield doubt, Problem("stimuli", what, f"{_LOUDNESS_LU:g} LU apart at most")


def _dead_channels(groups: Sequence[Sequence[Stimulus]]) -> Iterator[tuple[_Doubt, Problem]]:
    """Yield the problem of stereo files on which one side is silent."""
    files = [one.file for group in groups for one in group if one.probe.channels == 2 and one.probe.dead_channels == 1]
    if files:
        where = files[0] if len(files) == 1 else f"{len(files)} files: {_first_files(files)}"
        what = f"{plural(len(files), 'has', 'have')} a channel without sound: headphones play it on one side only"
        yield _Doubt("channels", "", "", fix="Export again what should be heard on both sides."), Problem(where, what)


def _silent_files(groups: Sequence[Sequence[Stimulus]]) -> Iterator[tuple[_Doubt, Problem]]:
    """Yield the problem of files without anything to hear: every sound, and videos where others are heard."""
    files = [
        one.file
        for group in groups
        for one in group
        if one.probe.is_silent and (one.medium == "audio" or not all(other.probe.is_silent for other in group))
    ]
    if files:
        where = files[0] if len(files) == 1 else f"{len(files)} files: {_first_files(files)}"
        what = f"{plural(len(files), 'is', 'are')} silent from start to end"
        yield _Doubt("silence", "", "", fix="Export again what should be heard."), Problem(where, what)


def _identical_files(rated: Mapping[str, Sequence[Stimulus]]) -> Iterator[tuple[_Doubt, Problem]]:
    """Yield the problem of files that hold the same bytes under two names: conditions first, then single files."""
    # A manifest may name one file twice: that is written, and no accident.
    by_file = {stimulus.file: stimulus for group in rated.values() for stimulus in group}
    by_hash: dict[str, list[Stimulus]] = {}
    for stimulus in by_file.values():
        by_hash.setdefault(stimulus.sha256, []).append(stimulus)
    pairs: dict[tuple[str, ...], list[list[Stimulus]]] = {}
    for same in (same for same in by_hash.values() if len(same) > 1):
        is_one_content = len({one.content for one in same}) == 1
        pairs.setdefault(tuple(one.condition for one in same) if is_one_content else (), []).append(same)
    doubt = _Doubt("identical", "", "", fix="Export one of them again, or take it out.")
    for conditions, groups in sorted(pairs.items(), key=lambda pair: not pair[0]):
        files = "; ".join(join_names([one.file for one in same]) for same in groups[:_MAX_DETAILS])
        files += f"; {len(groups) - _MAX_DETAILS} more" if len(groups) > _MAX_DETAILS else ""
        if conditions:
            count = f"{len(groups)} of {plain_count(len(rated), 'content')}"
            yield doubt, Problem(f"conditions {join_names(conditions)}", f"are the same file in {count}: {files}")
        else:
            yield doubt, Problem("stimuli", f"are the same file under several names: {files}")


def _sizes(group: Sequence[Stimulus], catalogue: Catalogue) -> Iterator[tuple[_Doubt, str]]:
    """Yield the doubt about files whose sizes differ so much that the filler stops before they are even."""
    filled = [catalogue.class_sizes[stimulus.id] for stimulus in group]
    if max(filled) - min(filled) <= HIDDEN_DIFFERENCE:
        return
    small, large = min(group, key=_bytes), max(group, key=_bytes)
    what = (
        "files that differ in size more than the filler can hide ({}): "
        "a participant who opens the developer tools could put them in order"
    )
    doubt = _Doubt(
        "file_size",
        f"has {what}",
        f"have {what}",
        f"{MAX_FILL_FACTOR} times the smallest at most, and {_in_words(MAX_FILL_BYTES)} more than it",
        "Encode the largest smaller or the smallest larger.",
    )
    yield doubt, " to ".join(f"{_in_words(s.served_bytes)} under {s.condition}" for s in (small, large))


def _encoder_names(groups: Sequence[Sequence[Stimulus]]) -> Iterator[tuple[_Doubt, Problem]]:
    """Yield the problem of names of encoders that are not the same under all conditions of a content."""
    if all(len({stimulus.encoders for stimulus in group}) == 1 for group in groups):
        return
    under: dict[str, list[str]] = {}
    for stimulus in (stimulus for group in groups for stimulus in group):
        for name in stimulus.encoders:
            under.setdefault(name, []).append(stimulus.condition)
    listed = "; ".join(f"{name} under {', '.join(dict.fromkeys(under[name]))}" for name in sorted(under))
    what = (
        f"hold names of encoders inside their sound, and not the same under all conditions ({listed}): "
        "a participant who looks into the files could tell these apart"
    )
    fix = "Encode the sound of all conditions with the same program."
    yield _Doubt("encoders", "", "", fix=fix), Problem("stimuli", what)


def _layouts(groups: Sequence[Sequence[Stimulus]]) -> Iterator[tuple[_Doubt, Problem]]:
    """Yield the problem of videos that are encoded in ways that tell the conditions of a content apart."""
    under: dict[str, dict[str, None]] = {}
    for group in groups:
        # What has another size, rate or container is told by itself, and is encoded again for that.
        shapes = {(one.probe.width, one.probe.height, round(one.probe.fps, 2), one.served.suffix) for one in group}
        for parts in zip(*(one.layout for one in group), strict=False) if len(shapes) == 1 else ():
            if len(set(parts)) > 1:
                for part, stimulus in zip(parts, group, strict=True):
                    under.setdefault(part, {})[stimulus.condition] = None
    if not under:
        return
    listed = "; ".join(f"{part} under {', '.join(under[part])}" for part in sorted(under))
    what = (
        f"are encoded differently under their conditions ({listed}): "
        "a participant who looks into the files could tell these apart"
    )
    yield _Doubt("layout", "", "", option="--uniform"), Problem("stimuli", what)


def _in_words(size: int) -> str:
    """Return a number of bytes as people say it."""
    if size >= 1_000_000:
        return f"{size / 1_000_000:.1f} MB"
    return f"{max(1, round(size / 1000))} kB"


def _bytes(stimulus: Stimulus) -> int:
    return stimulus.served_bytes


def _bits(stimulus: Stimulus) -> int:
    """Return how many bits a sample of the served WAV has: 16 or 24, from its size."""
    probe = stimulus.probe
    samples = probe.channels * probe.sample_rate * max(1, probe.duration_ms) / 1000
    return 24 if stimulus.served_bytes > 2.5 * samples + 44 else 16


def _duration_ms(stimulus: Stimulus) -> int:
    return stimulus.probe.duration_ms


def _silence_ms(stimulus: Stimulus) -> int:
    return stimulus.probe.silence_before_ms


def _lufs(stimulus: Stimulus) -> float:
    return stimulus.probe.loudness or 0.0
