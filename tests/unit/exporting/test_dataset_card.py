"""README.md is a dataset card: a head for Hugging Face, what the data are, and what nobody has said yet."""

from __future__ import annotations

from pathlib import Path

import yaml

from support.export_store import SECRETS


def test_the_head_has_a_configuration_for_each_table(shared: Path) -> None:
    text = (shared / "README.md").read_text("utf-8")
    head = yaml.safe_load(text.split("---\n")[1])
    assert (head["pretty_name"], head["license"], head["language"]) == ("Exported", "cc-by-4.0", ["en"])
    assert head["size_categories"] == ["n<1K"]
    files = {one["config_name"]: one["data_files"] for one in head["configs"]}
    assert files == {path.stem: path.name for path in shared.glob("*.csv") if path.stem != "dictionary"}
    assert [one["config_name"] for one in head["configs"] if one.get("default")] == ["ratings"]
    assert "annotations_creators" not in head  # nobody knows who follows a link


def test_a_card_says_what_is_known_and_where_the_rest_can_be_said(shared: Path, folder: Path) -> None:
    said, bare = ((place / "README.md").read_text("utf-8") for place in (shared, folder))
    assert "- **Ethics.** Approved by a board (2026-17).\n" in said
    assert "Doe, Jane; ACME Laboratories (2026). Exported. Version 1.0.0. https://example.org/data." in said
    assert "- Licence: CC-BY-4.0, as those who made the data say.\n" in said
    assert "- keywords: `publication.keywords`\n" in said
    assert "publication.authors" not in said
    assert "- who made the data: `publication.authors`\n- the licence: `publication.licence`\n" in bare
    assert "## Citation" not in bare
    assert not [secret for secret in SECRETS if secret in said]
