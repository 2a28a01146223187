"""Speech made offline by eSpeak NG, which comes as a wheel with the extra `voice`."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from beholder.errors import Problem, StimuliError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WORDS_PER_MINUTE = 140
FASTEST = 220
"""Words a minute; faster than this, numbers are no longer understood at first hearing."""

_TIMBRE = "f5"
"""A variant of every voice: of all that eSpeak NG has, the one whose numbers a recogniser heard best."""
_PLAIN_ENGLISH = "en-us"
_FEW = ("en", "de", "fr", "es", "it", "nl", "pl", "pt", "sv", "tr", "zh")

# From speak_lib.h of eSpeak NG, whose interface has been the same since 2007.
_SYNCHRONOUS, _DO_NOT_EXIT, _RATE, _UTF8 = 2, 0x8000, 1, 1
_SILENT_DB, _MARGIN_S = -45, 0.01
_ONE_AT_A_TIME = threading.Lock()
"""The library keeps its state in global variables."""


@dataclass(frozen=True, eq=False)
class Speech:
    """Spoken words: samples between -1 and 1 of one channel, without silence at either end."""

    samples: NDArray[np.float64]
    rate: int

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate


def speak(words: str, language: str, *, words_per_minute: int = WORDS_PER_MINUTE, where: str = "") -> Speech:
    """Return words as speech, or raise StimuliError naming `where`: the key or the file that asked for it."""
    import numpy as np

    problem = voice_problem(language, where)
    if problem is not None:
        raise StimuliError(problem)
    engine = _engine()
    text = words.encode()
    pieces: list[bytes] = []

    def collect(samples: int | None, count: int, _events: int | None) -> int:
        if samples and count:
            pieces.append(ctypes.string_at(samples, 2 * count))
        return 0

    # A reference is kept, for the library calls it until the words are spoken.
    callback = _CALLBACK(collect)
    with _ONE_AT_A_TIME:
        engine.library.espeak_SetSynthCallback(callback)
        engine.library.espeak_SetVoiceByName(f"{engine.voice_of(language)}+{_TIMBRE}".encode())
        engine.library.espeak_SetParameter(_RATE, words_per_minute, 0)
        engine.library.espeak_Synth(text, len(text) + 1, 0, 1, 0, _UTF8, None, None)
    spoken = np.frombuffer(b"".join(pieces), dtype=np.int16) / 2**15
    trimmed = _trim(spoken, engine.rate)
    if not len(trimmed):
        raise StimuliError(Problem(where or "the message", "has no words that can be spoken", "letters or digits"))
    return Speech(trimmed, engine.rate)


def voice_problem(language: str, where: str = "") -> Problem | None:
    """Return why nothing can be spoken in a language here, None when it can."""
    where = where or "the message"
    try:
        engine = _engine()
    except ImportError:
        fix = "Run pip install 'beholder[voice]', or show the words as text."
        return Problem(where, "asks for a voice, and no speech synthesis is installed", fix=fix)
    except OSError as error:
        fix = "Install espeakng-loader again, in a folder with a short path, or show the words as text."
        return Problem(where, f"asks for a voice, and the speech synthesis cannot be started: {error}", fix=fix)
    if engine.voice_of(language) is None:
        allowed = f"{', '.join(_FEW)} and other codes of languages"
        return Problem(where, f"asks for a voice that speaks {language}, and there is none", allowed)
    return None


_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


class _Voice(ctypes.Structure):
    """One row of the library's list of voices."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("languages", ctypes.c_void_p),
        ("identifier", ctypes.c_char_p),
        ("gender", ctypes.c_ubyte),
        ("age", ctypes.c_ubyte),
        ("variant", ctypes.c_ubyte),
        ("reserved", ctypes.c_ubyte),
        ("score", ctypes.c_int),
        ("spare", ctypes.c_void_p),
    )


@dataclass(frozen=True)
class _Engine:
    """The library, ready to speak."""

    library: ctypes.CDLL
    rate: int
    voices: Mapping[str, str]
    """Which voice speaks a language, by its code in lower case."""

    def voice_of(self, language: str) -> str | None:
        """Return the voice of a language such as `de` or `de-AT`, the nearest where there is no other."""
        code = language.lower().replace("_", "-")
        found = self.voices.get(_PLAIN_ENGLISH if code == "en" else code)
        return found or self.voices.get(code.partition("-")[0])


@cache
def _engine() -> _Engine:
    import espeakng_loader

    with _ONE_AT_A_TIME:
        library = ctypes.CDLL(espeakng_loader.get_library_path())
        data = espeakng_loader.get_data_path()
        rate = library.espeak_Initialize(_SYNCHRONOUS, 0, os.fsencode(data), _DO_NOT_EXIT)
        if rate <= 0:
            # Also where the path has more than about 150 letters.
            raise OSError(f"its data in {data} cannot be read")
        return _Engine(library, rate, _voices(library))


def _voices(library: ctypes.CDLL) -> dict[str, str]:
    """Return the voice of each language: where several claim it, the one to which it matters most."""
    library.espeak_ListVoices.restype = ctypes.POINTER(ctypes.POINTER(_Voice))
    rows = library.espeak_ListVoices(None)
    claims: dict[str, tuple[int, str]] = {}
    place = 0
    while rows[place]:
        voice = rows[place].contents
        for rank, code in _languages(voice.languages):
            claims[code] = min(claims.get(code, (256, "")), (rank, voice.identifier.decode()))
        place += 1
    return {code: identifier for code, (_, identifier) in sorted(claims.items())}


def _languages(address: int) -> list[tuple[int, str]]:
    """Return the languages of a voice: each is a byte of rank and a name that ends in a zero; a zero ends the list."""
    found = []
    while (rank := ctypes.string_at(address, 1)[0]) != 0:
        code = ctypes.string_at(address + 1)
        found.append((rank, code.decode("ascii", "replace").lower()))
        address += 2 + len(code)
    return found


def _trim(samples: NDArray[np.float64], rate: int) -> NDArray[np.float64]:
    """Return samples without the silence before and after them."""
    import numpy as np

    loud = np.flatnonzero(np.abs(samples) > np.abs(samples).max(initial=0.0) * 10 ** (_SILENT_DB / 20))
    if not len(loud):
        return samples[:0]
    margin = round(_MARGIN_S * rate)
    return samples[max(0, loud[0] - margin) : loud[-1] + margin]
