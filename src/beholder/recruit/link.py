"""The open link: whoever has the address, or one of the personal links, takes part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from beholder.recruit.by_hand import ByHand
from beholder.recruit.contract import Verb
from beholder.types import Mode

_PAY = "Nobody can be paid through a link: pay by hand whoever is in pay/payments.csv, which `beholder pay` writes."


class OpenLink(ByHand):
    """People who were given the address of the study."""

    mode: Mode = "link"
    manual: ClassVar[Mapping[Verb, str]] = {
        "submissions": "A link knows no submissions: everybody who came is in the store.",
        "approve": _PAY,
        "bonus": _PAY,
        "reject": "Nothing can be rejected through a link: whoever is not to be paid is left out of pay/payments.csv.",
        "return": "Nothing can be returned through a link: there is nothing to do.",
    }
