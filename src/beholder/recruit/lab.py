"""The laboratory: people come through the door, and the experimenter sends each of them to a station."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from beholder.recruit.by_hand import ByHand
from beholder.recruit.contract import Verb
from beholder.types import Mode

_PAY = "Pay in the laboratory whoever is in pay/payments.csv, which `beholder pay` writes with the number of each."


class Lab(ByHand):
    """People at the stations of a room. Nothing leaves it."""

    mode: Mode = "lab"
    manual: ClassVar[Mapping[Verb, str]] = {
        "submissions": "A laboratory knows no submissions: everybody who sat down is in the store.",
        "approve": _PAY,
        "bonus": _PAY,
        "reject": "Nobody is rejected in a laboratory: whoever is not to be paid is left out of pay/payments.csv.",
        "return": "Nothing can be returned in a laboratory: there is nothing to do.",
    }
