"""Sample speech: short recorded sentences, clean and under noise, with transcripts that have the time of every word."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from beholder.stimuli.pcm import Sound, read_sound, write_wav

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class _Sentence(NamedTuple):
    """What is said in a recording, and when: the milliseconds at which each word begins, and the last one ends."""

    words: str
    starts: str


_SENTENCES: Mapping[str, _Sentence] = {
    "harbour": _Sentence(
        "The small boat reached the harbour before the storm.", "0 127 518 865 1266 1389 1837 2195 2322 2950"
    ),
    "kitchen": _Sentence(
        "She cut the bread and put butter on both slices.", "0 203 531 657 1140 1354 1618 1960 2185 2526 3190"
    ),
    "station": _Sentence(
        "Our train leaves from the third platform at noon.", "0 203 619 1008 1250 1371 1727 2298 2517 3010"
    ),
    "orchard": _Sentence(
        "He planted four apple trees behind the old wall.", "0 159 734 1050 1380 1796 2256 2388 2746 3190"
    ),
    "winter": _Sentence(
        "Fresh snow covered the narrow road to the village.", "0 372 670 1165 1286 1597 1900 2051 2183 2710"
    ),
    "letter": _Sentence(
        "Please bring the signed letter back by Friday morning.", "0 380 710 836 1269 1591 1926 2098 2550 3120"
    ),
}
"""The recordings beside this file were synthesised by eSpeak NG, which also told when each word begins."""

CONTENTS = tuple(_SENTENCES)
_NOISE_DB: Mapping[str, float | None] = {"clean": None, "noise-12db": 12, "noise-3db": 3, "noise-minus-3db": -3}
"""By condition, how far the speech is above the noise."""
_NOISE_BAND_HZ = 4000.0
"""Noise like that of a room: as far up as speech goes, and no hiss above it."""
_LEVEL = 0.08
"""The root mean square of every sample."""
_PAUSE_S = 0.25


def write(target: Path, content: int, condition: str) -> None:
    """Write one sample as 16-bit WAV of one channel, whole or not at all."""
    samples, rate = speech(content, condition)
    write_wav(target, samples, rate)


def speech(content: int, condition: str) -> tuple[NDArray[np.float64], int]:
    """Return a sentence under a condition, a pause before and after it, and its rate; all are equally loud."""
    import numpy as np

    from beholder.stimuli.pcm import filter_low

    name = CONTENTS[content % len(CONTENTS)]
    recorded = _recording(name)
    pause = np.zeros((round(_PAUSE_S * recorded.rate), recorded.samples.shape[1]))
    said = np.concatenate([pause, recorded.samples, pause])
    above = _NOISE_DB[condition]
    if above is not None:
        # A seed of its own for each: other noise in each.
        rng = np.random.default_rng([content, list(_NOISE_DB).index(condition)])
        noise = filter_low(rng.standard_normal(said.shape) * 0.1, recorded.rate, _NOISE_BAND_HZ)
        said = said + noise * _size(recorded.samples) / _size(noise) / 10 ** (above / 20)
    said = said * (_LEVEL / _size(said))
    return said / max(1.0, 1.02 * float(np.abs(said).max())), recorded.rate


def write_transcript(folder: Path, content: int, name: str) -> None:
    """Write `<name>.csv`: a line for each word, with the seconds at which it begins and ends."""
    sentence = _SENTENCES[CONTENTS[content % len(CONTENTS)]]
    times = [int(start) / 1000 + _PAUSE_S for start in sentence.starts.split()]
    lines = [
        f"{word},{start:.3f},{end:.3f}"
        for word, start, end in zip(sentence.words.split(), times[:-1], times[1:], strict=True)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.csv").write_text("\n".join(["word,start,end", *lines]) + "\n", "utf-8", newline="\n")


@cache
def _recording(name: str) -> Sound:
    path = Path(__file__).with_name("recordings") / f"{name}.opus"
    return read_sound(path, path.name)


def _size(samples: NDArray[np.float64]) -> float:
    """Return the root mean square."""
    return math.sqrt(float((samples**2).mean()))
