"""What a batch holds: its answers are read once, to know clips, people and scales, before they become sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from beholder.importing.p910.answer_columns import AnswerColumns, answer_columns, settle_columns
from beholder.importing.p910.clip_addresses import Clips
from beholder.importing.p910.platform_claims import PageVisit
from beholder.importing.source_folder import SourceFolder, SourceRow, SourceTable, number_in


@dataclass
class ToolkitBatch:
    """What a batch holds, as far as everything else needs it."""

    source: SourceFolder
    names: Sequence[str]
    clips: Clips
    columns: dict[str, AnswerColumns] = field(default_factory=dict)
    """By the name of each table."""
    visits: list[PageVisit] = field(default_factory=list)
    people: set[str] = field(default_factory=set)
    options: dict[str, list[str]] = field(default_factory=dict)
    """What was answered to each question about the person."""
    highest: float = 0
    lowest: float = 0
    trials: int = 0
    has_plates: bool = False
    has_matrices: bool = False
    reward: str = ""
    title: str = ""

    @property
    def items(self) -> tuple[str, ...]:
        """The items of a survey or aspects of a recording; none where there is one vote for each clip."""
        return tuple(dict.fromkeys(item for one in self.columns.values() for item in one.items))

    @property
    def has_order(self) -> bool:
        """Whether two clips were compared in either order."""
        return any(one.clips and table.has(one.clips[0].order) for table, one in self._tables)

    @property
    def pairs(self) -> str:
        """How clips and references were sent: `hidden` beside them, `compared` with them, or nothing."""
        for one in self.columns.values():
            if any(reference for _, reference in one.inputs):
                return "compared" if one.inputs[0][0].endswith("_p") else "hidden"
        return ""

    _tables: list[tuple[SourceTable, AnswerColumns]] = field(default_factory=list)

    def look(self) -> None:
        """Read all answers once."""
        for name in self.names:
            table = self.source.table(name)
            columns = answer_columns(table)
            settle_columns(table, columns)
            self.columns[name] = columns
            self._tables.append((table, columns))
            self.has_plates |= table.has("answer.7_plate3") or table.has("answer.7_plate4")
            self.has_matrices |= table.has("answer.t1_circles", "answer.t1_triangles")
            for row in table.rows():
                self._look_at(row, columns)

    def _look_at(self, row: SourceRow, columns: AnswerColumns) -> None:
        row.mapped("session")
        self.visits.append(PageVisit(row["workerid"], row["assignmentid"], row["v_code"]))
        self.people.add(row["workerid"])
        self.reward = self.reward or row["reward"]
        self.title = self.title or row["title"]
        for url, reference in columns.inputs:
            self.clips.add(row[url], "test", row[reference] if reference else "")
            if reference and not url.endswith("_p"):
                self.clips.add(row[reference])
        for role, known in (("trap", columns.traps), ("gold", columns.golds)):
            for url, answer, reference in known:
                address, value = row[url], number_in(row[answer])
                self.clips.add(address, role, row[reference] if reference else "")  # type: ignore[arg-type]
                if address and value is not None:
                    self.clips.expect(address, value)
        for column in columns.training:
            self.clips.add(row[column], "training")
        shown = 0
        for clip in columns.clips:
            url = row[clip.url]
            if not url:
                continue
            shown += 1
            if url not in self.clips.roles:
                self.clips.add(url)
            length = number_in(row[clip.length_s]) if clip.length_s else None
            if length is not None and 0 < length < 100_000:
                self.clips.durations[url] = round(1000 * length)
            for _, column in clip.votes:
                vote = number_in(row[column])
                if vote is not None:
                    self.highest, self.lowest = max(self.highest, vote), min(self.lowest, vote)
        self.trials = max(self.trials, shown)
        for name, column in columns.questions.items():
            answer = row[column][:200]
            known_answers = self.options.setdefault(name, [])
            if answer and answer not in known_answers:
                known_answers.append(answer)
