"""Names of authors: known by their letters, and replaced wherever these stand."""

from __future__ import annotations

from beholder.bundling.authors import Blinding, blinded_registration, identifying
from beholder.preregistration.registration import content_digest
from beholder.study.model import Study
from support.export_store import START


def test_names_are_replaced_in_any_case_and_form(study: Study) -> None:
    blinding = Blinding(study)
    assert blinding("By jane doe (Doe, Jane), see 10.5281/zenodo.123456.") == "By [blinded] ([blinded]), see [blinded]."
    assert blinding("Janet Doe-Smith stays") == "Janet Doe-Smith stays"
    assert blinding.count == 3
    assert Blinding(None)("Jane Doe") == "Jane Doe"
    assert ("jane@example.org", "blinded@example.org") in list(identifying(study))


def test_a_preregistration_has_the_digest_of_its_blinded_words(study: Study) -> None:
    plan, words, answers = {"title": "By Jane Doe"}, {"Authors": "Doe, Jane"}, {"Title": "x"}
    evidence = {"run": 1, "plan": plan, "words": words, "answers": answers}
    row = {
        "kind": "preregistration",
        "provider_ref": content_digest(plan, words, answers),
        "evidence": evidence,
        "at": START,
    }
    blinded = blinded_registration(row, Blinding(study))
    assert blinded is not None
    assert blinded["evidence"]["plan"] == {"title": "By [blinded]"}
    kept = blinded["evidence"]
    assert blinded["provider_ref"] == content_digest(kept["plan"], kept["words"], kept["answers"])
    assert blinded_registration({**row, "kind": "preregistered"}, Blinding(study)) is None
