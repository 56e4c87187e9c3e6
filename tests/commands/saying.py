"""Typing `manage.py toa …` and reading what it says and how it exits."""

from __future__ import annotations

import json
from dataclasses import dataclass
from io import StringIO
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandError


@dataclass(frozen=True, slots=True)
class Said:
    """What a command wrote, and its exit code."""

    code: int
    text: str

    @property
    def data(self) -> Any:
        """The JSON document that it wrote."""
        return json.loads(self.text)


def toa(*arguments: object) -> Said:
    """Run a verb. What would be written to standard error at the end is part of the text."""
    out = StringIO()
    try:
        call_command("toa", *map(str, arguments), stdout=out)
    except SystemExit as end:
        return Said(int(end.code or 0), out.getvalue())
    except CommandError as error:
        return Said(error.returncode, f"{out.getvalue()}{error}")
    return Said(0, out.getvalue())
