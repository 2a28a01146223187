"""`beholder media`: commands that make, inspect or upload stimulus files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from beholder.cli.command import CommandResult, StageGroup
from beholder.cli.printing import STUDY, Bar, print_made_files, print_table

_OUT = click.option("--out", required=True, type=click.Path(path_type=Path), help="Where to write.")
_FILES = click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
_MESSAGE_OPTIONS = (
    _FILES,
    click.option("--value", multiple=True, help="The number to set; give it once for each copy."),
    click.option("--label", multiple=True, help="The word beside that number, as Poor; once for each value."),
    click.option("--words", help="In place of ours; {value} and {label} stand for the answer."),
    click.option(
        "--say", default="text", show_default=True, type=click.Choice(["text", "voice"]), help="To be read, or heard."
    ),
    click.option("--language", default="en", show_default=True, help="Of our words, and of the voice."),
    _OUT,
)
"""Arguments of the two commands that add messages to stimuli."""


@click.group(cls=StageGroup, stage="make")
def media() -> None:
    """Make stimuli from your own files."""


@media.command()
@_FILES
@click.option("--cutoff", "cutoffs", multiple=True, type=int, help="Of sounds: in Hz, as 3500.")
@click.option("--bitrate", "bitrates", multiple=True, help="Of videos: bits a second, as 200k.")
@click.option("--resolution", "resolutions", multiple=True, help="Of videos: scaled to so many lines and back, as 180.")
@click.option("--fps", "rates", multiple=True, help="Of videos: frames a second, each held, as 7.5.")
@click.option("--blur", "blurs", multiple=True, help="Of videos: pixels (sigma) at 1080 lines, as 4.")
@_OUT
def anchor(files: tuple[Path, ...], cutoffs: tuple[int, ...], out: Path, **video: Any) -> object:
    """Make anchors of sounds and videos: worse, and in step to the sample or frame.

    Writes OUT/lowpass-3500/NAME.wav of sounds; OUT/bitrate-200k/NAME.mp4 and the like of videos. Give an option once
    for each anchor. A folder stands for the sounds and videos in it. What is there already is not made again.
    """
    from beholder.stimuli.workshop import make_anchors

    with Bar("Anchors") as progress:
        result = make_anchors(files, cutoffs, out, **video, progress=progress)
    return print_made_files(result)


@media.command()
@click.argument("left", type=click.Path(path_type=Path))
@click.argument("right", type=click.Path(path_type=Path))
@_OUT
@click.option(
    "--sound", default="left", show_default=True, type=click.Choice(["left", "right", "none"]), help="Whose is kept."
)
@click.option("--shortest", is_flag=True, help="Cut to the shorter also where they differ by more than half a second.")
def stack(left: Path, right: Path, out: Path, sound: Any, shortest: bool) -> object:
    """Put two videos side by side into one, frame by frame.

    LEFT and RIGHT are two videos, or two folders whose videos have the same names; OUT is a folder, or for two videos
    the .mp4 itself. What is there already is not made again.
    """
    from beholder.stimuli.workshop import make_stacks

    with Bar("Stacks") as progress:
        result = make_stacks(left, right, out, sound=sound, shortest=shortest, progress=progress)
    return print_made_files(result)


@media.command()
@click.argument("clip", type=click.Path(path_type=Path))
@click.option(
    "--kinds", default="fragmentation,discontinuity,uncleanness", show_default=True, help="Which, with commas between."
)
@click.option("--out", default="examples", show_default=True, type=click.Path(path_type=Path), help="Where to write.")
def impair(clip: Path, kinds: str, out: Path) -> object:
    """Make samples of impairments from a clean video, for the instructions.

    Writes OUT/CLIP-KIND.mp4 of the same size, rate and length. What is there already is not made again.
    """
    from beholder.stimuli.workshop import make_impaired

    with Bar("Samples") as progress:
        result = make_impaired(clip, [kind.strip() for kind in kinds.split(",")], out, progress=progress)
    return print_made_files(result)


def _message_command(command: Callable[..., object]) -> Callable[..., object]:
    """Return a command with the arguments for adding messages to stimuli."""
    for part in reversed(_MESSAGE_OPTIONS):
        command = part(command)
    return command


@media.command()
@_message_command
def attention(**options: Any) -> object:
    """Make copies that ask for an answer in their middle: attention checks.

    Writes OUT/NAME-attention-1.mp4 and so on, and OUT/manifest.csv with their lines. A folder stands for the media in
    it. What is there already is not made again.
    """
    from beholder.stimuli.workshop import make_messages

    with Bar("Copies") as progress:
        result = make_messages(**options, role="attention", progress=progress)
    return print_made_files(result)


@media.command()
@_message_command
def trap(**options: Any) -> object:
    """Make copies that ask for an answer in their middle: trapping clips.

    Writes OUT/NAME-trap-1.mp4 and so on, and OUT/manifest.csv with their lines. A folder stands for the media in it.
    What is there already is not made again.
    """
    from beholder.stimuli.workshop import make_messages

    with Bar("Copies") as progress:
        result = make_messages(**options, role="trap", progress=progress)
    return print_made_files(result)


@media.command()
@_FILES
@_OUT
@click.option("--codec", default="h264", show_default=True, type=click.Choice(["h264", "vp9"]), help="Of videos.")
@click.option("--crf", type=int, help="Of videos: less is finer; 17, or 18 for vp9, when left out.")
@click.option("--height", type=int, help="Of videos and images: lines; as they are when left out.")
@click.option("--fps", type=float, help="Of videos: frames a second; as they are when left out.")
@click.option("--loudness", type=float, help="Of all sound: LUFS, as -23; as it is when left out.")
@click.option("--rate", type=int, help="Of all sound: samples a second, as 48000; as it is when left out.")
@click.option("--channels", type=int, help="Of all sound: 1 or 2; as it is when left out.")
@click.option("--trim", is_flag=True, help="Of sounds: cut off the silence at both ends.")
@click.option("--shortest", is_flag=True, help="Cut files of the same name in different folders to the shortest.")
@click.option(
    "--uniform", is_flag=True, help="Encode files of the same name alike: size, rates, profile, key frames, layout."
)
def prepare(files: tuple[Path, ...], out: Path, **options: Any) -> object:
    """Make files ready for browsers: encoded again, without metadata.

    Writes OUT/NAME.mp4 (or .webm), .wav, .webp, or the text in UTF-8. A folder stands for all media in and below it,
    and keeps its shape. What is there already is not made again.
    """
    from beholder.stimuli.workshop import make_prepared

    with Bar("Files") as progress:
        result = make_prepared(files, out, **options, progress=progress)
    return print_made_files(result)


@media.command()
@STUDY
@click.option("--tidy", is_flag=True, help="Remove copies of earlier stimuli, once nobody is inside who began before.")
def upload(study: Path, tidy: bool) -> object:
    """Upload the stimuli to the place of `media` in the study.

    As several disguised copies each. What is there already stays; where it was broken off, it goes on; everything is
    verified by its hash. `beholder serve` and `beholder deploy up` do the same.
    """
    from beholder.buckets import upload_media

    with Bar("Copies") as progress:
        done = upload_media(study, tidy=tidy, progress=progress)
    for line in done.words:
        click.echo(line)
    return done


@media.command(has_quiet=False)
@_FILES
@click.option("--si-ti", is_flag=True, help="Of videos: spatial and temporal information; every frame is decoded.")
def probe(files: tuple[Path, ...], si_ti: bool) -> object:
    """Say what files hold, and whether browsers play them.

    A folder stands for all media in and below it. Ends with 2 where a file cannot be read or would not play. SI and TI
    of videos in a study folder are kept for its export, report and checklists.
    """
    from beholder.stimuli.workshop import as_json, as_table, probe_media

    with Bar("Files") as progress:
        rows, problems = probe_media(files, progress, si_ti=si_ti)
    print_table(as_table(rows))
    document = {"files": as_json(rows)}
    return CommandResult(document, code=2, problems=problems) if problems else document
