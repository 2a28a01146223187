"""Campaigns as Pearmut leaves them, with people who were made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MODELS = ("Alpha", "Beta")


def item(number: int, models: tuple[str, ...] = MODELS, **more: Any) -> dict[str, Any]:
    """Return an item with a text of each model."""
    texts = {model: f"{model} says sentence {number} in words of its own." for model in models}
    return {
        "item_id": f"doc_{number}",
        "src": f"Source {number}",
        "tgt": texts,
        "instructions": "How <b>good</b> is it?",
        **more,
    }


def write_pearmut(folder: Path, models: tuple[str, ...] = MODELS, *, more: str = "", protocol: str = "DA") -> Path:
    """Write a campaign of two items and one that asks for an answer, and what two people scored."""
    items = [item(number, models[: 1 + number] if len(models) == 1 else models) for number in range(2)]
    asking = item(9, models, validation={models[0]: {"score": [80, 90]}})
    campaign = {
        "info": {"protocol": protocol, "assignment": "task-based"},
        "campaign_id": "Made up",
        "data": [[items, [asking]]],
    }
    folder.mkdir(parents=True)
    (folder / "campaign.json").write_text(json.dumps(campaign), "utf-8")
    lines = []
    for person in range(2):
        for place, one in enumerate((*items, asking)):
            scores = {model: {"score": 60 + 10 * n + person, "error_spans": []} for n, model in enumerate(one["tgt"])}
            lines.append({
                "annotation": [scores], "actions": [{"time": 1_700_000_000.5 + place, "action": "load"}], "item": [one],
                "user_id": f"kind-otter-{person}", "item_i": place,
            })  # fmt: skip
    text = "\n".join(map(json.dumps, lines)) + "\n" + more
    (folder / "outputs.jsonl").write_text(text, "utf-8")
    return folder
