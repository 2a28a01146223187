"""Files of one table each, CSV or Parquet, written in blocks: a long table needs little memory."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from beholder.columns import Kind
from beholder.exporting.columns import ExportTable, as_cells, convert
from beholder.files import cells, csv_block

Format = Literal["csv", "parquet", "psych-ds"]
_BLOCK = 20_000


@dataclass(frozen=True)
class WrittenTable:
    """A table that was written: its file, size and hash."""

    table: ExportTable
    file: str
    rows: int
    bytes: int
    sha256: str


class TableWriter(ABC):
    """Writes the rows of one table to a file in a folder; `written` describes it when it is closed."""

    suffix: str

    def __init__(self, folder: Path, table: ExportTable) -> None:
        self.table, self.file = table, self.file_name(table)
        self.path = folder / self.file
        self.path.parent.mkdir(exist_ok=True)
        self._names = [column.name for column in table.columns]
        self._kinds = [column.kind for column in table.columns]
        self._pending: list[list[Any]] = []
        self._rows = 0

    def file_name(self, table: ExportTable) -> str:
        """Return the file of a table in the folder."""
        return f"{table.name}.{self.suffix}"

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row; absent columns are missing values."""
        self._pending.append([row.get(name) for name in self._names])
        if len(self._pending) == _BLOCK:
            self._flush()

    def _flush(self) -> None:
        if self._pending:
            self._rows += len(self._pending)
            columns = zip(*self._pending, strict=True)
            self._write([convert(kind, column) for kind, column in zip(self._kinds, columns, strict=True)])
            self._pending = []

    @abstractmethod
    def _write(self, columns: Sequence[Sequence[Any]]) -> None: ...

    @abstractmethod
    def _close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._flush()
        self._close()

    @property
    def written(self) -> WrittenTable:
        """The file that was written."""
        with self.path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return WrittenTable(self.table, self.file, self._rows, self.path.stat().st_size, digest)


class CsvWriter(TableWriter):
    """Writes CSV: UTF-8, commas, `\\n`, one header line."""

    suffix = "csv"

    def __init__(self, folder: Path, table: ExportTable) -> None:
        super().__init__(folder, table)
        self._file = self.path.open("wb")
        self._lines([cells(self._names)])

    def _write(self, columns: Sequence[Sequence[Any]]) -> None:
        written = (as_cells(kind, column) for kind, column in zip(self._kinds, columns, strict=True))
        self._lines(zip(*written, strict=True))

    def _lines(self, lines: Iterable[Sequence[Any]]) -> None:
        self._file.write(csv_block(lines))

    def _close(self) -> None:
        self._file.close()


class PsychDsWriter(CsvWriter):
    """Writes CSV under the names of Psych-DS: in data/, made of keywords, whose values are letters and digits."""

    def file_name(self, table: ExportTable) -> str:
        first, *rest = table.name.split("_")
        return f"data/description-{first}{''.join(word.capitalize() for word in rest)}_data.{self.suffix}"


class ParquetWriter(TableWriter):
    """Writes Parquet: the same names and types; whole numbers stay whole if some are missing."""

    suffix = "parquet"

    def __init__(self, folder: Path, table: ExportTable) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        super().__init__(folder, table)
        kinds: Mapping[Kind, Any] = {
            "text": pa.string(),
            "integer": pa.int64(),
            "number": pa.float64(),
            "boolean": pa.bool_(),
            "time": pa.timestamp("us", tz="UTC"),
        }
        fields = [
            pa.field(column.name, kinds[column.kind], metadata={"description": column.text}) for column in table.columns
        ]
        self._schema = pa.schema(fields)
        self._file = parquet.ParquetWriter(self.path, self._schema)

    def _write(self, columns: Sequence[Sequence[Any]]) -> None:
        import pyarrow as pa

        arrays = [pa.array(column, field.type) for column, field in zip(columns, self._schema, strict=True)]
        self._file.write_table(pa.Table.from_arrays(arrays, schema=self._schema))

    def _close(self) -> None:
        self._file.close()


WRITERS: Mapping[Format, type[CsvWriter] | type[ParquetWriter]] = {
    "csv": CsvWriter,
    "parquet": ParquetWriter,
    "psych-ds": PsychDsWriter,
}
