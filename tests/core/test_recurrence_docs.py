from __future__ import annotations

import doctest
import re
import runpy
from pathlib import Path
from types import ModuleType

import pytest

from toa.core import duration, period, recurrence
from toa.core.period import period as name_of_period
from toa.core.recurrence import next_occurrence

DOCS = Path(__file__).parents[2] / "docs"


def test_the_committed_table_is_what_the_code_says() -> None:
    generator = runpy.run_path(str(DOCS / "tables.py"))
    assert (DOCS / "recurrence-table.md").read_text(encoding="utf-8") == generator["recurrence_table"]()


def test_the_table_shows_what_S3_and_S5_ask_for() -> None:
    table = (DOCS / "recurrence-table.md").read_text(encoding="utf-8")
    assert "| `30 2 * * *` | 8 Mar 03:00 (07:00) |" in table
    assert "| `30 2 * * *`, `gap: shift` | 8 Mar 03:30 (07:30) |" in table
    assert "| `30 2 * * *`, `gap: skip` | none |" in table
    assert "| `30 1 * * *` | 1 Nov 01:30 (05:30) |" in table


def test_the_example_of_the_page_gives_what_it_says() -> None:
    page = (DOCS / "recurrence.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    calls = re.findall(r"toa\.(.+?)\s+# (.+)", block)
    known = {"next_occurrence": next_occurrence, "period": name_of_period}
    assert [repr(eval(call, known)) for call, _ in calls] == [result for _, result in calls]
    assert len(calls) == 2


@pytest.mark.parametrize("module", [duration, period, recurrence])
def test_examples_in_docstrings_hold(module: ModuleType) -> None:
    results = doctest.testmod(module)
    assert results.attempted > 0
    assert results.failed == 0
