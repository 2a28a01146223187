"""Media by opaque address: one for each session, step and slot."""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache

from beholder.errors import Refused
from beholder.serve import tokens
from beholder.serve.public import Media, public_media
from beholder.serve.script import Script
from beholder.serve.served import Served
from beholder.stimuli.blinding import Blinded, blind, drawn_size
from beholder.stimuli.catalogue import Stimulus
from beholder.types import Json

_REMEMBERED = 20_000  # sessions, and slots, that are kept in memory


class Addresses:
    """Knows what is behind every address. Nothing is stored: an address is a keyed hash of its place."""

    def __init__(self, served: Served, secret: bytes) -> None:
        self._catalogue, self._secret = served.catalogue, secret
        self._found: OrderedDict[str, dict[str, tuple[Stimulus, bytes]]] = OrderedDict()
        # Asked for twice: when a trial is prefetched, and when it is there.
        self.describe = lru_cache(_REMEMBERED)(self._describe)

    def _describe(self, session: str, key: str, slot: str, stimulus_id: str, is_heard: bool = True) -> dict[str, Json]:
        """Return what a browser learns of the medium in a slot; `is_heard`: whether sound is on."""
        token, filler = tokens.media_address(self._secret, session, key, slot)
        stimulus = self._catalogue.by_id[stimulus_id]
        size = self._catalogue.class_sizes[stimulus_id] + drawn_size(filler)
        return public_media(stimulus, f"/media/{token}", size, is_heard=is_heard)

    def of(self, session: str, script: Script) -> Media:
        """Return what tells a browser of each medium of a session."""
        is_heard = script.playback.sound == "on"
        return lambda key, slot: self.describe(session, key, slot.id, slot.stimulus, is_heard)

    def knows(self, session: str) -> bool:
        """Return whether the addresses of a session are in memory."""
        return session in self._found

    def learn(self, session: str, script: Script) -> None:
        """Work out every address of a session."""
        found = {}
        for step in script.steps:
            for slot in step.trial.slots if step.trial else ():
                token, filler = tokens.media_address(self._secret, session, step.key, slot.id)
                found[token] = (self._catalogue.by_id[slot.stimulus], filler)
        self._found[session] = found
        if len(self._found) > _REMEMBERED:
            self._found.popitem(last=False)

    def has(self, session: str, token: str) -> bool:
        """Return whether an address is one of a slot of this session."""
        return token in self._found.get(session, {})

    def open(self, session: str, token: str, unknown: str, away: str) -> Blinded:
        """Return the medium behind an address, with the filler that belongs to this address alone."""
        found = self._found.get(session, {}).get(token)
        if found is None:
            raise Refused(unknown, code="unknown_media", status=404)
        try:
            stimulus, filler = found
            return blind(stimulus.served, filler, self._catalogue.class_sizes[stimulus.id])
        except OSError as error:
            raise Refused(away, code="media_away", status=503) from error
