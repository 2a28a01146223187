"""What a person reads who is not paid, or who is asked to return a visit: from the evidence, and never padded."""

from __future__ import annotations

from beholder.clean.lists import rejection_message
from beholder.clean.sessions import Judged
from beholder.methods.contract import Method
from beholder.recruit.contract import Category
from beholder.recruit.decisions import Found, Pay
from beholder.recruit.reconcile.cases import Held
from beholder.study.model import Study
from beholder.study.money import Sum
from beholder.study.words import read_words


def proposed_message(
    pay: Pay, held: Held, code: Found, judged: Judged | None, study: Study, method: Method, screen_out: Sum | None
) -> tuple[Category | None, str]:
    """Return the category and the message that go with what is proposed; nothing where nobody reads any.

    `screen_out` is what they get who are paid although they could not take part.
    """
    if pay == "screen_out":
        key = "paid_no_place" if code == "no_place" else "paid_screened_out"
        return None, read_words(study.language)[key].format(amount=screen_out)
    if pay == "return":
        kind = held if held in ("screened_out", "wrong_device", "declined") else "partial"
        return None, read_words(study.language)[f"return_{kind}"]
    if pay == "reject" and judged is not None:
        return "FAILED_CHECK", rejection_message(judged, study, method)
    return None, ""
