"""The conformance suite of methods: `check_method`, for our methods and those of other packages."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
import pandas as pd
import yaml

from beholder.aio import block_on
from beholder.analysis import analyse
from beholder.analysis.ratings import row_order, tidy
from beholder.analysis.ratings_table import fill_columns
from beholder.analysis.registry import find as find_analysis
from beholder.analysis.result import Results
from beholder.cleaning import clean
from beholder.errors import PlanError
from beholder.methods import find, load_study, method_folder
from beholder.methods.contract import Method, Trial
from beholder.planning import plan_study
from beholder.planning.balance import balance
from beholder.planning.builder import make_plan
from beholder.server.process import RunningServer, run_server
from beholder.server.tokens import robot_signature
from beholder.simulation.crowd import Crowd, send_robots
from beholder.simulation.memory import rehearse
from beholder.simulation.robot import Robot
from beholder.simulation.truth import IDEAL, Truth
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.ingestion import load_catalogue
from beholder.study.model import Study
from beholder.types import Json
from beholder.workflow.new import new

if TYPE_CHECKING:
    from playwright.async_api import Browser

_ROBOTS = 24
_CHANCE = 0.5
_FEWEST = (2, 4)
_SECONDS, _SIZE = 0.4, (96, 54)
_PARTS = ("README.md", "example.yaml", "view.js")


def check_method(name: str, folder: Path, *, browser: bool = True, crowd: bool = True) -> None:
    """Raise AssertionError with a sentence if the method of this name does not keep the contract.

    Its example loads and its plan is balanced; the public half leaks nothing; bad answers get 422 with a reason;
    robots' ratings recover the planted order; a real browser completes it; its README exists. Writes to `folder`.
    The crowd of robots and the browser take most of the time. Without a `crowd`, robots rate in memory and only the
    means of conditions are computed; the `browser` can be left out.
    """
    method = find(name)
    _check_parts(method)
    study = new(name, folder / "example", seconds=_SECONDS, size=_SIZE)
    _check_example_loads(method, study)
    marked = _mark_names(study, folder / "marked")
    _check_plan_is_balanced(marked)
    block_on(_check_served(method, marked))
    if crowd:
        _check_order_is_recovered(marked)
    else:
        _check_order_in_memory(marked)
    if browser:
        block_on(_check_own_browser_completes(study))


def _check_parts(method: Method) -> None:
    """Assert that the folder has all parts of a method."""
    for part in _PARTS:
        path = method_folder(method.name) / part
        assert path.is_file(), f"{method.name} has no {part}"
        assert path.read_text("utf-8").strip(), f"{part} of {method.name} is empty"


def _check_example_loads(method: Method, study: Path) -> None:
    """Assert that the example is a study of this method with at least one question."""
    loaded = load_study(study)
    assert loaded.method == method.name, f"the example of {method.name} is a study of {loaded.method}"
    assert method.questions(loaded), f"the example of {method.name} asks nothing"


def _check_plan_is_balanced(study: Path) -> None:
    """Assert that every count of the plan is as even as promised."""
    loaded = load_study(study)
    catalogue = load_catalogue(loaded)
    for row in balance(plan_study(loaded, catalogue=catalogue), catalogue):
        even = row.promised is None or row.difference <= row.promised
        assert even, f"the plan is not balanced: {row.count} differ by {row.difference}, promised {row.promised}"


async def _check_served(method: Method, study: Path) -> None:
    """Assert over HTTP that the public half leaks nothing, and that bad answers are refused and change nothing."""
    async with (
        run_server(load_study(study), port=0) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        robot = await _until_first_trial(server, client)
        _check_leaks_nothing(method, robot.step)
        answer, events = await _good_answer(server, robot)
        before = await server.store.session_facts(robot.session)
        bodies = [(what, {"answer": bad, "events": events}) for what, bad in _bad_answers(answer)]
        if server.service.served.study.playback.watch != "none":
            bodies.append(("without any sign of watching", {"answer": answer, "events": []}))
        for what, body in bodies:
            response = await client.put(
                f"/api/answers/{robot.step['key']}",
                json=body,
                headers={"authorization": f"Bearer {robot.token}"},
            )
            assert response.status_code == 422, (
                f"an answer {what} got {response.status_code}, not 422: {body['answer']!r}"
            )
            error = response.json()["error"]
            assert all((error["message"], error["where"])), f"an answer {what} is refused without a reason"
        assert await server.store.session_facts(robot.session) == before, "a refused answer changed the store"


def _check_order_is_recovered(study: Path) -> Results:
    """Assert that the ratings of ideal robots have condition means in the planted order."""

    async def send() -> Crowd:
        async with run_server(load_study(study), port=0) as server:
            return await send_robots(server.service.served, server.store, server.address, _ROBOTS, people=IDEAL)

    crowd = block_on(send())
    clean(study, robots=True)
    results = analyse(study)
    ratings = _RobotRatings(results.conditions, results.notes["kinds"], results.notes["turned"], crowd.truth)
    _check_planted(load_study(study), ratings)
    return results


def _check_order_in_memory(study: Path) -> None:
    """Assert the same of robots that rate without a server, which give the same ratings."""
    loaded = load_study(study)
    catalogue, method = load_catalogue(loaded), find(loaded.method)
    plan = plan_study(loaded, catalogue=catalogue)
    rehearsal = rehearse(loaded, catalogue, method, plan, participants=_ROBOTS, people=IDEAL)
    references = {stimulus.condition: "reference" for stimulus in catalogue.references.values()}
    ratings = tidy(fill_columns(rehearsal.ratings), row_order(loaded, references))
    means = find_analysis("conditions").compute(ratings)
    assert means is not None, "there are no means of conditions"
    _check_planted(loaded, _RobotRatings(means.table, ratings.kinds, ratings.turned, rehearsal.truth))


class _RobotRatings(NamedTuple):
    """What ideal robots made of a study, and what they were given to find."""

    conditions: pd.DataFrame
    kinds: Mapping[str, str]
    """By question."""
    turned: Collection[str]
    """Questions whose scores were turned round."""
    truth: Truth


def _check_planted(study: Study, ratings: _RobotRatings) -> None:
    """Assert that condition means have the planted order, correct answers are above chance, and ticks fit."""
    reversed_ids = {question.id for question in find(study.method).questions(study) if question.keyed == "-"}
    compared_with = {stimulus.condition for stimulus in load_catalogue(study).references.values()}
    for question, rows in ratings.conditions.groupby("question"):
        means = dict(zip(rows["condition"], rows["mean"], strict=True))
        kind = ratings.kinds[str(question)]
        if kind == "correct":
            low = min(means.values())
            assert low > _CHANCE, f"{question}: the share of correct answers is {low:.2f}, not above chance"
        elif kind != "pick":
            is_reversed = question in reversed_ids and question not in ratings.turned
            planted = ratings.truth.means(str(question))
            _check_order(str(question), means, planted, compared_with, is_reversed)
            best = max(means.values())
            is_against = kind == "diff" and bool(compared_with) and compared_with.isdisjoint(means)
            assert not is_against or best < 0, f"{question}: {best:.2f} is above zero, and the reference is the best"
    _check_ticks(ratings)


def _check_order(
    question: str, means: Mapping[str, float], planted: Mapping[str, float], references: set[str], is_reversed: bool
) -> None:
    """Assert the order of means. A reference that is only compared with has no mean; every other condition has one."""
    rated = [name for name in planted if name in means or name not in references]
    truth = sorted(rated, key=lambda name: planted[name] if is_reversed else -planted[name])
    order = sorted(means, key=lambda name: -means[name])
    assert order == truth, f"{question}: the planted order is {truth}, the result {order}"


def _check_ticks(ratings: _RobotRatings) -> None:
    """Assert that the worst condition has more ticked faults than the best."""
    planted = ratings.truth.conditions
    ticked = ratings.conditions[ratings.conditions["question"].map(ratings.kinds) == "pick"]
    shares = ticked.groupby("condition")["mean"].mean()
    if len(shares) > 1:
        best, worst = (pick(shares.index, key=lambda name: planted[name]) for pick in (max, min))
        assert shares[worst] > shares[best], f"{best} has more ticked faults than {worst}, which is planted as worse"


async def _check_own_browser_completes(study: Path) -> None:
    from beholder.testing.browser import open_browser

    async with open_browser() as browser:
        await check_browser_completes(study, browser)


async def check_browser_completes(study: Path, browser: Browser) -> None:
    """Assert that a real Chromium completes the study, with as few trials as possible.

    `check_method` does so with a browser of its own, unless it is told not to: this is for suites that have one open.
    """
    from beholder.testing.browser import complete_study, fitting_answers

    study = _shorten(study)
    async with run_server(load_study(study), port=0) as server:
        page = await browser.new_page()
        try:
            answers = fitting_answers(load_study(study))
            code = await complete_study(page, f"{server.link}?participant=check-method", answers=answers)
        finally:
            await page.close()
        ends = [row async for row in server.store.rows("ends")]
        assert [row["code"] for row in ends if row["outcome"] == "completed"] == [code]


def _shorten(study: Path) -> Path:
    """Return a copy of the study in the same folder with the fewest trials that can be planned."""
    written = yaml.safe_load(study.read_text("utf-8"))
    path = study.with_name("short.yaml")
    for trials in _FEWEST:
        written["design"] = {**(written.get("design") or {}), "trials": trials}
        path.write_text(yaml.safe_dump(written, allow_unicode=True), "utf-8")
        loaded = load_study(path)
        try:
            make_plan(loaded, load_catalogue(loaded), find(loaded.method))
        except PlanError:
            continue
        return path
    return study


async def _until_first_trial(server: RunningServer, client: httpx.AsyncClient) -> Robot:
    params = {"robot": "check", "signature": robot_signature(server.store.secret, "check")}
    robot = Robot("check", server.service.served.study.name, params, client, _NeutralResponder(server))
    await robot.arrive()
    while robot.step["kind"] != "trial":
        await robot.answer_step()
    return robot


class _NeutralResponder:
    """A responder that only gets a robot to the first trial."""

    def __init__(self, server: RunningServer) -> None:
        self._items = server.service.served.study.asks

    def rate(self, robot: Robot, step: Mapping[str, Any]) -> Json:
        raise AssertionError("not asked to rate")

    def log(self, robot: Robot, step: Mapping[str, Any], answer: Json) -> list[Any]:
        from beholder.simulation.robot import watch_events

        return watch_events(step["trial"])

    def answer_check(self, robot: Robot, step: Mapping[str, Any]) -> tuple[Json, float]:
        raise AssertionError("the tiny study of check_method asks for no check")

    def fill(self, item: Mapping[str, Any], key: str) -> Json:
        from beholder.simulation.robot import plain_fill

        correct = next(known.correct for known in self._items if known.id == item["id"])
        return correct[0] if correct else plain_fill(item)


async def _good_answer(server: RunningServer, robot: Robot) -> tuple[Json, list[Any]]:
    import numpy as np

    from beholder.simulation.robot import watch_events

    served = server.service.served
    facts = await server.store.session_facts(robot.session)
    assert facts is not None
    assert facts.list is not None
    trial = next(entry for entry in served.lists[facts.list - 1] if isinstance(entry, Trial))
    percept = {f"{asked.id}.{slot.id}": 0.6 for asked in trial.asked for slot in trial.slots}
    answer = served.method.respond(trial, percept, np.random.default_rng(1))
    assert served.method.read(trial, answer) == answer, "an answer that is read changes"
    return answer, watch_events(robot.step["trial"])


def _check_leaks_nothing(method: Method, step: Mapping[str, Any]) -> None:
    text = json.dumps(step).lower()
    hidden = ("stimulus", "condition", '"role"', "target", "files/", "hidden", "anchor", "lowpass")
    for word in (*_MARKS, *hidden):
        assert word not in text, f"the public half of a {method.name} trial contains {word!r}"


# Bad answers


_WRONG_NUMBERS: tuple[Json, ...] = (10**9, -(10**9), "x", None, True)
_WRONG_LISTS: tuple[Json, ...] = ("nonsense", None, [None], [{"x": 1}], [10**9], [-1], [True])
_WRONG_TEXTS: tuple[Json, ...] = (None, 1, True, ["nonsense"], 100_000 * "x")
_OPTIONAL = frozenset({"grade"})


def _bad_answers(answer: Json) -> Iterator[tuple[str, Json]]:
    """Yield answers that no method may accept, made from a good one, each with what is wrong."""
    yield "that is null", None
    yield "that is a list", []
    yield "that is empty", {}
    yield "with something more", {**_mapping(answer), "condition": "x"}
    for path, value in _leaves(answer):
        at = ".".join(map(str, path))
        if path[-1] not in _OPTIONAL:
            yield f"without {at}", _without(answer, path)
        yield f"with an object at {at}", _with(answer, path, {"x": 1})
        wrong: tuple[Json, ...] = ("nonsense",)
        if isinstance(value, int | float):
            wrong = _WRONG_NUMBERS
        elif isinstance(value, list | tuple):
            wrong = _WRONG_LISTS
        elif path[0] == "texts":
            wrong = _WRONG_TEXTS
        for other in wrong:
            yield f"with {other!r} at {at}", _with(answer, path, other)
        yield f"with another slot beside {at}", _with_extra_slot(answer, path, value)


def _mapping(answer: Json) -> Mapping[str, Json]:
    assert isinstance(answer, Mapping), "an answer is an object"
    return answer


def _leaves(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Json]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    else:
        yield path, value


def _with(value: Json, path: tuple[Any, ...], new_value: Json) -> Json:
    copy, inner = _copy_of(value, path)
    inner[path[-1]] = new_value
    return copy


def _without(value: Json, path: tuple[Any, ...]) -> Json:
    copy, inner = _copy_of(value, path)
    del inner[path[-1]]
    return copy


def _copy_of(value: Json, path: tuple[Any, ...]) -> tuple[Json, Any]:
    """Return a copy, and the part of it that contains the end of the path."""
    copy: Json = json.loads(json.dumps(value))
    inner: Any = copy
    for key in path[:-1]:
        inner = inner[key]
    return copy, inner


def _with_extra_slot(value: Json, path: tuple[Any, ...], leaf: Json) -> Json:
    copy, inner = _copy_of(value, path)
    inner["s99"] = leaf
    return copy


# Marked names


_MARKS = ("markedcondition", "markedcontent")


def _mark_names(study: Path, folder: Path) -> Path:
    """Return a copy of the study whose conditions and contents have names that no page may contain.

    Roles stay, and so do the recipes of anchors, which are made from the marked references.
    """
    loaded = load_study(study)
    catalogue = load_catalogue(loaded)
    recipes = [name for name in loaded.options.get("anchors") or () if not _has_files(study.parent, name, catalogue)]
    named = [name for name in catalogue.conditions if name not in recipes]
    conditions = {name: f"{_MARKS[0]}{n}" for n, name in enumerate(named, 1)}
    contents = {name: f"{_MARKS[1]}{n}" for n, name in enumerate(catalogue.contents, 1)}
    shutil.copytree(study.parent / "media", folder / "media")  # the same bytes need not be measured again
    with (folder / "stimuli.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["file", "content", "condition"])
        for stimulus in catalogue.stimuli:
            if stimulus.condition not in conditions or stimulus.donor:
                continue
            name = contents[stimulus.content] + Path(stimulus.file).suffix
            target = folder / "files" / conditions[stimulus.condition] / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((study.parent / stimulus.file).read_bytes())
            row = [target.relative_to(folder).as_posix(), contents[stimulus.content], conditions[stimulus.condition]]
            table.writerow(row)
    if transcripts := loaded.options.get("transcripts"):
        (folder / transcripts).mkdir()
        for source in (study.parent / transcripts).iterdir():
            shutil.copyfile(source, folder / transcripts / (contents[source.stem] + source.suffix))
    written = yaml.safe_load(study.read_text("utf-8"))
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(_rename_conditions(written, conditions, named), allow_unicode=True), "utf-8")
    return path


def _has_files(folder: Path, condition: str, catalogue: Catalogue) -> bool:
    return any(s.condition == condition and (folder / s.file).is_file() for s in catalogue.stimuli)


def _rename_conditions(written: dict[str, Any], conditions: Mapping[str, str], named: list[str]) -> dict[str, Any]:
    """Return the content of study.yaml with renamed conditions."""
    written |= {"stimuli": {"manifest": "stimuli.csv"}, "texts": {}}
    written["conditions"] = [
        {**({} if isinstance(c, str) else c), "name": conditions[c if isinstance(c, str) else c["name"]]}
        for c in written.get("conditions") or named
    ]
    design = written.get("design") or {}
    if "always" in design:
        design["always"] = [conditions[condition] for condition in design["always"]]
    if isinstance(design.get("pairs"), dict):
        design["pairs"] = {kind: conditions[condition] for kind, condition in design["pairs"].items()}
    options = written.get("options") or {}
    if "anchors" in options:
        options["anchors"] = [conditions.get(name, name) for name in options["anchors"]]
    return written
