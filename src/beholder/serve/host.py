"""The host of a study: receives people, hands out steps, keeps answers. Knows nothing of HTTP."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache

from beholder.errors import Refused
from beholder.methods.contract import Break, Method, Trial
from beholder.serve import tokens
from beholder.serve.evidence import read_trial_answer
from beholder.serve.flow import Ending, next_step, read_step_answer
from beholder.serve.guest import identify
from beholder.serve.public import public_end, public_media, public_step
from beholder.serve.script import CONSENT, Planned, Script, make_script
from beholder.serve.submission import Submission
from beholder.serve.words import read_words, step_texts
from beholder.stimuli.blinding import Blinded, blind, tail_size
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.store.contract import Answer, End, Events, Session, SessionFacts, Store
from beholder.study.model import Study
from beholder.types import Json

_PREVIEW = "preview"
_REMEMBERED = 20_000  # sessions whose media addresses are kept in memory, and addresses that are kept described


@dataclass(frozen=True)
class Served:
    """A study as it is served: what was written, what there is to see, and who sees what."""

    study: Study
    digest: str
    catalogue: Catalogue
    method: Method
    lists: Sequence[Sequence[Trial | Break]]
    public_url: str


class Host:
    """Serves one study from one store. The clock is an argument, so that tests can move it."""

    def __init__(self, served: Served, store: Store, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.served, self.store, self.now = served, store, now
        self.words = read_words(served.study.language)
        self.texts = step_texts(served.study, self.words)
        self._lease = timedelta(minutes=served.study.recruit.minutes or 60)
        self._leases: dict[str, datetime] = {}
        self._scripts: dict[int, Script] = {}
        self._sizes: dict[str, int] = {}
        # Asked for twice: when a trial is prefetched, and when it is there.
        self._described = lru_cache(_REMEMBERED)(self._describe)
        self._addresses: OrderedDict[str, dict[str, Stimulus]] = OrderedDict()

    # Arriving

    async def arrive(self, params: Mapping[str, str], device: Mapping[str, Json]) -> tuple[bool, dict[str, Json]]:
        """Return whether the session is new, and all that a browser needs to begin or go on."""
        study = self.served.study
        guest = identify(params, self.store.secret, study, self.words)
        if guest.mode == "preview":
            return False, self._arrival(_PREVIEW, self.preview_step(CONSENT.key), preview=True)
        if guest.session is not None:
            facts = await self._facts(guest.session)
            return False, self._arrival(guest.session, self._step(facts))
        session, is_new = await self.store.arrive(
            Session(secrets.token_hex(10), guest.participant, self.served.digest, 1, guest.mode, 1, device, self.now())
        )
        if is_new and guest.platform:
            await self.store.identify(guest.participant, guest.platform, guest.platform_id)
        facts = await self._facts(session.session)
        if facts.end is not None and not self._holds_own_link(params, session.session):
            raise Refused(self.words["finished"], code="finished", status=403)
        return is_new, self._arrival(session.session, self._step(facts))

    def _holds_own_link(self, params: Mapping[str, str], session: str) -> bool:
        return params.get("resume") == tokens.session_token(self.store.secret, self.served.study.name, session)

    def _arrival(self, session: str, step: dict[str, Json], *, preview: bool = False) -> dict[str, Json]:
        study = self.served.study
        token = tokens.session_token(self.store.secret, study.name, session)
        link = self.preview_link if preview else f"{self.served.public_url}/s/{study.name}?resume={token}"
        return {
            "token": token,
            "link": link,
            "step": step,
            "study": {
                "name": study.name, "title": study.title, "language": study.language, "contact": study.contact,
                "instructions": self.texts["instructions"],
            },
            "preview": {"steps": self._preview_steps()} if preview else None,
        }  # fmt: skip

    # Steps

    async def step(self, token: str, key: str | None = None) -> dict[str, Json]:
        """Return where this session is. A preview may ask for any step by its key."""
        session = self._session(token)
        if session == _PREVIEW:
            return self.preview_step(key or CONSENT.key)
        return self._step(await self._facts(session))

    async def _facts(self, session: str) -> SessionFacts:
        facts = await self.store.session_facts(session)
        if facts is None:
            raise Refused(self.words["unknown_token"], where="token", code="unknown_token", status=401)
        return facts

    def _session(self, token: str) -> str:
        return tokens.read_token(self.store.secret, self.served.study.name, token).session

    def _script(self, number: int | None) -> Script | None:
        if number is None:
            return None
        if number not in self._scripts:
            self._scripts[number] = make_script(self.served.study, self.served.lists[number - 1])
        return self._scripts[number]

    @cached_property
    def _longest(self) -> Script:
        """The script by which progress is told before a list is claimed; all lists have the same steps."""
        return make_script(self.served.study, self.served.lists[0])

    def _step(self, facts: SessionFacts) -> dict[str, Json]:
        script = self._script(facts.list)
        if facts.end is not None:
            return self._end_step(facts, facts.end)
        here = next_step(script, {key: answer.answer for key, answer in facts.answers.items()})
        assert isinstance(here, Planned)
        return self._public(facts.session.session, here, script or self._longest, claimed=script is not None)

    def _public(self, session: str, step: Planned, script: Script, *, claimed: bool = True) -> dict[str, Json]:
        served = self.served
        shown = public_step(
            step, script, self.texts, served.method, served.study.playback,
            lambda key, slot: self._described(session, key, slot.id, slot.stimulus),
        )  # fmt: skip
        return shown if claimed else {**shown, "prefetch": []}

    def _end_step(self, facts: SessionFacts, end: End) -> dict[str, Json]:
        # Whoever withdraws after the end has an end of another kind among the facts, and reads of the withdrawal.
        outcome = "withdrawn" if facts.erased and end.outcome != "no_consent" else end.outcome
        text = "thanks" if outcome == "completed" else outcome
        return public_end(
            self._script(facts.list) or self._longest,
            outcome,
            self.texts[text],
            code=end.code or None,
            receipt=end.receipt or None,
            answers=sum(key.startswith("trial:") for key in facts.answers),
            seconds=(end.at - facts.session.at).total_seconds(),
            ended_at=end.at,
        )

    # Answers

    async def answer(self, token: str, key: str, submission: Submission) -> dict[str, Json]:
        """Return when the answer was stored, after a durable commit, and the next step."""
        session = self._session(token)
        if session == _PREVIEW:
            return self._preview_answer(key, submission)
        facts = await self._facts(session)
        script = self._script(facts.list)
        if key in facts.answers:
            return self._repeated(facts, script, key, submission)
        if facts.end is not None:
            raise Refused(self.words["ended"], code="ended", status=410)
        answers = {k: a.answer for k, a in facts.answers.items()}
        here = next_step(script, answers)
        if isinstance(here, Ending) or here.key != key:
            raise Refused(self.words["not_reached"], where=key, code="not_reached", status=409)
        now = self.now()
        read, playback = self._read(here, submission, self._elapsed_ms(facts, now))
        if here is CONSENT and isinstance(read, Mapping) and read["agree"]:
            script = self._script(await self._claim(facts, now))
        answer = Answer(
            session, key, read, playback, submission.shown_ms, submission.sent_ms, submission.input, submission.tab, now
        )
        following = next_step(script, {**answers, key: read})
        stored_at = await self._store(facts, answer, submission, following)
        if stored_at != now:  # another tab was first
            facts = await self._facts(session)
            return self._repeated(facts, script, key, submission)
        if isinstance(following, Planned):
            step = self._public(session, following, script or self._longest)
        else:
            step = self._step(await self._facts(session))
        return {"stored_at": stored_at.isoformat(), "feedback": None, "step": step}

    async def _store(
        self, facts: SessionFacts, answer: Answer, submission: Submission, following: Planned | Ending
    ) -> datetime:
        session, now = answer.session, answer.at
        batch: list[Answer | Events | End] = [answer]
        fresh = submission.events[submission.first :]
        if fresh:
            batch.append(Events(session, answer.key, submission.tab, submission.first, fresh, now))
        if isinstance(following, Ending):
            batch.append(self._end(session, following, now))
        stored_at = await self.store.append(batch)
        if not isinstance(following, Ending):
            await self._renew(session, now)
        elif following.outcome == "no_consent":
            await self.store.erase(session, now)
        elif following.outcome != "completed":
            await self.store.release(session)
        return stored_at

    def _end(self, session: str, ending: Ending, now: datetime) -> End:
        secret = self.store.secret
        code = tokens.completion_code(secret, session, ending.outcome)
        return End(session, ending.outcome, ending.reason, code, tokens.receipt_code(secret, session, now), now)

    async def _claim(self, facts: SessionFacts, now: datetime) -> int:
        per_list = None if facts.session.mode == "robot" else 1
        until = now + self._lease
        number = await self.store.claim(facts.session.session, now=now, until=until, per_list=per_list)
        if number is None:
            raise Refused(self.words["full"], code="full", status=403)
        self._leases[facts.session.session] = until
        return number

    async def _renew(self, session: str, now: datetime) -> None:
        """Renew a lease once a tenth of it is gone, so that most answers cost no second write."""
        if self._leases.get(session, now) < now + 0.9 * self._lease:
            self._leases[session] = now + self._lease
            await self.store.renew(session, now + self._lease)

    def _read(self, step: Planned, submission: Submission, elapsed_ms: float | None) -> tuple[Json, dict[str, Json]]:
        if step.trial is None:
            return read_step_answer(step, submission.answer), {}
        served = self.served
        return read_trial_answer(
            served.method, step.trial, served.catalogue, served.study.playback.watch, submission, elapsed_ms, self.words
        )

    def _elapsed_ms(self, facts: SessionFacts, now: datetime) -> float | None:
        """Return how long this step can have been looked at by the server's clock; robots live in their own time."""
        if facts.session.mode == "robot":
            return None
        last = max((answer.at for answer in facts.answers.values()), default=facts.session.at)
        return (now - last).total_seconds() * 1000

    def _repeated(
        self, facts: SessionFacts, script: Script | None, key: str, submission: Submission
    ) -> dict[str, Json]:
        """Return what the first commit returned if the same answer comes again; another one is refused."""
        stored = facts.answers[key]
        step = next(step for step in (script or self._longest).steps if step.key == key)
        try:
            same = self._read(step, submission, None)[0] == stored.answer
        except Refused:
            same = False
        if not same:
            raise Refused(self.words["already_answered"], where=key, code="already_answered", status=409)
        return {"stored_at": stored.at.isoformat(), "feedback": None, "step": self._step(facts)}

    async def events(self, token: str, batch: Submission, key: str) -> None:
        """Keep a batch of the event log and renew the lease."""
        session = self._session(token)
        if session == _PREVIEW:
            return
        facts = await self._facts(session)
        if facts.end is not None or facts.erased:
            raise Refused(self.words["ended"], code="ended", status=410)
        if (self._script(facts.list) or Script((CONSENT,))).place(key) < 0:
            raise Refused(self.words["not_reached"], where="key", code="not_reached", status=409)
        now = self.now()
        await self.store.append([Events(session, key, batch.tab, batch.first, batch.events, now)])
        if facts.list is not None:
            await self._renew(session, now)

    async def withdraw(self, token: str) -> dict[str, Json]:
        """Erase the answers of this session and return its end."""
        session = self._session(token)
        if session == _PREVIEW:
            return self.preview_step("end:withdrawn")
        facts = await self._facts(session)
        now = self.now()
        if facts.end is None:
            await self.store.append([self._end(session, Ending("withdrawn", "participant"), now)])
            await self.store.release(session)
        if not facts.erased:
            await self.store.erase(session, now)
        facts = await self._facts(session)
        assert facts.end is not None
        return self._end_step(facts, facts.end)

    # Media

    def _describe(self, session: str, key: str, slot: str, stimulus_id: str) -> dict[str, Json]:
        token = tokens.media_token(self.store.secret, session, key, slot)
        stimulus = self.served.catalogue.by_id[stimulus_id]
        size = self._size(stimulus) + tail_size(stimulus.served, self._filler(token))
        return public_media(stimulus, f"/media/{token}", size)

    def _filler(self, token: str) -> bytes:
        return tokens.keyed(self.store.secret, "filler", token)

    def _size(self, stimulus: Stimulus) -> int:
        """Return how large a served copy is. Its name is a hash of what it holds, so that stays true."""
        if stimulus.id not in self._sizes:
            self._sizes[stimulus.id] = stimulus.served.stat().st_size
        return self._sizes[stimulus.id]

    async def media(self, token: str) -> tuple[Stimulus, Blinded]:
        """Return the stimulus behind an address, with the filler that belongs to this address."""
        session = token.partition("-")[0]
        if session not in self._addresses:
            number = 1 if session == _PREVIEW else (await self._facts(session)).list
            self._addresses[session] = self._addresses_of(session, self._script(number))
            if len(self._addresses) > _REMEMBERED:
                self._addresses.popitem(last=False)
        stimulus = self._addresses[session].get(token)
        if stimulus is None:
            raise Refused(self.words["no_media"], code="unknown_media", status=404)
        return stimulus, blind(stimulus.served, self._filler(token))

    def _addresses_of(self, session: str, script: Script | None) -> dict[str, Stimulus]:
        secret, catalogue = self.store.secret, self.served.catalogue
        return {
            tokens.media_token(secret, session, step.key, slot.id): catalogue.by_id[slot.stimulus]
            for step in (script.steps if script else ())
            for slot in (step.trial.slots if step.trial else ())
        }

    # Preview: any step, nothing stored

    @property
    def preview_link(self) -> str:
        """The researcher's secret link."""
        served = self.served
        return f"{served.public_url}/s/{served.study.name}?preview={tokens.preview_secret(self.store.secret)}"

    def _preview_steps(self) -> list[Json]:
        keys = [step.key for step in self._longest.steps]
        ends = ["end:completed", "end:withdrawn"] + ["end:screened_out"] * any(
            item.correct for item in self.served.study.before
        )
        return [{"key": key, "label": key.replace(":", " ")} for key in keys + ends]

    def preview_step(self, key: str) -> dict[str, Json]:
        """Return a step of the first list as a participant would see it."""
        if key.startswith("end:"):
            outcome = key.removeprefix("end:")
            text = self.texts.get("thanks" if outcome == "completed" else outcome, "")
            return public_end(
                self._longest, outcome, text, code="XXXX-XXXX", receipt="BH-XXXXXXXX-XXXX-XXXX", answers=0,
                seconds=None, ended_at=None,
            )  # fmt: skip
        place = self._longest.place(key)
        if place < 0:
            raise Refused(self.words["not_reached"], where=key, code="not_reached", status=409)
        return self._public(_PREVIEW, self._longest.steps[place], self._longest)

    def _preview_answer(self, key: str, submission: Submission) -> dict[str, Json]:
        place = self._longest.place(key)
        if place < 0:
            raise Refused(self.words["not_reached"], where=key, code="not_reached", status=409)
        step = self._longest.steps[place]
        read, _ = self._read(step, submission, None)
        after = place + 1
        ending = next_step(self._longest, {step.key: read}) if step is CONSENT else None
        if isinstance(ending, Ending):
            following = self.preview_step(f"end:{ending.outcome}")
        elif after < len(self._longest.steps):
            following = self.preview_step(self._longest.steps[after].key)
        else:
            following = self.preview_step("end:completed")
        return {"stored_at": None, "feedback": None, "step": following}
