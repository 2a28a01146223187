"""The panel: invited people, or a platform without an interface that we speak."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from beholder.recruit.by_hand import ByHand
from beholder.recruit.contract import Verb
from beholder.types import Mode

_PAY = "Pay on the platform, or by hand, whoever is in pay/payments.csv, which `beholder pay` writes."


class Panel(ByHand):
    """People with an id of their own, from wherever they come. No platform is ever called."""

    mode: Mode = "panel"
    manual: ClassVar[Mapping[Verb, str]] = {
        "submissions": "Download the list of submissions from the platform, and run "
        "`beholder decide --submissions FILE`.",
        "approve": _PAY,
        "bonus": _PAY,
        "reject": "Reject it on the platform, by the id and with the message in pay/by_hand.csv.",
        "return": "Ask on the platform for the return, by the id and with the message in pay/by_hand.csv.",
    }
