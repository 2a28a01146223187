"""The language of a session: by the link, the recruiter's filter, the browser, and then as chosen on the first page.

It is settled with the consent, whose answer holds it, and by what it was found. Until then it comes with each request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from beholder.errors import Refused
from beholder.server.flow import LanguageFound
from beholder.store.contract import SessionFacts
from beholder.study.model import Study
from beholder.types import Json
from beholder.words import direction_of, english_name, language_name, read_words

PARAMETER = "lang"
"""The parameter of an address with the language, such as `?lang=de`."""


class SessionLanguage(NamedTuple):
    """The language of a session, and by what it was found."""

    language: str
    found: LanguageFound


def best_language(study: Study, params: Mapping[str, str], accepted: str) -> SessionLanguage:
    """Return the language in which somebody is addressed who comes with these parameters and `Accept-Language`."""
    offered = study.all_languages
    if len(offered) == 1:
        return SessionLanguage(study.language, "first")
    if (by_link := match_language(offered, params.get(PARAMETER, ""))) is not None:
        return SessionLanguage(by_link, "choice" if "chosen" in params else "link")
    if (by_filter := language_of_filter(study)) is not None:
        return SessionLanguage(by_filter, "filter")
    for tag in accepted_tags(accepted):
        if (by_browser := match_language(offered, tag)) is not None:
            return SessionLanguage(by_browser, "browser")
    return SessionLanguage(offered[0], "first")


def match_language(offered: Sequence[str], tag: str) -> str | None:
    """Return the offered language that a tag such as `de-AT` asks for; None where there is none.

    The whole tag counts first, then its language alone.
    """
    wanted = tag.strip().lower().replace("_", "-")
    if not wanted:
        return None
    whole = next((one for one in offered if one.lower() == wanted), None)
    return whole or next((one for one in offered if _base(one.lower()) == _base(wanted)), None)


def _base(tag: str) -> str:
    return tag.partition("-")[0]


def accepted_tags(header: str) -> list[str]:
    """Return the tags of an `Accept-Language` header, the most wanted first; those with weight 0 are not accepted."""
    weighted = []
    for place, part in enumerate(header[:500].split(",")):
        tag, _, weight = part.strip().partition(";")
        try:
            q = float(weight.strip().removeprefix("q=")) if weight else 1.0
        except ValueError:
            q = 0.0
        if tag.strip() and q > 0:
            weighted.append((-q, place, tag.strip()))
    return [tag for _, _, tag in sorted(weighted)]


def language_of_filter(study: Study) -> str | None:
    """Return the one language of a study that everybody speaks whom the recruiter lets in; None without it."""
    names = {name.casefold() for name in (study.recruit.filters.languages if study.recruit.filters else ())}
    spoken = [code for code in study.all_languages if english_name(code).partition(" ")[0].casefold() in names]
    return spoken[0] if len(spoken) == 1 and len(names) == 1 else None


def settled_language(study: Study, facts: SessionFacts) -> str | None:
    """Return the language in which somebody agreed or declined; None before that."""
    consent = facts.answers.get("consent")
    if consent is None:
        return None
    told = consent.answer.get("language") if isinstance(consent.answer, Mapping) else None
    return told if isinstance(told, str) and told in study.all_languages else study.language


def check_offered(study: Study, answer: Json) -> str | None:
    """Return the language in an answer to the first page; raise Refused where the study is not offered in it."""
    language = answer.get("language") if isinstance(answer, Mapping) else None
    if language is None:
        return None
    if language not in study.all_languages:
        words = read_words(study.language)["no_such_language"]
        raise Refused(words, where="answer.language", allowed=", ".join(study.all_languages))
    return str(language)


def public_languages(study: Study) -> list[Json]:
    """Return the languages of a study by which people know them; none where there is one."""
    if len(study.all_languages) == 1:
        return []
    return [
        {"code": code, "name": language_name(code), "direction": direction_of(code)} for code in study.all_languages
    ]
