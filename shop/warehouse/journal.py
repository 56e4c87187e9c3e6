"""What happened, one JSON document a line: a ledger that was killed is read back from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

Entry = dict[str, Any]


class Journal:
    """Lines of a file, or of nowhere where no path is given."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: TextIO | None = None

    def entries(self) -> Iterator[Entry]:
        """What was written before. A last line that was cut short by a kill was never answered for: it is dropped."""
        if self._path is None or not self._path.exists():
            return
        sound = 0
        with self._path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                sound += len(line)
                yield json.loads(line)
        with self._path.open("rb+") as file:
            file.truncate(sound)

    def write(self, entry: Entry) -> None:
        """Add an entry. It is with the operating system when this returns: it outlives a kill of this process."""
        if self._path is None:
            return
        if self._file is None:
            self._file = self._path.open("a", encoding="utf-8")
        self._file.write(f"{json.dumps(entry)}\n")
        self._file.flush()

    def close(self) -> None:
        """Write no more until the next entry."""
        if self._file is not None:
            self._file.close()
            self._file = None
