"""Invitations: personal links, and the text and address of a job."""

from __future__ import annotations

import csv
import io
import stat
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from beholder.errors import StudyError
from beholder.recruiting.contract import Job
from beholder.recruiting.invitations import write_invitations, write_job
from beholder.server.entrances import entrance_of
from beholder.server.tokens import panel_key, read_invitation
from beholder.study.model import Study
from beholder.study.recruitment import Sum
from support import manual_recruiters
from support.recruit_studies import panel_study, recruit_study


def test_an_invitation_says_where_to_begin(tmp_path: Path) -> None:
    study = recruit_study(tmp_path, {"mode": "link"})
    text = write_job(study, manual_recruiters.job(study), b"s" * 32).read_text("utf-8")
    assert text.startswith("# A tiny study\n\nYou are invited to take part in a study.\n")
    assert text.endswith("\nBegin here: https://study.example.org/s/tiny\n")


SECRET = b"s" * 32


URL = "https://study.example.org/"


def invited(folder: Path, text: str, encoding: str = "utf-8") -> Study:
    (folder / "people.csv").write_text(text, encoding)
    return panel_study(folder, {"people": "people.csv"})


def links(folder: Path, delimiter: str = ",") -> list[list[str]]:
    text = (folder / "launch" / "links.csv").read_text("utf-8-sig")
    return list(csv.reader(io.StringIO(text), delimiter=delimiter))


def job(study: Study, reward: int = 200) -> Job:
    out = Sum(30, "GBP") if study.recruit.screen_out else None
    return Job("key", study.title, "", entrance_of(study, SECRET).start_address(URL), 6, 12, Sum(reward, "GBP"), out)


def test_everybody_gets_a_link_and_all_else_is_kept(tmp_path: Path) -> None:
    study = invited(tmp_path, "Name;ID;\nGröße 2;anna;x\n;01;\nNA;no;\n\nz;a b@c.de;\n", "utf-8-sig")
    path = write_invitations(study, SECRET, URL)
    assert path == tmp_path / "launch" / "links.csv"
    heads, *rows = links(tmp_path, ";")
    assert heads == ["Name", "ID", "", "link"]
    assert [row[:3] for row in rows] == [
        ["Größe 2", "anna", "x"], ["", "01", ""], ["NA", "no", ""], ["z", "a b@c.de", ""],
    ]  # fmt: skip
    for row in rows:
        address = urlsplit(row[3])
        assert f"{address.scheme}://{address.netloc}{address.path}" == "https://study.example.org/s/tiny"
        assert read_invitation(SECRET, parse_qs(address.query)["invited"][0]) == row[1]


def test_written_again_the_links_are_the_same(tmp_path: Path) -> None:
    study = invited(tmp_path, "id\nanna\nben\n")
    path = write_invitations(study, SECRET, URL)
    assert path is not None
    before = path.read_bytes()
    (tmp_path / "people.csv").write_text("id\nanna\nben\nzoe\n", "utf-8")
    write_invitations(study, SECRET, URL)
    assert path.read_bytes().startswith(before)
    # The list that came out may be the next one that goes in.
    again = panel_study(tmp_path, {"people": "launch/links.csv"})
    after = path.read_bytes()
    write_invitations(again, SECRET, URL)
    assert path.read_bytes() == after


def test_nobody_else_can_read_it_and_no_repository_takes_it(tmp_path: Path) -> None:
    path = write_invitations(invited(tmp_path, "id\nanna\n"), SECRET, URL)
    assert path is not None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "links.csv" in (tmp_path / "launch" / ".gitignore").read_text("utf-8").splitlines()


def test_without_a_list_links_for_one_person_each_are_numbered(tmp_path: Path) -> None:
    study = recruit_study(tmp_path, {"mode": "link", "single_use": True})
    for places in (2, 3):
        write_invitations(study, SECRET, URL, places)
        heads, *rows = links(tmp_path)
        assert heads == ["id", "link"]
        assert [row[0] for row in rows] == [str(number) for number in range(1, places + 1)]
    write_invitations(study.model_copy(update={"run": 2}), SECRET, URL, places)
    assert [row[0] for row in links(tmp_path)] == ["id", "1-2", "2-2", "3-2"], "nobody comes to two runs"
    for number, link in rows:
        assert read_invitation(SECRET, parse_qs(urlsplit(link).query)["invited"][0]) == number
    text = write_job(study, job(study), SECRET).read_text("utf-8")
    assert "Begin here, by your own link, which is for you alone: `LINK`" in text
    assert URL not in text
    assert "`launch/links.csv` has 6 numbered links, and each works for one person." in text


def test_without_a_list_there_are_no_links(tmp_path: Path) -> None:
    assert write_invitations(panel_study(tmp_path), SECRET, URL) is None
    assert not (tmp_path / "launch").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "name\nanna\n",
            "people.csv:1  has no column id. Allowed: one column id, and any others. "
            "Write id above the column by which you know people.",
        ),
        ("id,ID\na,b\n", "people.csv:1  column id is there twice. Allowed: one column id, and any others."),
        ("id\n\n", "people.csv  invites nobody. Allowed: a line for each person. Write somebody's id below id."),
        (
            f"id,name\nanna,A\n,B\nanna,C\nben,D,E\n{'x' * 201},F\n",
            "people.csv:3  id is empty. Allowed: an id in every line.\n"
            "people.csv:4  id is anna, as in line 2. Allowed: every id once.\n"
            "people.csv:5  has 3 cells, the first line has 2.\n"
            "people.csv:6  id has 201 characters. Allowed: up to 200.",
        ),
    ],
)
def test_what_is_wrong_with_a_list_is_told_at_once(tmp_path: Path, text: str, said: str) -> None:
    study = invited(tmp_path, text)
    with pytest.raises(StudyError) as caught:
        write_invitations(study, SECRET, URL)
    assert str(caught.value) == said
    assert not (tmp_path / "launch").exists()


def test_the_description_holds_what_people_ask_first_and_no_code(tmp_path: Path) -> None:
    codes = {"completed": "C7-done", "screened_out": "S2-out"}
    recruit = {"id_parameter": "pid", "codes": codes, "reward": "2.00 GBP", "screen_out": "0.30 GBP"}
    study = panel_study(tmp_path, recruit, qualification={"device": True, "headphones": True})
    text = write_job(study, job(study), SECRET).read_text("utf-8")
    assert text.startswith("# A tiny study\n")
    description = text.partition("## Description")[2].partition("## Settings")[0]
    for message in (
        "“How good is it?”",
        "about 12 minutes",
        "£2.00, which is £10.00 an hour",
        "  - A computer with a mouse or trackpad",
        "  - Headphones or earphones for both ears",
        "you earn £0.30",
        "tiny@example.org",
        "you are shown a code",
    ):
        assert message in description
    assert not any(code in description for code in codes.values())
    assert "| `C7-done` | completed: everything was answered | 2.00 GBP |" in text
    assert "| `S2-out` | screened_out: did not fit at a qualification | 0.30 GBP |" in text


@pytest.mark.parametrize(
    ("recruit", "address"),
    [
        ({"id_parameter": "pid"}, "?key=KEY&pid={{id}}"),
        ({"id_parameter": "pid", "visit_parameter": "v"}, "?key=KEY&pid={{id}}&v={{visit}}"),
        ({"id_parameter": "sona_id"}, "?key=KEY&sona_id=%SURVEY_CODE%"),
        ({"people": "people.csv"}, ""),
    ],
)
def test_the_address_has_the_key_and_the_platforms_placeholders(
    tmp_path: Path, recruit: dict[str, str], address: str
) -> None:
    (tmp_path / "people.csv").write_text("id\nanna\n", "utf-8")
    study = panel_study(tmp_path, recruit)
    own = address.replace("KEY", panel_key(SECRET))
    assert entrance_of(study, SECRET).start_address(URL) == f"https://study.example.org/s/tiny{own}"


def test_whoever_goes_back_by_an_address_is_told_of_a_button(tmp_path: Path) -> None:
    back = "https://a.sona-systems.com/webstudy_credit.aspx?survey_code={id}"
    study = panel_study(tmp_path, {"id_parameter": "sona_id", "return_to": {"completed": back}})
    text = write_job(study, job(study, 0), SECRET).read_text("utf-8")
    assert "a button brings you back" in text
    assert "shown a code" not in text
    assert f"| `{back}` |" in text
    assert "You earn" not in text


def test_who_is_invited_reads_of_their_own_link(tmp_path: Path) -> None:
    study = invited(tmp_path, "id\nanna\n")
    text = write_job(study, job(study, 0), SECRET).read_text("utf-8")
    assert "Begin here, by your own link, which is for you alone: `LINK`" in text
    assert "anna" not in text
