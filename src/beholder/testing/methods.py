"""The conformance suite of a method: `check_method` proves a folder, ours or a stranger's."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import yaml

from beholder.analyse import analyse
from beholder.analyse.results import Results
from beholder.blocking import block_on
from beholder.clean import clean
from beholder.methods import find, load_study, method_folder
from beholder.methods.contract import Method, Trial
from beholder.new import new
from beholder.plan import plan
from beholder.plan.balance import balance
from beholder.serve.server import Running, running
from beholder.serve.tokens import robot_signature
from beholder.simulate.crowd import Crowd, send_robots
from beholder.simulate.robot import Robot
from beholder.stimuli.ingest import load_catalogue
from beholder.types import Json

_ROBOTS = 24
_PARTS = ("README.md", "example.yaml", "view.js")


def check_method(name: str, folder: Path, *, browser: bool = True) -> None:
    """Prove that the method of this name keeps the contract; raise AssertionError with a sentence where it does not.

    Its example loads and its plan is balanced; the public half leaks nothing; bad answers get 422 with a reason;
    robots' ratings give back a planted order; a real browser completes it; its README exists. Writes to `folder`.
    """
    method = find(name)
    check_parts(method)
    study = new(name, folder / "example")
    check_example_loads(method, study)
    marked = mark_names(study, folder / "marked")
    check_plan_is_balanced(marked)
    block_on(check_served(method, marked))
    check_order_is_recovered(marked)
    if browser:
        block_on(check_browser_completes(study))


def check_parts(method: Method) -> None:
    """The folder holds what a method is made of."""
    for part in _PARTS:
        path = method_folder(method.name) / part
        assert path.is_file(), f"{method.name} has no {part}"
        assert path.read_text("utf-8").strip(), f"{part} of {method.name} is empty"


def check_example_loads(method: Method, study: Path) -> None:
    """The example is a study of this method, with at least one question."""
    loaded = load_study(study)
    assert loaded.method == method.name, f"the example of {method.name} is a study of {loaded.method}"
    assert method.questions(loaded), f"the example of {method.name} asks nothing"


def mark_names(study: Path, folder: Path) -> Path:
    """Write the study again with conditions and contents under names that no honest page contains."""
    loaded = load_study(study)
    catalogue = load_catalogue(loaded)
    conditions = {name: f"markedcondition{n}" for n, name in enumerate(catalogue.conditions, 1)}
    contents = {name: f"markedcontent{n}" for n, name in enumerate(catalogue.contents, 1)}
    folder.mkdir(parents=True)
    with (folder / "stimuli.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["file", "content", "condition"])
        for stimulus in catalogue.stimuli:
            target = folder / "files" / conditions[stimulus.condition] / f"{contents[stimulus.content]}.mp4"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((study.parent / stimulus.file).read_bytes())
            row = [target.relative_to(folder).as_posix(), contents[stimulus.content], conditions[stimulus.condition]]
            table.writerow(row)
    written = yaml.safe_load(study.read_text("utf-8"))
    written |= {"stimuli": {"manifest": "stimuli.csv"}, "texts": {}}
    written["conditions"] = [
        {**({} if isinstance(c, str) else c), "name": conditions[c if isinstance(c, str) else c["name"]]}
        for c in written.get("conditions") or catalogue.conditions
    ]
    design = written.get("design") or {}
    if "always" in design:
        design["always"] = [conditions[condition] for condition in design["always"]]
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(written, allow_unicode=True), "utf-8")
    return path


def check_plan_is_balanced(study: Path) -> None:
    """Every promised count of the plan is as even as promised."""
    loaded = load_study(study)
    catalogue = load_catalogue(loaded)
    for row in balance(plan(loaded, catalogue=catalogue), catalogue):
        even = row.promised is None or row.difference <= row.promised
        assert even, f"the plan is not balanced: {row.count} differ by {row.difference}, promised {row.promised}"


async def check_served(method: Method, study: Path) -> None:
    """Over HTTP: the public half leaks nothing, and bad answers are refused with a reason and change nothing."""
    async with (
        running(load_study(study), port=0) as server,
        httpx.AsyncClient(base_url=server.address) as client,
    ):
        robot = await _until_first_trial(server, client)
        _check_leaks_nothing(method, robot.step)
        answer, events = await _good_answer(server, robot)
        before = await server.store.session_facts(robot.session)
        for what, bad in bad_answers(answer):
            response = await client.put(
                f"/api/answers/{robot.step['key']}",
                json={"answer": bad, "events": events},
                headers={"authorization": f"Bearer {robot.token}"},
            )
            assert response.status_code == 422, f"an answer {what} got {response.status_code}, not 422: {bad!r}"
            error = response.json()["error"]
            assert all((error["message"], error["where"])), f"an answer {what} is refused without a reason"
        assert await server.store.session_facts(robot.session) == before, "a refused answer changed the store"


def bad_answers(answer: Json) -> Iterator[tuple[str, Json]]:
    """Yield answers that no method may take, made from a good one."""
    yield "that is null", None
    yield "that is a list", []
    yield "that is empty", {}
    yield "with something more", {**_mapping(answer), "condition": "x"}
    for path, value in _leaves(answer):
        at = ".".join(map(str, path))
        yield f"without {at}", _without(answer, path)
        yield f"with an object at {at}", _with(answer, path, {"x": 1})
        if isinstance(value, int | float):
            for wrong in (10**9, -(10**9), "x", None, True):
                yield f"with {wrong!r} at {at}", _with(answer, path, wrong)
        else:
            yield f"with nonsense at {at}", _with(answer, path, "nonsense")


def check_order_is_recovered(study: Path) -> Results:
    """Robots with a planted truth give ratings whose condition means have its order."""

    async def send() -> Crowd:
        async with running(load_study(study), port=0) as server:
            return await send_robots(server.host.served, server.store, server.address, _ROBOTS)

    crowd = block_on(send())
    clean(study, robots=True)
    results = analyse(study)
    planted = crowd.truth.conditions
    truth = sorted(planted, key=lambda condition: -planted[condition])
    for question, rows in results.conditions.groupby("question"):
        found = list(rows.sort_values("mean", ascending=False)["condition"])
        assert found == truth, f"{question}: the planted order is {truth}, the result {found}"
    return results


async def check_browser_completes(study: Path) -> None:
    """A real Chromium takes the whole study to its completion code."""
    from beholder.testing.browser import complete_study, fitting_answers, open_browser

    async with running(load_study(study), port=0) as server, open_browser() as browser:
        page = await browser.new_page()
        answers = fitting_answers(load_study(study))
        code = await complete_study(page, f"{server.link}?participant=check-method", answers=answers)
        ends = [row async for row in server.store.rows("ends")]
        assert [row["code"] for row in ends if row["outcome"] == "completed"] == [code]


async def _until_first_trial(server: Running, client: httpx.AsyncClient) -> Robot:
    params = {"robot": "check", "signature": robot_signature(server.store.secret, "check")}
    robot = Robot("check", server.host.served.study.name, params, client, _Dull(server))
    await robot.arrive()
    while robot.step["kind"] != "trial":
        await robot.answer_step()
    return robot


class _Dull:
    """A mind without opinions."""

    def __init__(self, server: Running) -> None:
        self._items = (*server.host.served.study.before, *server.host.served.study.after)

    def rate(self, robot: Robot, step: Mapping[str, Any]) -> Json:
        raise AssertionError("not asked to rate")

    def fill(self, item: Mapping[str, Any]) -> Json:
        from beholder.simulate.robot import plain_fill

        correct = next(known.correct for known in self._items if known.id == item["id"])
        return correct[0] if correct else plain_fill(item)


async def _good_answer(server: Running, robot: Robot) -> tuple[Json, list[Any]]:
    import numpy as np

    from beholder.simulate.robot import watch_events

    served = server.host.served
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
    for word in ("markedcondition", "markedcontent", "stimulus", "condition", '"role"', "target", "files/"):
        assert word not in text, f"the public half of a {method.name} trial contains {word!r}"


def _mapping(answer: Json) -> Mapping[str, Json]:
    assert isinstance(answer, Mapping), "an answer is an object"
    return answer


def _leaves(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Json]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*path, index))
    else:
        yield path, value


def _with(value: Json, path: tuple[Any, ...], new_value: Json) -> Json:
    copy, inner = _copied(value, path)
    inner[path[-1]] = new_value
    return copy


def _without(value: Json, path: tuple[Any, ...]) -> Json:
    copy, inner = _copied(value, path)
    del inner[path[-1]]
    return copy


def _copied(value: Json, path: tuple[Any, ...]) -> tuple[Json, Any]:
    """Return a copy, and the part of it that holds the end of the path."""
    copy: Json = json.loads(json.dumps(value))
    inner: Any = copy
    for key in path[:-1]:
        inner = inner[key]
    return copy, inner
