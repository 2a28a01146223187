"""Speech synthesis by eSpeak NG (extra `voice`): which voice speaks a language, and words as samples.

The library keeps the state of its generators between utterances, and nothing sets it back, so that words spoken after
others would have other samples. Each message is therefore spoken by a process of its own, which is this file as a
script: 20 ms of a processor, as it imports nothing but the standard library.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

_TIMBRE = "f5"
"""A variant of every voice: of all that eSpeak NG has, the one whose numbers a recogniser heard best."""
_PLAIN_ENGLISH = "en-us"
# From speak_lib.h of eSpeak NG, whose interface has been the same since 2007.
_SYNCHRONOUS, _DO_NOT_EXIT, _RATE, _UTF8 = 2, 0x8000, 1, 1
_SEED = 1
"""The voice flutters by random numbers: from here on in each process, so that the same words are the same samples."""
_SECONDS = 60
"""Longer than any message takes: whatever hangs is ended."""
_LOCK = threading.Lock()
"""The library keeps its state in global variables."""
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
class Synthesis:
    """The installed library: where it is, and what it can speak."""

    library: str
    data: str
    rate: int
    """Samples a second of what it speaks."""
    voices: Mapping[str, str]
    """Which voice speaks a language, by its code in lower case."""

    def voice_of(self, language: str) -> str | None:
        """Return the voice of a language such as `de` or `de-AT`, the nearest where there is no other."""
        code = language.lower().replace("_", "-")
        voice = self.voices.get(_PLAIN_ENGLISH if code == "en" else code)
        return voice or self.voices.get(code.partition("-")[0])

    def samples(self, words: str, language: str, words_per_minute: int) -> bytes:
        """Return words as signed 16-bit samples of one channel: the same words are always the same samples.

        Raise OSError where the process that speaks them fails.
        """
        # With the standard library alone: reading the site packages would take longer than speaking.
        call = [sys.executable, "-I", "-S", __file__, self.library, self.data, f"{self.voice_of(language)}+{_TIMBRE}"]
        call.append(str(words_per_minute))
        try:
            done = subprocess.run(call, input=words.encode(), capture_output=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise OSError(f"it said nothing within {_SECONDS} s") from None
        if done.returncode != 0:
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise OSError(lines[-1] if lines else f"it ended with code {done.returncode}")
        return done.stdout


@cache
def installed_synthesis() -> Synthesis:
    """Return the installed library; raise ImportError where there is none, OSError where it cannot be started."""
    import espeakng_loader

    path, data = espeakng_loader.get_library_path(), espeakng_loader.get_data_path()
    with _LOCK:
        library, rate = _started(path, data)
        return Synthesis(path, data, rate, _voices(library))


def _started(path: str, data: str) -> tuple[ctypes.CDLL, int]:
    library = ctypes.CDLL(path)
    rate = library.espeak_Initialize(_SYNCHRONOUS, 0, os.fsencode(data), _DO_NOT_EXIT)
    if rate <= 0:
        # Also where the path has more than about 150 letters.
        raise OSError(f"its data in {data} cannot be read")
    return library, rate


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
    languages = []
    while (rank := ctypes.string_at(address, 1)[0]) != 0:
        code = ctypes.string_at(address + 1)
        languages.append((rank, code.decode("ascii", "replace").lower()))
        address += 2 + len(code)
    return languages


def _speak(path: str, data: str, voice: str, words_per_minute: int, text: bytes) -> bytes:
    """Return words as samples, in a process that has spoken nothing before."""
    library, _ = _started(path, data)
    pieces: list[bytes] = []

    def collect(samples: int | None, count: int, _events: int | None) -> int:
        if samples and count:
            pieces.append(ctypes.string_at(samples, 2 * count))
        return 0

    # A reference is kept, for the library calls it until the words are spoken.
    callback = _CALLBACK(collect)
    library.espeak_SetSynthCallback(callback)
    library.espeak_SetVoiceByName(voice.encode())
    library.espeak_SetParameter(_RATE, words_per_minute, 0)
    library.espeak_ng_SetRandSeed(ctypes.c_long(_SEED))
    library.espeak_Synth(text, len(text) + 1, 0, 1, 0, _UTF8, None, None)
    return b"".join(pieces)


if __name__ == "__main__":
    _path, _data, _voice, _words_per_minute = sys.argv[1:]
    sys.stdout.buffer.write(_speak(_path, _data, _voice, int(_words_per_minute), sys.stdin.buffer.read()))
