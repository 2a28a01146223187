"""The previews of a study, one for each list that somebody has looked at."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.errors import Refused
from beholder.serve import preview
from beholder.serve.addresses import Addresses
from beholder.serve.again import Again
from beholder.serve.examiner import Examiner
from beholder.serve.farewell import Farewell
from beholder.serve.preview import Preview
from beholder.serve.reading import Reader
from beholder.serve.served import Served
from beholder.serve.texts import Texts


class Previews:
    """Makes a preview when it is first asked for."""

    def __init__(
        self,
        served: Served,
        secret: bytes,
        texts: Texts,
        words: Mapping[str, str],
        addresses: Addresses,
        examiner: Examiner,
        reader: Reader,
        farewell: Farewell,
        again: Again,
    ) -> None:
        self._served, self._secret, self._texts, self._words = served, secret, texts, words
        self._addresses, self._examiner, self._reader = addresses, examiner, reader
        self._farewell, self._again = farewell, again
        self._made: dict[str, Preview] = {}

    def of(self, number: int) -> Preview:
        """Return the preview of a list, or raise Refused where there is no such list."""
        if not 1 <= number <= len(self._served.lists):
            raise Refused(self._words["not_reached"], where="list", code="unknown_list", status=404)
        session = preview.session_of(number)
        if session not in self._made:
            media = self._addresses.of(session, self._served.script(number))
            self._made[session] = Preview(
                self._served, number, self._secret, self._texts.of(number), self._words, media, self._examiner,
                self._reader, self._farewell, self._again,
            )  # fmt: skip
        return self._made[session]

    def find(self, session: str) -> Preview | None:
        """Return the preview that a session stands for; None where it is somebody's own."""
        number = preview.list_of(session)
        return None if number is None else self.of(number)

    def made(self, session: str) -> Preview | None:
        """Return the preview that a session stands for, if somebody has looked at it."""
        return self._made.get(session)
