"""Every slot gets a file of its own size and bytes that plays the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from beholder.stimuli.blinding import MAX_DRAWN, MAX_FILL_BYTES, MIN_DRAWN, blind, class_size, drawn_size
from beholder.stimuli.ffmpeg import run_ffmpeg
from support.blinded_files import FORMATS


def frames_in(path: Path) -> bytes:
    """Return what people see or hear of a file, decoded without a warning."""
    if path.suffix == ".txt":
        return path.read_bytes().rstrip()
    if path.suffix == ".webp":
        with Image.open(path) as picture:
            return picture.tobytes()
    ran = run_ffmpeg(
        ["-v", "warning", "-xerror", "-guess_layout_max", "0", "-i", str(path), "-f", "framemd5", "pipe:1"]
    )
    assert (ran.code, ran.log) == (0, "")
    return ran.out


@pytest.mark.parametrize(("key", "fill_to"), [(b"none", 0), (b"one", 100_000), (bytes(32), 5_400_000)])
def test_a_blinded_file_decodes_to_the_same_frames_without_a_warning(
    clip: Path, tmp_path: Path, key: bytes, fill_to: int
) -> None:
    target = tmp_path / clip.name
    target.write_bytes(b"".join(blind(clip, key, fill_to).read()))
    assert frames_in(target) == frames_in(clip)
    assert target.stat().st_size == blind(clip, key, fill_to).size
    length = max(0, fill_to - clip.stat().st_size) + drawn_size(key)
    step = 2 if clip.suffix in (".wav", ".webp") else 1
    assert target.stat().st_size == clip.stat().st_size + length + length % step


@pytest.mark.skipif(not hasattr(os, "RWF_NOWAIT"), reason="only Linux tells what is in memory")
def test_a_range_that_is_in_memory_is_the_same_as_one_that_is_read(clip: Path, tmp_path: Path) -> None:
    target = tmp_path / clip.name
    target.write_bytes(clip.read_bytes())
    medium = blind(target, b"key", 50_000)
    whole, middle = b"".join(medium.read()), medium.file_size
    for start, stop in ((0, medium.size), (0, 3), (2, 200), (middle - 5, middle), (middle - 5, middle + 2000)):
        assert medium.read_cached(start, stop) in (whole[start:stop], None)  # a file system may not tell
    assert medium.read_cached(middle + 10, middle + 1500) == whole[middle + 10 : middle + 1500]
    target.unlink()
    assert medium.read_cached(middle - 3, middle) is None
    with pytest.raises(OSError):
        list(medium.read(middle - 3, middle))


def test_keys_give_sizes_of_their_own_and_the_same_key_the_same_bytes(clip: Path) -> None:
    keys = [f"session/step/s{number}".encode() for number in range(300)]
    sizes = [blind(clip, key).size - clip.stat().st_size for key in keys]
    assert len(set(sizes)) > 290
    assert MIN_DRAWN <= min(sizes) < 4000
    assert 62000 < max(sizes) <= MAX_DRAWN
    assert b"".join(blind(clip, keys[0]).read()) == b"".join(blind(clip, keys[0]).read())
    assert blind(clip, keys[0]).mark[8:64] != blind(clip, keys[1]).mark[8:64]


def test_two_conditions_of_other_sizes_go_out_with_sizes_that_overlap(clip: Path, tmp_path: Path) -> None:
    large = tmp_path / clip.name
    large.write_bytes(clip.read_bytes() + bytes(400_000))
    small = large.with_stem("small")
    small.write_bytes(clip.read_bytes() + bytes(large.stat().st_size // 3))
    own, largest = small.stat().st_size, large.stat().st_size
    keys = [f"session/step/s{number}".encode() for number in range(200)]
    ones = [blind(small, key, class_size(own, largest)).size for key in keys[:100]]
    others = [blind(large, key, class_size(largest, largest)).size for key in keys[100:]]
    assert not set(ones) & set(others)
    # As many of one as of the other among the smaller half: by size, nobody knows which is which.
    middle = sorted(ones + others)[100]
    assert 35 <= sum(size < middle for size in ones) <= 65


def test_a_file_is_filled_up_to_four_times_its_size_and_by_32_megabytes_at_most() -> None:
    assert class_size(1_000_000, 1_000_000) == 1_000_000
    assert class_size(1_000_000, 3_900_000) == 3_900_000
    assert class_size(1_000_000, 9_000_000) == 4_000_000
    assert class_size(50_000_000, 90_000_000) == 50_000_000 + MAX_FILL_BYTES
    assert class_size(1_000, 60_000) == 60_000, "a small file may be filled by as much as is drawn anyway"
    assert class_size(1_000, 900_000) == 1_000 + MAX_DRAWN


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_range_is_a_part_of_the_whole(clip: Path, data: st.DataObject) -> None:
    blinded = blind(clip, b"key", data.draw(st.sampled_from([0, 1_500_000])))
    whole = b"".join(blinded.read())
    ends = [blinded.file_size - 1, blinded.file_size, blinded.file_size + MIN_DRAWN, blinded.size]
    edges = st.sampled_from([0, 1, len(blinded.head), *ends])
    start = data.draw(st.integers(0, blinded.size) | edges)
    stop = data.draw(st.integers(start, blinded.size + 5))
    assert b"".join(blinded.read(start, stop)) == whole[start:stop]


def test_a_webm_without_a_known_length_still_decodes(tmp_path: Path) -> None:
    piped = run_ffmpeg(["-v", "error", *FORMATS[".webm"], "-f", "webm", "pipe:1"])
    (tmp_path / "live.webm").write_bytes(piped.out)
    (tmp_path / "blind.webm").write_bytes(b"".join(blind(tmp_path / "live.webm", b"key").read()))
    assert frames_in(tmp_path / "blind.webm") == frames_in(tmp_path / "live.webm")


@pytest.mark.parametrize("clip", [".wav", ".webp"], indirect=True)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=st.binary(max_size=8), fill_to=st.integers(0, 200_000))
def test_a_riff_file_is_a_whole_number_of_chunks_of_the_size_that_it_says(clip: Path, key: bytes, fill_to: int) -> None:
    data = b"".join(blind(clip, key, fill_to).read())
    assert int.from_bytes(data[4:8], "little") == len(data) - 8
    place, names = 12, []
    while place < len(data):
        size = int.from_bytes(data[place + 4 : place + 8], "little")
        names.append(data[place : place + 4])
        place += 8 + size + size % 2
    assert place == len(data)
    assert names[-1] == b"JUNK"
    assert names.count(b"JUNK") == 1


@pytest.mark.parametrize("clip", [".txt"], indirect=True)
def test_a_text_is_filled_with_white_space(clip: Path) -> None:
    data = b"".join(blind(clip, b"key", 1_200_000).read()).decode("ascii")
    assert data.startswith(clip.read_text() + "\n")
    assert set(data.removeprefix(clip.read_text())) == set(" \t\n")
